package docker

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/podstead/podstead/runtime"
)

// TestMeaning holds what engines of several ages say.
func TestMeaning(t *testing.T) {
	start := call{name: "container_start", id: "c0ffee", joins: true}
	create := call{name: "container_create", joins: true}
	for _, test := range []struct {
		name   string
		call   call
		status error
		text   string
		want   error
	}{
		{name: "port held by a container", call: start, status: cerrdefs.ErrInternal, text: "driver failed programming external connectivity on endpoint x: Bind for 0.0.0.0:8080 failed: port is already allocated", want: runtime.ErrPortInUse},
		{name: "port held by a process", call: start, status: cerrdefs.ErrInternal, text: "driver failed programming external connectivity: Error starting userland proxy: listen tcp4 127.0.0.1:8080: bind: address already in use", want: runtime.ErrPortInUse},
		{name: "port held, engine 29", call: start, status: cerrdefs.ErrInternal, text: "failed to set up container networking: driver failed programming external connectivity on endpoint x: failed to bind host port 0.0.0.0:80/tcp: address already in use", want: runtime.ErrPortInUse},
		{name: "address not there yet", call: start, status: cerrdefs.ErrInternal, text: "listen tcp4 10.9.9.9:80: bind: cannot assign requested address", want: runtime.ErrPortInUse},
		{name: "no such command", call: start, status: cerrdefs.ErrInvalidArgument, text: `OCI runtime create failed: exec: "/nope": stat /nope: no such file or directory: unknown`, want: runtime.ErrCannotRun},
		{name: "not executable", call: start, status: cerrdefs.ErrInvalidArgument, text: `exec: "/etc/passwd": permission denied: unknown`, want: runtime.ErrCannotRun},
		{name: "runtime fails", call: start, status: cerrdefs.ErrInternal, text: "failed to create task for container: failed to create shim task: OCI runtime create failed: x: unknown", want: runtime.ErrCannotRun},
		{name: "stale runtime object, B163", call: start, status: cerrdefs.ErrConflict, text: "id already in use", want: errStale},
		{name: "stale runtime object, engine killed, B163", call: start, status: cerrdefs.ErrConflict, text: "task c0ffee: already exists", want: errStale},
		{name: "oom score", call: start, status: cerrdefs.ErrInternal, text: "OCI runtime create failed: write /proc/self/oom_score_adj: permission denied", want: errOOMScore},
		{name: "sandbox stopped, engine 20.10", call: start, status: cerrdefs.ErrConflict, text: "cannot join network of a non running container: 5f3e", want: runtime.ErrSandboxGone},
		{name: "sandbox stopped, engine 28", call: start, status: cerrdefs.ErrConflict, text: "cannot join network namespace of a non running container: container k8s_POD is exited", want: runtime.ErrSandboxGone},
		{name: "sandbox stopped, by its PIDs", call: start, status: cerrdefs.ErrConflict, text: "Container 5f3e is not running", want: runtime.ErrSandboxGone},
		{name: "sandbox ended meanwhile", call: start, status: cerrdefs.ErrInternal, text: "failed to create shim task: OCI runtime create failed: runc create failed: unable to create new parent process: namespace path: lstat /proc/10261/ns/ipc: no such file or directory: unknown", want: runtime.ErrSandboxGone},
		{name: "sandbox removed", call: start, status: cerrdefs.ErrNotFound, text: "No such container: 5f3e", want: runtime.ErrSandboxGone},
		{name: "sandbox removed before create", call: create, status: cerrdefs.ErrNotFound, text: "No such container: 5f3e", want: runtime.ErrSandboxGone},
		{name: "itself removed", call: start, status: cerrdefs.ErrNotFound, text: "No such container: c0ffee", want: runtime.ErrNotFound},
		{name: "network pruned", call: start, status: cerrdefs.ErrNotFound, text: "network 15dbf665 not found", want: errNetworkGone},
		{name: "network pruned, engine 28", call: start, status: cerrdefs.ErrInternal, text: "failed to set up container networking: network 15dbf665 not found", want: errNetworkGone},
		{name: "bridge full", call: start, status: cerrdefs.ErrInternal, text: "failed to create endpoint: adding interface veth1 to bridge br-1 failed: exchange full", want: runtime.ErrNetworkFull},
		{name: "no address left", call: start, status: cerrdefs.ErrInternal, text: "no available IPv4 addresses on this network's address pools: podstead", want: runtime.ErrNetworkFull},
		{name: "disk full", call: create, status: cerrdefs.ErrInternal, text: "mkdir /var/lib/docker/overlay2/x: no space left on device", want: runtime.ErrNoSpace},
		{name: "no image", call: create, status: cerrdefs.ErrNotFound, text: "No such image: podstead-test/x:1", want: runtime.ErrNotFound},
		{name: "name taken", call: create, status: cerrdefs.ErrConflict, text: `Conflict. The container name "/k8s_a" is already in use by container "5f3e". You have to remove (or rename) that container to be able to reuse that name.`, want: errNameTaken},
		{name: "not running", call: call{name: "container_kill", id: "c0ffee"}, status: cerrdefs.ErrConflict, text: "Cannot kill container: c0ffee: Container c0ffee is not running", want: runtime.ErrNotRunning},
		{name: "being removed", call: call{name: "container_remove"}, status: cerrdefs.ErrConflict, text: "removal of container c0ffee is already in progress", want: errRemoving},
		{name: "containerd away", call: start, status: cerrdefs.ErrInternal, text: `connection error: desc = "transport: error while dialing: dial unix:///run/containerd/containerd.sock: timeout"`, want: runtime.ErrUnavailable},
		{name: "containerd goes", call: start, status: cerrdefs.ErrUnavailable, text: "transport is closing: unavailable", want: runtime.ErrUnavailable},
		{name: "something else", call: create, status: cerrdefs.ErrInvalidArgument, text: "invalid mount config"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &engine{endpoint: "unix:///nowhere"}
			err := e.classify(t.Context(), test.call, refusal{test.text, test.status})
			if test.want == nil {
				if got := meaning(test.call, err); got != nil {
					t.Errorf("means %v", got)
				}
			} else if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", meaning(test.call, err), test.want)
			}
			if err.Error() != test.text {
				t.Errorf("reads %q", err)
			}
		})
	}
}

func TestNoAnswer(t *testing.T) {
	e := &engine{endpoint: "unix:///nowhere"}
	for name, err := range map[string]error{
		"limit ran out":      context.DeadlineExceeded,
		"connection dropped": io.ErrUnexpectedEOF,
		"engine says 503":    refusal{"not yet", cerrdefs.ErrUnavailable},
	} {
		if got := e.classify(t.Context(), call{name: "ping"}, err); !errors.Is(got, runtime.ErrUnavailable) {
			t.Errorf("%s: %v", name, got)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if got := e.classify(cancelled, call{name: "ping"}, context.Canceled); !errors.Is(got, context.Canceled) || errors.Is(got, runtime.ErrUnavailable) {
		t.Errorf("caller went away: %v", got)
	}
}

// B164
func TestSocketThatIsADirectoryIsNamed(t *testing.T) {
	dir := t.TempDir() + "/docker.sock"
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	m, err := New(Config{Endpoint: "unix://" + dir, NodeID: "node-1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Engine(t.Context())
	if !errors.Is(err, runtime.ErrUnavailable) || !strings.Contains(err.Error(), dir+" is a directory") {
		t.Errorf("got %v", err)
	}
}
