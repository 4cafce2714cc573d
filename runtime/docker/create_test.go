package docker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/podstead/podstead/runtime"
)

func taken(name string) error {
	return refusal{fmt.Sprintf("Conflict. The container name %q is already in use by container \"5f3e\".", name), cerrdefs.ErrConflict}
}

func noContainer(id string) error {
	return refusal{"No such container: " + id, cerrdefs.ErrNotFound}
}

// holder is a container as inspected: an identity of this node's.
func holder(id string, is identity, status string) container.InspectResponse {
	state := &container.State{Status: status}
	if status != container.StateCreated {
		state.StartedAt = "2026-01-02T03:04:05Z"
	}
	return container.InspectResponse{
		ContainerJSONBase: &container.ContainerJSONBase{ID: id, Name: "/" + is.name(), State: state, HostConfig: &container.HostConfig{}},
		Config:            &container.Config{Labels: is.labels("n1", "node-1")},
		NetworkSettings:   &container.NetworkSettings{},
	}
}

func webContainer() runtime.ContainerConfig {
	return runtime.ContainerConfig{
		Pod:       runtime.PodRef{UID: "u1", Namespace: "default", Name: "web-n1"},
		Name:      "main",
		SandboxID: "s1",
		Image:     "podstead-test/busybox:1",
	}
}

// B157, B158: what holds the name decides what becomes of a create.
func TestCreateOfATakenName(t *testing.T) {
	ours := identity{pod: webContainer().Pod, container: "main", sandboxID: "s1"}
	stale := ours
	stale.sandboxID = "s0"
	foreign := holder("5f3e", ours, container.StateRunning)
	foreign.Config.Labels = nil
	for _, test := range []struct {
		name    string
		holder  container.InspectResponse
		want    string
		removed bool
		beside  bool
	}{
		{name: "ours, created", holder: holder("5f3e", ours, container.StateCreated), want: "5f3e"},
		{name: "ours, running", holder: holder("5f3e", ours, container.StateRunning), want: "5f3e"},
		{name: "ours, ended", holder: holder("5f3e", ours, container.StateExited), want: "5f3e"},
		{name: "ours, ran in an earlier sandbox", holder: holder("5f3e", stale, container.StateExited), want: "5f3e"},
		{name: "ours, never ran in an earlier sandbox", holder: holder("5f3e", stale, container.StateCreated), want: "new", removed: true},
		{name: "ours, being removed", holder: holder("5f3e", ours, container.StateRemoving), want: "new", removed: true},
		{name: "foreign", holder: foreign, want: "new", beside: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			removed := false
			plain := ours.name()
			fake := &fakeAPI{
				createFn: func(name string, _ *container.Config, _ *container.HostConfig, _ *network.NetworkingConfig) (container.CreateResponse, error) {
					if name == plain && !removed {
						return container.CreateResponse{}, taken(name)
					}
					if suffixed := name != plain; suffixed != test.beside {
						t.Errorf("created as %s", name)
					}
					return container.CreateResponse{ID: "new"}, nil
				},
				inspectFn: func(string) (container.InspectResponse, error) { return test.holder, nil },
				removeFn:  func(string) error { removed = true; return nil },
			}
			id, notes, err := newTestManager(t, fake).CreateContainer(t.Context(), webContainer())
			if err != nil || id != test.want || removed != test.removed || (len(notes) > 0) != test.beside {
				t.Errorf("id %s, removed %v, notes %v, err %v", id, removed, notes, err)
			}
		})
	}
}

// An engine that is slow to make the container of an earlier call holds its
// name before it shows it.
func TestCreateWaitsForANameInTheMaking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours := identity{pod: webContainer().Pod, container: "main", sandboxID: "s1"}
		begin := time.Now()
		fake := &fakeAPI{
			createFn: func(name string, _ *container.Config, _ *container.HostConfig, _ *network.NetworkingConfig) (container.CreateResponse, error) {
				return container.CreateResponse{}, taken(name)
			},
			inspectFn: func(id string) (container.InspectResponse, error) {
				if time.Since(begin) < 500*time.Millisecond {
					return container.InspectResponse{}, noContainer(id)
				}
				return holder("5f3e", ours, container.StateCreated), nil
			},
		}
		id, notes, err := newTestManager(t, fake).CreateContainer(t.Context(), webContainer())
		if err != nil || id != "5f3e" || len(notes) != 0 {
			t.Errorf("id %s, notes %v, err %v", id, notes, err)
		}
	})
}

func TestCreateGivesUpOnANameNobodyShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeAPI{
			createFn: func(name string, _ *container.Config, _ *container.HostConfig, _ *network.NetworkingConfig) (container.CreateResponse, error) {
				if strings.Count(name, "_") == 5 {
					return container.CreateResponse{}, taken(name)
				}
				return container.CreateResponse{ID: "new", Warnings: []string{"no swap limit"}}, nil
			},
			inspectFn: func(id string) (container.InspectResponse, error) {
				return container.InspectResponse{}, noContainer(id)
			},
		}
		id, notes, err := newTestManager(t, fake).CreateContainer(t.Context(), webContainer())
		if err != nil || id != "new" || len(notes) != 2 || notes[0].Reason != reasonWarning || notes[1].Reason != reasonNameTaken {
			t.Errorf("id %s, notes %v, err %v", id, notes, err)
		}
	})
}

// A start whose answer was lost is looked after before it is tried again: a
// process that ran and ended must not run twice.
func TestStartAfterALostAnswer(t *testing.T) {
	ours := identity{pod: webContainer().Pod, container: "main", sandboxID: "s1"}
	starts, inspects := 0, 0
	fake := &fakeAPI{
		createFn: func(string, *container.Config, *container.HostConfig, *network.NetworkingConfig) (container.CreateResponse, error) {
			return container.CreateResponse{ID: "c1"}, nil
		},
		startFn: func(string) error { starts++; return refusal{"too slow", cerrdefs.ErrUnavailable} },
		inspectFn: func(string) (container.InspectResponse, error) {
			inspects++
			return holder("c1", ours, container.StateExited), nil
		},
	}
	m := newTestManager(t, fake)
	id, _, err := m.CreateContainer(t.Context(), webContainer())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.StartContainer(t.Context(), id); !errors.Is(err, runtime.ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
	if inspects != 0 {
		t.Error("a fresh container is looked at before it is started")
	}
	if err := m.StartContainer(t.Context(), id); err != nil || starts != 1 || inspects != 1 {
		t.Errorf("%d starts, %d looks, err %v", starts, inspects, err)
	}
}

func TestGoneIsSuccess(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		fail bool
	}{
		{name: "done"},
		{name: "gone", err: noContainer("c1")},
		{name: "not running", err: refusal{"Cannot kill container: c1: Container c1 is not running", cerrdefs.ErrConflict}},
		{name: "being removed", err: refusal{"removal of container c1 is already in progress", cerrdefs.ErrConflict}},
		{name: "no answer", err: refusal{"", cerrdefs.ErrUnavailable}, fail: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newTestManager(t, &fakeAPI{
				killFn:   func(string, string) error { return test.err },
				removeFn: func(string) error { return test.err },
			})
			if test.name != "being removed" {
				if err := m.Signal(t.Context(), "c1", "TERM"); (err != nil) != test.fail {
					t.Errorf("signal: %v", err)
				}
			}
			if test.name != "not running" {
				if err := m.Remove(t.Context(), "c1"); (err != nil) != test.fail {
					t.Errorf("remove: %v", err)
				}
			}
		})
	}
}
