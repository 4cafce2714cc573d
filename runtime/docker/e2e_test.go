//go:build e2e

package docker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
)

// busybox is what the tests run; hack/images.sh makes it.
const busybox = "podstead-test/busybox:1"

// node is a manager with a node id of its own on a real engine, and the events
// it sees. What it made is removed when the test ends.
type node struct {
	*Manager
	t      testing.TB
	events chan runtime.Event
}

func newNode(t testing.TB, endpoint string) *node {
	t.Helper()
	m, err := New(Config{
		Endpoint: endpoint,
		NodeName: "e2e",
		NodeID:   "e2e-" + randomHex(),
		Logger:   slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	n := &node{Manager: m, t: t, events: make(chan runtime.Event, 1000)}
	t.Cleanup(n.clean)
	return n
}

func (n *node) clean() {
	ctx := context.Background()
	found, err := n.engine.listContainers(ctx, labelNodeID+"="+n.cfg.NodeID)
	if err != nil {
		n.t.Error(err)
	}
	for _, c := range found {
		if err := n.engine.removeContainer(ctx, c.ID); err != nil {
			n.t.Error(err)
		}
	}
	if err := n.Close(); err != nil {
		n.t.Error(err)
	}
}

// follow runs the manager's event stream for the test's length, and returns
// once it stands.
func (n *node) follow() {
	n.t.Helper()
	ctx, cancel := context.WithCancel(n.t.Context())
	done := make(chan error)
	go func() { done <- n.Run(ctx, n.events) }()
	n.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			n.t.Errorf("Run: %v", err)
		}
	})
	n.await(runtime.Event{Kind: runtime.EventResync})
}

// await reads events until one of this kind, container and id has come; empty
// fields fit all.
func (n *node) await(want runtime.Event) {
	n.t.Helper()
	limit := time.After(30 * time.Second)
	for {
		select {
		case got := <-n.events:
			if got.Kind == want.Kind && (want.ID == "" || got.ID == want.ID) {
				return
			}
		case <-limit:
			n.t.Fatalf("no event %+v", want)
		}
	}
}

// pod returns a reference that no other test uses.
func (n *node) pod() runtime.PodRef {
	return runtime.PodRef{UID: randomHex() + randomHex(), Namespace: "default", Name: "web-e2e"}
}

// sandbox creates and starts one.
func (n *node) sandbox(cfg runtime.SandboxConfig) runtime.StartedSandbox {
	n.t.Helper()
	id, _, err := n.CreateSandbox(n.t.Context(), cfg)
	if err != nil {
		n.t.Fatal(err)
	}
	started, err := n.StartSandbox(n.t.Context(), id)
	if err != nil {
		n.t.Fatal(err)
	}
	return started
}

// run creates and starts a container.
func (n *node) run(cfg runtime.ContainerConfig) string {
	n.t.Helper()
	id, _, err := n.CreateContainer(n.t.Context(), cfg)
	if err != nil {
		n.t.Fatal(err)
	}
	if err := n.StartContainer(n.t.Context(), id); err != nil {
		n.t.Fatal(err)
	}
	return id
}

// finish runs a container to its end and returns what it wrote.
func (n *node) finish(cfg runtime.ContainerConfig) (runtime.Container, string) {
	n.t.Helper()
	id := n.run(cfg)
	n.await(runtime.Event{Kind: runtime.EventDied, ID: id})
	var out bytes.Buffer
	if err := n.Logs(n.t.Context(), id, runtime.LogOptions{Follow: true}, &out, &out); err != nil {
		n.t.Fatal(err)
	}
	return n.container(cfg.Pod.UID, id), out.String()
}

func (n *node) container(uid, id string) runtime.Container {
	n.t.Helper()
	pod, err := n.Pod(n.t.Context(), uid)
	if err != nil {
		n.t.Fatal(err)
	}
	for _, c := range pod.Containers {
		if c.ID == id {
			return c
		}
	}
	n.t.Fatalf("pod %s has no container %s", uid, id)
	return runtime.Container{}
}

func (n *node) inspect(id string) container.InspectResponse {
	n.t.Helper()
	found, err := n.engine.inspectContainer(n.t.Context(), id)
	if err != nil {
		n.t.Fatal(err)
	}
	return found
}

func script(pod runtime.PodRef, sandbox, commands string) runtime.ContainerConfig {
	return runtime.ContainerConfig{
		Pod:         pod,
		Name:        "main",
		SandboxID:   sandbox,
		Image:       busybox,
		Command:     []string{"sh", "-c", commands},
		StopTimeout: 2 * time.Second,
	}
}

// privateEngine starts an engine that a test may harm.
func privateEngine(t *testing.T, flags ...string) (endpoint string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a private engine takes root")
	}
	dir, err := os.MkdirTemp("/tmp", "pse") // short: a socket's path may have 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	hack(t, nil, "engine.sh", append([]string{"private", dir}, flags...)...)
	t.Cleanup(func() { hack(t, nil, "engine.sh", "private-stop", dir) })
	endpoint = "unix://" + dir + "/docker.sock"
	hack(t, []string{"DOCKER_HOST=" + endpoint}, "images.sh")
	return endpoint
}

func hack(t testing.TB, env []string, script string, args ...string) {
	t.Helper()
	cmd := exec.Command("../../hack/"+script, args...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}

func wantIs(t testing.TB, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got %v, want %v", err, kind)
	}
}

func contextWithTimeout(t *testing.T, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), limit)
}
