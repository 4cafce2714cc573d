//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// engineSocket is where Docker listens.
const engineSocket = "/var/run/docker.sock"

// Labels by which podstead's containers are found, as docs/architecture.md
// promises them to users.
const (
	labelNode      = "podstead.node"
	labelPod       = "io.kubernetes.pod.name"
	labelUID       = "io.kubernetes.pod.uid"
	labelContainer = "io.kubernetes.container.name"
	labelSandbox   = "io.kubernetes.sandbox.id"
	labelAttempt   = "podstead.attempt"
)

// engine is Docker as `docker` sees it, without podstead between.
type engine struct{ http *http.Client }

func newEngine(socket string) *engine {
	return &engine{http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}}}
}

// open makes one call; the caller closes the body. Statuses from 400 on are
// errors with the engine's own words.
func (e *engine) open(ctx context.Context, method, path string, query url.Values, in any) (io.ReadCloser, error) {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://engine"+path+"?"+query.Encode(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body) // the status tells enough if the text is lost
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, bytes.TrimSpace(text))
	}
	return resp.Body, nil
}

// call makes one call and decodes its answer into out, unless that is nil.
func (e *engine) call(method, path string, query url.Values, in, out any) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	body, err := e.open(ctx, method, path, query, in)
	if err != nil {
		return err
	}
	defer body.Close()
	if out != nil {
		if err := json.NewDecoder(body).Decode(out); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	_, err = io.Copy(io.Discard, body)
	return err
}

// labelled is the filter for what bears a label.
func labelled(label, value string) string { return fmt.Sprintf(`{"label":[%q]}`, label+"="+value) }

// box is one line of `docker ps -a --no-trunc`.
type box struct {
	ID     string `json:"Id"`
	Names  []string
	State  string
	Labels map[string]string
}

func (b box) name() string      { return b.Names[0][1:] }
func (b box) pod() string       { return b.Labels[labelPod] }
func (b box) uid() string       { return b.Labels[labelUID] }
func (b box) container() string { return b.Labels[labelContainer] }
func (b box) sandbox() bool     { return b.container() == "POD" }
func (b box) running() bool     { return b.State == "running" }

// ps lists a node's containers, the newest first.
func (e *engine) ps(node string) ([]box, error) {
	var found []box
	err := e.call(http.MethodGet, "/containers/json", url.Values{"all": {"1"}, "filters": {labelled(labelNode, node)}}, nil, &found)
	return found, err
}

// detail is what the tests read of `docker inspect`.
type detail struct {
	ID    string `json:"Id"`
	Name  string
	Image string
	State struct {
		Status     string
		Pid        int
		ExitCode   int
		StartedAt  time.Time
		FinishedAt time.Time
	}
	HostsPath       string
	Config          map[string]any
	HostConfig      map[string]any
	NetworkSettings struct {
		Networks map[string]struct{ IPAddress string }
		Ports    map[string][]struct{ HostIP, HostPort string } // by container port
	}
}

// address is that of a sandbox.
func (d detail) address() string {
	for _, network := range d.NetworkSettings.Networks {
		return network.IPAddress
	}
	return ""
}

func (e *engine) inspect(id string) (detail, error) {
	var d detail
	err := e.call(http.MethodGet, "/containers/"+id+"/json", nil, nil, &d)
	return d, err
}

func (e *engine) kill(id, signal string) error {
	return e.call(http.MethodPost, "/containers/"+id+"/kill", url.Values{"signal": {signal}}, nil, nil)
}

func (e *engine) remove(id string) error {
	return e.call(http.MethodDelete, "/containers/"+id, url.Values{"force": {"1"}, "v": {"1"}}, nil, nil)
}

// create makes a container of this configuration and does not start it.
func (e *engine) create(name string, config map[string]any) (string, error) {
	var made struct {
		ID string `json:"Id"`
	}
	err := e.call(http.MethodPost, "/containers/create", url.Values{"name": {name}}, config, &made)
	return made.ID, err
}

// createLike makes a container as another is, under the same name, once that
// one is gone.
func (e *engine) createLike(d detail) (string, error) {
	config := map[string]any{"HostConfig": d.HostConfig}
	for key, value := range d.Config {
		config[key] = value
	}
	// What the engine filled in itself it does not take back.
	for _, key := range []string{"Hostname", "Domainname", "ExposedPorts"} {
		delete(config, key)
	}
	return e.create(d.Name[1:], config)
}
