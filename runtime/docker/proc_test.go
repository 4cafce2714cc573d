package docker

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/podstead/podstead/runtime"
)

// processes makes a proc file system of processes.
func processes(t *testing.T, all map[string]process) procfs {
	t.Helper()
	root := t.TempDir()
	for pid, p := range all {
		must(t, os.MkdirAll(filepath.Join(root, pid, "ns"), 0o755))
		must(t, os.WriteFile(filepath.Join(root, pid, "comm"), []byte(p.program+"\n"), 0o644))
		must(t, os.WriteFile(filepath.Join(root, pid, "status"), []byte("Name:\tx\nCapEff:\t"+p.capabilities+"\n"), 0o644))
		must(t, os.Symlink(p.mounts, filepath.Join(root, pid, "ns", "mnt")))
	}
	return procfs(root)
}

type process struct{ program, capabilities, mounts string }

// listening is a manager whose engine's socket this very process serves.
func listening(t *testing.T) (m *Manager, pid string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ps") // short: a socket's path may have 107 bytes
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	listener, err := net.Listen("unix", dir+"/s")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	m = newTestManager(t, nil)
	m.engine.endpoint = "unix://" + dir + "/s"
	return m, strconv.Itoa(os.Getpid())
}

const (
	allCapabilities = "000001ffffffffff"
	noSysResource   = "000001fffeffffff"
	noSysAdmin      = "000001ffffdfffff"
)

func TestCanLowerScore(t *testing.T) {
	for _, test := range []struct {
		name, capabilities string
		want               bool
	}{
		{name: "all capabilities", capabilities: allCapabilities, want: true},
		{name: "without the one", capabilities: noSysResource},
		{name: "unreadable", capabilities: "xyz", want: true},
	} {
		m, pid := listening(t)
		m.proc = processes(t, map[string]process{pid: {"dockerd", test.capabilities, "mnt:[1]"}})
		if got, reason := m.canLowerScore(t.Context()); got != test.want || got == (reason != "") {
			t.Errorf("%s: %v, %q", test.name, got, reason)
		}
	}
	remote := newTestManager(t, nil)
	remote.engine.endpoint = "tcp://engine.example:2376"
	if got, _ := remote.canLowerScore(t.Context()); !got {
		t.Error("a remote engine is not trusted to")
	}
}

func TestCanMount(t *testing.T) {
	for _, test := range []struct {
		name         string
		engine, self process
		can          bool
		reason       string
	}{
		{name: "same namespace", engine: process{"dockerd", allCapabilities, "mnt:[1]"}, self: process{"podstead", allCapabilities, "mnt:[1]"}, can: true},
		{name: "another namespace", engine: process{"dockerd", allCapabilities, "mnt:[1]"}, self: process{"podstead", allCapabilities, "mnt:[2]"}, reason: "another mount namespace"},
		{name: "no capability", engine: process{"dockerd", allCapabilities, "mnt:[1]"}, self: process{"podstead", noSysAdmin, "mnt:[1]"}, reason: "CAP_SYS_ADMIN"},
		{name: "systemd's socket, engine unknown", engine: process{"systemd", allCapabilities, "mnt:[1]"}, self: process{"podstead", allCapabilities, "mnt:[1]"}, reason: "unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, pid := listening(t)
			m.proc = processes(t, map[string]process{pid: test.engine, self: test.self})
			if can, reason := m.CanMount(t.Context()); can != test.can || !strings.Contains(reason, test.reason) {
				t.Errorf("%v, %q", can, reason)
			}
		})
	}
	remote := newTestManager(t, nil)
	remote.engine.endpoint = "tcp://engine.example:2376"
	if can, reason := remote.CanMount(t.Context()); can || !strings.Contains(reason, "unknown") {
		t.Errorf("%v, %q", can, reason)
	}
}

// An engine that can't be looked at is asked, without starting anything; the
// image is loaded for that when it is missing.
func TestCheckRootAsksTheEngine(t *testing.T) {
	for _, test := range []struct {
		name string
		sees bool
	}{{name: "sees", sees: true}, {name: "does not see"}} {
		t.Run(test.name, func(t *testing.T) {
			e := newSandboxEngine()
			if !test.sees {
				e.createFn = func(_ string, _ *container.Config, host *container.HostConfig, _ *network.NetworkingConfig) (container.CreateResponse, error) {
					return container.CreateResponse{}, refusal{"bind source path does not exist: " + host.Mounts[0].Source, cerrdefs.ErrInvalidArgument}
				}
			}
			m := newTestManager(t, e)
			m.engine.endpoint = "tcp://engine.example:2376"
			root := t.TempDir()
			err := m.CheckRoot(t.Context(), root)
			if (err == nil) != test.sees || (err != nil && !strings.Contains(err.Error(), root)) {
				t.Errorf("got %v", err)
			}
			if left, _ := os.ReadDir(root); len(left) != 0 || len(e.made) != 0 {
				t.Errorf("left over: %v, %v", left, e.made)
			}
		})
	}
	gone := newTestManager(t, nil)
	gone.engine.endpoint = "tcp://engine.example:2376"
	if err := gone.CheckRoot(t.Context(), t.TempDir()+"/missing"); !errors.Is(err, os.ErrNotExist) || errors.Is(err, runtime.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}
