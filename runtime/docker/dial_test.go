package docker

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"golang.org/x/sys/unix"

	"github.com/podstead/podstead/runtime"
)

// boxAPI is an engine with one sandbox, whose process is this one.
type boxAPI struct {
	fakeAPI
	pids    []int // that successive inspections tell; the last one stays
	address string
	host    bool
}

func (b *boxAPI) ContainerInspect(context.Context, string) (container.InspectResponse, error) {
	pid := b.pids[0]
	if len(b.pids) > 1 {
		b.pids = b.pids[1:]
	}
	found := container.InspectResponse{
		ContainerJSONBase: &container.ContainerJSONBase{
			ID: "0123456789abcdef", State: &container.State{Running: pid != 0, Pid: pid}, HostConfig: &container.HostConfig{},
		},
		NetworkSettings: &container.NetworkSettings{Networks: map[string]*network.EndpointSettings{"podstead": {IPAddress: b.address}}},
	}
	if b.host {
		found.HostConfig.NetworkMode = "host"
	}
	return found, nil
}

// listenOn is the port of a listener that accepts and says nothing.
func listenOn(t *testing.T, address string) int {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("this machine has no such address: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

// refusing is a port that nobody listens on.
func refusing(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func mayEnterNamespaces(t *testing.T) {
	t.Helper()
	if can, err := procfs("/proc").has(self, capSysAdmin); err != nil || !can {
		t.Skip("entering the network of a sandbox takes CAP_SYS_ADMIN")
	}
}

func TestDialReachesTheLoopbackAddress(t *testing.T) {
	mayEnterNamespaces(t)
	for _, test := range []struct{ name, address string }{
		{name: "IPv4", address: "127.0.0.1:0"},
		{name: "IPv6 only", address: "[::1]:0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, _ := listening(t)
			m.engine.api = &boxAPI{pids: []int{os.Getpid()}, address: "192.0.2.1"}
			conn, err := m.Dial(t.Context(), "0123456789abcdef", listenOn(t, test.address))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, ok := conn.(interface{ CloseWrite() error }); !ok {
				t.Error("half of it cannot be closed")
			}
		})
	}
}

func TestDialTellsARefusedPort(t *testing.T) {
	mayEnterNamespaces(t)
	m, _ := listening(t)
	m.engine.api = &boxAPI{pids: []int{os.Getpid()}, address: "192.0.2.1"}
	_, err := m.Dial(t.Context(), "0123456789abcdef", refusing(t))
	if !errors.Is(err, runtime.ErrRefused) {
		t.Errorf("got %v", err)
	}
}

// A process that is another one by the time its network is open may be anybody's.
func TestDialLeavesAnEndedSandboxAlone(t *testing.T) {
	for _, test := range []struct {
		name string
		pids []int
	}{
		{name: "ended before", pids: []int{0}},
		{name: "ends while it is looked at", pids: []int{os.Getpid(), 0}},
		{name: "started anew while it is looked at", pids: []int{os.Getpid(), 1}},
		{name: "its process is gone already", pids: []int{1 << 30, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, _ := listening(t)
			m.engine.api = &boxAPI{pids: test.pids}
			conn, err := m.Dial(t.Context(), "0123456789abcdef", listenOn(t, "127.0.0.1:0"))
			if conn != nil || !errors.Is(err, runtime.ErrSandboxGone) {
				t.Errorf("got %v, %v", conn, err)
			}
		})
	}
}

func TestDialGoesToTheAddressOfAnEngineElsewhere(t *testing.T) {
	for _, test := range []struct {
		name     string
		endpoint string
		box      boxAPI
		want     string // of the error, "" for none
	}{
		{name: "its address", endpoint: "tcp://127.0.0.1:2376", box: boxAPI{address: "127.0.0.1"}},
		{name: "the engine's own network", endpoint: "tcp://127.0.0.1:2376", box: boxAPI{host: true}},
		{name: "refused there", endpoint: "tcp://127.0.0.1:2376", box: boxAPI{address: "127.0.0.2"}, want: "refused by 127.0.0.2 (from outside the pod"},
		{name: "no address", endpoint: "tcp://127.0.0.1:2376", want: "it has no address (from outside the pod"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newTestManager(t, nil)
			test.box.pids = []int{os.Getpid()}
			m.engine.endpoint, m.engine.api = test.endpoint, &test.box
			conn, err := m.Dial(t.Context(), "0123456789abcdef", listenOn(t, "127.0.0.1:0"))
			if err == nil {
				conn.Close()
			}
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What a thread did to itself is gone with it, and /proc/self never shows it.
func TestAThrownAwayThreadTakesItsNamespaceAlong(t *testing.T) {
	mayEnterNamespaces(t)
	before, err := os.Readlink("/proc/self/ns/net")
	must(t, err)
	for range 20 {
		var inside string
		var first bool
		onThrowawayThread(func() {
			if err = unix.Unshare(unix.CLONE_NEWNET); err == nil {
				inside, err = os.Readlink("/proc/thread-self/ns/net")
			}
			first = unix.Gettid() == unix.Getpid()
		})
		if errors.Is(err, unix.EPERM) {
			t.Skip("this machine makes no network namespaces")
		}
		must(t, err)
		if inside == before || first {
			t.Fatalf("it ran in %s, on the first thread: %v", inside, first)
		}
	}
	for _, path := range []string{"/proc/self/ns/net", "/proc/thread-self/ns/net"} {
		if after, err := os.Readlink(path); err != nil || after != before {
			t.Errorf("%s: this process is in %s now, %v", path, after, err)
		}
	}
}
