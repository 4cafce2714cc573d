package rig

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Labels by which podstead's containers are found, as docs/architecture.md
// promises them to users.
const (
	LabelNode      = "podstead.node"
	LabelNodeID    = "podstead.node-id"
	LabelPod       = "io.kubernetes.pod.name"
	LabelUID       = "io.kubernetes.pod.uid"
	LabelContainer = "io.kubernetes.container.name"
	LabelSandbox   = "io.kubernetes.sandbox.id"
	LabelAttempt   = "podstead.attempt"
)

// Pause is the name under which a sandbox's container is labelled.
const Pause = "POD"

// Box is one line of `docker ps -a --no-trunc`.
type Box struct {
	ID     string `json:"Id"`
	Names  []string
	State  string
	Labels map[string]string
}

// Name is the container's own, on the engine.
func (b Box) Name() string { return b.Names[0][1:] }

// Pod is the full name of its pod.
func (b Box) Pod() string { return b.Labels[LabelPod] }

// UID is that of its pod.
func (b Box) UID() string { return b.Labels[LabelUID] }

// Container is its name in the pod, Pause for a sandbox.
func (b Box) Container() string { return b.Labels[LabelContainer] }

// Sandbox reports whether it is a pod's pause container.
func (b Box) Sandbox() bool { return b.Container() == Pause }

// Running reports whether it runs.
func (b Box) Running() bool { return b.State == "running" }

func (b Box) String() string { return fmt.Sprintf("%s (%s)", b.Name(), b.State) }

// All lists every container, the newest first.
func (e *Engine) All(ctx context.Context) ([]Box, error) { return e.list(ctx, nil) }

// PS lists a node's containers, the newest first.
func (e *Engine) PS(ctx context.Context, node string) ([]Box, error) {
	return e.list(ctx, url.Values{"filters": {fmt.Sprintf(`{"label":[%q]}`, LabelNode+"="+node)}})
}

func (e *Engine) list(ctx context.Context, query url.Values) ([]Box, error) {
	var found []Box
	path := "/containers/json?all=1"
	if query != nil {
		path += "&" + query.Encode()
	}
	err := e.Call(ctx, http.MethodGet, path, nil, &found)
	return found, err
}

// Detail is what is read of `docker inspect`.
type Detail struct {
	ID    string `json:"Id"`
	Name  string
	Image string
	State struct {
		Status     string
		Error      string
		Pid        int
		ExitCode   int
		StartedAt  time.Time
		FinishedAt time.Time
	}
	HostsPath       string
	LogPath         string
	Config          map[string]any
	HostConfig      map[string]any
	NetworkSettings struct {
		Networks map[string]struct{ IPAddress string }
		Ports    map[string][]struct{ HostIP, HostPort string } // by container port
	}
}

// Address is that of a sandbox.
func (d Detail) Address() string {
	for _, network := range d.NetworkSettings.Networks {
		return network.IPAddress
	}
	return ""
}

// Inspect looks at one container.
func (e *Engine) Inspect(ctx context.Context, id string) (Detail, error) {
	var d Detail
	err := e.Call(ctx, http.MethodGet, "/containers/"+id+"/json", nil, &d)
	return d, err
}

// Create makes a container and does not start it.
func (e *Engine) Create(ctx context.Context, name string, config any) (id string, err error) {
	var made struct {
		ID string `json:"Id"`
	}
	err = e.Call(ctx, http.MethodPost, "/containers/create?name="+url.QueryEscape(name), config, &made)
	return made.ID, err
}

// Start starts a container.
func (e *Engine) Start(ctx context.Context, id string) error {
	return e.Call(ctx, http.MethodPost, "/containers/"+id+"/start", nil, nil)
}

// Kill sends a signal to a container's first process.
func (e *Engine) Kill(ctx context.Context, id, signal string) error {
	return e.Call(ctx, http.MethodPost, "/containers/"+id+"/kill?signal="+signal, nil, nil)
}

// Remove takes a container away, running or not, with its anonymous volumes.
func (e *Engine) Remove(ctx context.Context, id string) error {
	return e.Call(ctx, http.MethodDelete, "/containers/"+id+"?force=1&v=1", nil, nil)
}
