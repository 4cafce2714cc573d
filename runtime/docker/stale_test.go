package docker

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
)

// B163: what an engine that was killed left half started can only be made anew,
// and what runs of it would run twice.
func TestStartOfWhatWasLeftHalfStarted(t *testing.T) {
	var removed string
	fake := &fakeAPI{
		startFn:  func(id string) error { return refusal{"task " + id + ": already exists", cerrdefs.ErrConflict} },
		removeFn: func(id string) error { removed = id; return nil },
		inspectFn: func(id string) (container.InspectResponse, error) {
			return holder(id, identity{pod: webContainer().Pod, container: "main", sandboxID: "s1"}, container.StateCreated), nil
		},
	}
	for name, start := range map[string]func(*Manager, string) error{
		"container": func(m *Manager, id string) error { return m.StartContainer(t.Context(), id) },
		"sandbox":   func(m *Manager, id string) error { _, err := m.StartSandbox(t.Context(), id); return err },
	} {
		t.Run(name, func(t *testing.T) {
			m := newTestManager(t, fake)
			m.proc = procfs(t.TempDir())
			ours := m.proc.run(t, "12:pids:/podstead/c0ffee\n1:name=systemd:/podstead/c0ffee\n")
			another := m.proc.run(t, "0::/podstead.slice/docker-c0ffee77.scope\n")
			err := start(m, "c0ffee")
			if !errors.Is(err, runtime.ErrNotFound) || errors.Is(err, runtime.ErrCannotRun) || removed != "c0ffee" {
				t.Errorf("removed %q, err %v", removed, err)
			}
			if err := ours.Wait(); err == nil {
				t.Error("its process was left to itself")
			}
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", another.Process.Pid))
			if err != nil || strings.Contains(string(status), "State:\tZ") {
				t.Errorf("another container's process was ended too: %v", err)
			}
		})
	}
}

// A folder that was taken away from under a container that was made: it is made
// anew, and has not run.
func TestStartOfWhatHasLostAMount(t *testing.T) {
	var removed string
	m := newTestManager(t, &fakeAPI{
		startFn: func(string) error {
			return refusal{`invalid mount config for type "bind": bind source path does not exist: /run/x`, cerrdefs.ErrInvalidArgument}
		},
		removeFn: func(id string) error { removed = id; return nil },
		inspectFn: func(id string) (container.InspectResponse, error) {
			return holder(id, identity{pod: webContainer().Pod, container: "main", sandboxID: "s1"}, container.StateCreated), nil
		},
	})
	err := m.StartContainer(t.Context(), "c0ffee")
	if err == nil || errors.Is(err, runtime.ErrNotFound) || errors.Is(err, runtime.ErrCannotRun) || removed != "c0ffee" {
		t.Errorf("removed %q, err %v", removed, err)
	}
}

func TestContainersAreFoundByTheirCgroups(t *testing.T) {
	for _, test := range []struct {
		name, table string
		want        bool
	}{
		{"cgroupfs", "4:memory:/podstead/c0ffee\n", true},
		{"systemd", "0::/podstead.slice/docker-c0ffee.scope\n", true},
		{"below the container's", "0::/podstead/c0ffee/init.scope\n", true},
		{"one whose id begins alike", "0::/podstead/c0ffee77\n", false},
		{"none", "0::/user.slice\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			table := filepath.Join(t.TempDir(), "cgroup")
			must(t, os.WriteFile(table, []byte(test.table), 0o600))
			if got := inContainer(table, "c0ffee"); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// run starts a real process and lists it with these cgroups.
func (p procfs) run(t *testing.T, cgroups string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "1000000")
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // by that signal, or waited for already
	})
	dir := p.path(strconv.Itoa(cmd.Process.Pid))
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "cgroup"), []byte(cgroups), 0o600))
	return cmd
}
