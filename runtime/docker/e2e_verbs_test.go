//go:build e2e

package docker

import (
	"bytes"
	"context"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/runtime/runtimetest"
)

func TestContract(t *testing.T) {
	runtimetest.Contract(t, func(t *testing.T) runtimetest.Runtime { return newNode(t, "") }, runtimetest.Busybox(busybox))
}

func TestEveryVerbTwice(t *testing.T) {
	n := newNode(t, "")
	n.follow()
	pod := n.pod()
	sandboxConfig := runtime.SandboxConfig{Pod: pod, Hostname: "web", Names: []string{"web.default.pod.cluster.local"}}

	sandbox, _, err := n.CreateSandbox(n.t.Context(), sandboxConfig)
	must(t, err)
	again, _, err := n.CreateSandbox(n.t.Context(), sandboxConfig)
	must(t, err)
	if again != sandbox {
		t.Errorf("second create made %s beside %s", again, sandbox)
	}
	first, err := n.StartSandbox(n.t.Context(), sandbox)
	must(t, err)
	second, err := n.StartSandbox(n.t.Context(), sandbox)
	must(t, err)
	if len(first.IPs) != 1 || !slices.Equal(first.IPs, second.IPs) || first.ID != second.ID {
		t.Errorf("started as %+v, then %+v", first, second)
	}

	cfg := script(pod, first.ID, "echo hello; sleep 1000")
	id, _, err := n.CreateContainer(n.t.Context(), cfg)
	must(t, err)
	again, _, err = n.CreateContainer(n.t.Context(), cfg)
	must(t, err)
	if again != id {
		t.Errorf("second create made %s beside %s", again, id)
	}
	must(t, n.StartContainer(n.t.Context(), id))
	must(t, n.StartContainer(n.t.Context(), id))
	if c := n.container(pod.UID, id); c.State != runtime.StateRunning {
		t.Errorf("state %s", c.State)
	}

	must(t, n.Signal(n.t.Context(), id, "KILL"))
	n.await(runtime.Event{Kind: runtime.EventDied, ID: id})
	must(t, n.Signal(n.t.Context(), id, "KILL"))
	if c := n.container(pod.UID, id); c.State != runtime.StateExited || c.ExitCode != 137 || c.Reason != "Error" {
		t.Errorf("after KILL: %+v", c)
	}
	must(t, n.StartContainer(n.t.Context(), id)) // it ran: an attempt is made once
	if c := n.container(pod.UID, id); c.State != runtime.StateExited {
		t.Errorf("started again: %+v", c)
	}

	must(t, n.Remove(n.t.Context(), id))
	must(t, n.Remove(n.t.Context(), id))
	must(t, n.Signal(n.t.Context(), id, "TERM"))
	must(t, n.Signal(n.t.Context(), sandbox, "TERM"))
	n.await(runtime.Event{Kind: runtime.EventDied, ID: sandbox})
	_, err = n.StartSandbox(n.t.Context(), sandbox)
	wantIs(t, err, runtime.ErrSandboxGone)
	must(t, n.Remove(n.t.Context(), sandbox))
	must(t, n.Remove(n.t.Context(), sandbox))
	wantIs(t, n.StartContainer(n.t.Context(), id), runtime.ErrNotFound)

	left, err := n.Pod(n.t.Context(), pod.UID)
	must(t, err)
	if len(left.Sandboxes)+len(left.Containers) != 0 {
		t.Errorf("left over: %+v", left)
	}
}

func TestContainerCreatedWhileItsSandboxStarts(t *testing.T) {
	n := newNode(t, "")
	pod := n.pod()
	sandbox, _, err := n.CreateSandbox(n.t.Context(), runtime.SandboxConfig{Pod: pod})
	must(t, err)
	id, _, err := n.CreateContainer(n.t.Context(), script(pod, sandbox, "sleep 1000"))
	must(t, err)
	_, err = n.StartSandbox(n.t.Context(), sandbox)
	must(t, err)
	must(t, n.StartContainer(n.t.Context(), id))
}

func TestContainerOfASandboxThatDoesNotRun(t *testing.T) {
	for _, test := range []struct {
		name  string
		share bool
		kill  func(n *node, sandbox string)
	}{
		{name: "never started", kill: func(*node, string) {}},
		{name: "never started, PIDs shared", share: true, kill: func(*node, string) {}},
		{name: "removed", kill: func(n *node, sandbox string) { must(n.t, n.Remove(n.t.Context(), sandbox)) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t, "")
			pod := n.pod()
			sandbox, _, err := n.CreateSandbox(n.t.Context(), runtime.SandboxConfig{Pod: pod})
			must(t, err)
			cfg := script(pod, sandbox, "sleep 1000")
			cfg.SharePID = test.share
			id, _, err := n.CreateContainer(n.t.Context(), cfg)
			must(t, err)
			test.kill(n, sandbox)
			wantIs(t, n.StartContainer(n.t.Context(), id), runtime.ErrSandboxGone)
			if c := n.container(pod.UID, id); c.State != runtime.StateCreated {
				t.Errorf("counts as a run: %+v", c)
			}
		})
	}
}

// A container that an earlier life of the agent made for a sandbox that has
// been replaced since can never start.
func TestStaleContainerIsMadeAnew(t *testing.T) {
	n := newNode(t, "")
	pod := n.pod()
	old := n.sandbox(runtime.SandboxConfig{Pod: pod})
	stale, _, err := n.CreateContainer(n.t.Context(), script(pod, old.ID, "sleep 1000"))
	must(t, err)
	must(t, n.Remove(n.t.Context(), old.ID))
	next := n.sandbox(runtime.SandboxConfig{Pod: pod, Attempt: 1})
	id := n.run(script(pod, next.ID, "sleep 1000"))
	if id == stale {
		t.Error("the stale container was adopted")
	}
}

// B157, and B160's first half: whatever bears our name without being ours is
// not touched.
func TestForeignContainerKeepsItsName(t *testing.T) {
	n := newNode(t, "")
	pod := n.pod()
	sandbox := n.sandbox(runtime.SandboxConfig{Pod: pod})
	cfg := script(pod, sandbox.ID, "sleep 1000")
	name := identity{pod: pod, container: cfg.Name}.name()
	foreign, err := n.engine.createContainer(n.t.Context(), spec{name: name, config: &container.Config{Image: busybox}, host: &container.HostConfig{}})
	must(t, err)
	t.Cleanup(func() { _ = n.engine.removeContainer(context.Background(), foreign.ID) })

	id, notes, err := n.CreateContainer(n.t.Context(), cfg)
	must(t, err)
	if id == foreign.ID || len(notes) != 1 || notes[0].Reason != reasonNameTaken {
		t.Errorf("id %s, notes %v", id, notes)
	}
	if got := n.inspect(id).Name; !strings.HasPrefix(got, "/"+name+"_") {
		t.Errorf("name %s", got)
	}
	must(t, n.StartContainer(n.t.Context(), id))
	if c := n.container(pod.UID, id); c.State != runtime.StateRunning {
		t.Errorf("the suffixed container is not seen as ours: %+v", c)
	}
	if n.inspect(foreign.ID).State.Status != "created" {
		t.Error("the foreign container was touched")
	}
}

// B121, B124: the port's holder is named by the error, and the sandbox starts
// once the port is free.
func TestPortConflict(t *testing.T) {
	n := newNode(t, "")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	port := int32(listener.Addr().(*net.TCPAddr).Port)
	pod := n.pod()
	id, _, err := n.CreateSandbox(n.t.Context(), runtime.SandboxConfig{Pod: pod, Ports: []runtime.PortMapping{
		{Protocol: "TCP", HostIP: "127.0.0.1", HostPort: port, ContainerPort: 80},
		{Protocol: "UDP", HostIP: "127.0.0.1", HostPort: port, ContainerPort: 80}, // B125
		{Protocol: "TCP", ContainerPort: 81},                                      // not asked to be published
	}})
	must(t, err)
	_, err = n.StartSandbox(n.t.Context(), id)
	wantIs(t, err, runtime.ErrPortInUse)
	if !strings.Contains(err.Error(), strconv.Itoa(int(port))) {
		t.Errorf("the port is not in %q", err)
	}
	observed, err := n.Pod(n.t.Context(), pod.UID)
	must(t, err)
	if s, _ := observed.Sandbox(); s.State != runtime.StateCreated {
		t.Errorf("state %s", s.State)
	}
	must(t, listener.Close())
	_, err = n.StartSandbox(n.t.Context(), id)
	must(t, err)
	found := n.inspect(id).NetworkSettings.Ports
	if len(found) != 2 || len(found["80/tcp"]) != 1 || found["80/tcp"][0].HostIP != "127.0.0.1" || len(found["80/udp"]) != 1 {
		t.Errorf("published %v", found)
	}

	rival, _, err := n.CreateSandbox(n.t.Context(), runtime.SandboxConfig{Pod: n.pod(), Ports: []runtime.PortMapping{{Protocol: "TCP", HostIP: "127.0.0.1", HostPort: port, ContainerPort: 80}}})
	must(t, err)
	_, err = n.StartSandbox(n.t.Context(), rival)
	wantIs(t, err, runtime.ErrPortInUse)
}

// B113: a start that fails is a run that failed.
func TestCannotRun(t *testing.T) {
	for _, test := range []struct {
		name    string
		command []string
		exit    int
	}{
		{name: "no such command", command: []string{"/nope"}, exit: 127},
		{name: "not in PATH", command: []string{"nope"}, exit: 127},
		{name: "not executable", command: []string{"/etc/passwd"}, exit: 126},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t, "")
			pod := n.pod()
			cfg := script(pod, n.sandbox(runtime.SandboxConfig{Pod: pod}).ID, "")
			cfg.Command = test.command
			id, _, err := n.CreateContainer(n.t.Context(), cfg)
			must(t, err)
			wantIs(t, n.StartContainer(n.t.Context(), id), runtime.ErrCannotRun)
			c := n.container(pod.UID, id)
			if c.State != runtime.StateExited || c.Reason != "ContainerCannotRun" || c.ExitCode != test.exit || c.Message == "" {
				t.Errorf("got %+v", c)
			}
			if !c.StartedAt.Equal(c.CreatedAt) || !c.FinishedAt.Equal(c.CreatedAt) {
				t.Errorf("times differ from the creation's: %+v", c)
			}
		})
	}
}

// B115
func TestOOMKilled(t *testing.T) {
	n := newNode(t, "")
	n.follow()
	pod := n.pod()
	cfg := script(pod, n.sandbox(runtime.SandboxConfig{Pod: pod}).ID, "exec dd if=/dev/zero of=/dev/null bs=64M")
	cfg.Resources.Memory = 16 << 20
	c, _ := n.finish(cfg)
	if c.ExitCode != 137 || c.Reason != "OOMKilled" {
		t.Errorf("got %+v", c)
	}
}

func TestLogs(t *testing.T) {
	n := newNode(t, "")
	n.follow()
	pod := n.pod()
	dead, _ := n.finish(script(pod, n.sandbox(runtime.SandboxConfig{Pod: pod}).ID, "echo two >&2; sleep 0.2; echo one; echo three"))
	tail, limit := int64(1), int64(5)
	after := dead.FinishedAt.Add(time.Second)
	for _, test := range []struct {
		name           string
		opts           runtime.LogOptions
		stdout, stderr string
	}{
		{name: "all", stdout: "one\nthree\n", stderr: "two\n"},
		{name: "follow ends with the container", opts: runtime.LogOptions{Follow: true}, stdout: "one\nthree\n", stderr: "two\n"},
		{name: "tail", opts: runtime.LogOptions{Tail: &tail}, stdout: "three\n"},
		{name: "limit", opts: runtime.LogOptions{Tail: &tail, LimitBytes: &limit}, stdout: "three"},
		{name: "since", opts: runtime.LogOptions{Since: &after}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			must(t, n.Logs(n.t.Context(), dead.ID, test.opts, &stdout, &stderr))
			if stdout.String() != test.stdout || stderr.String() != test.stderr {
				t.Errorf("got %q and %q", stdout.String(), stderr.String())
			}
		})
	}
	wantIs(t, n.Logs(n.t.Context(), "no-such", runtime.LogOptions{}, nil, nil), runtime.ErrNotFound)
}

// B79, B83, B82
func TestCommandsAndEnvironment(t *testing.T) {
	n := newNode(t, "")
	n.follow()
	pod := n.pod()
	sandbox := n.sandbox(runtime.SandboxConfig{Pod: pod, Hostname: "web"})
	value := "k1=v1,k2=v2== \"quoted\" #x\nsecond line"
	for attempt, test := range []struct {
		name string
		cfg  runtime.ContainerConfig
		want string
	}{
		{name: "neither", cfg: runtime.ContainerConfig{Image: "podstead-test/entrypoint:1"}, want: "e c\n"},
		{name: "command", cfg: runtime.ContainerConfig{Image: "podstead-test/entrypoint:1", Command: []string{"echo", "command"}}, want: "command\n"},
		{name: "args", cfg: runtime.ContainerConfig{Image: "podstead-test/entrypoint:1", Args: []string{"args"}}, want: "e args\n"},
		{name: "both", cfg: runtime.ContainerConfig{Image: "podstead-test/entrypoint:1", Command: []string{"echo", "command"}, Args: []string{"args"}}, want: "command args\n"},
		{
			name: "environment over the image's",
			cfg:  runtime.ContainerConfig{Image: "podstead-test/stopsignal:1", Command: []string{"sh", "-c", `echo "$PATH $COLOUR $A"; pwd; hostname`}, Env: []string{"COLOUR=red", "A=" + value}},
			want: "/opt/x:/bin red " + value + "\n/home\nweb\n",
		},
		{name: "the image's user", cfg: runtime.ContainerConfig{Image: "podstead-test/user:number"}, want: "uid=1000 gid=2000 groups=2000\n"},
		{
			name: "another user with groups",
			cfg:  runtime.ContainerConfig{Image: "podstead-test/user:number", Security: runtime.Security{User: "7:8", Groups: []string{"9", "10"}}},
			want: "uid=7 gid=8 groups=8,9,10\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := test.cfg
			cfg.Pod, cfg.Name, cfg.Attempt, cfg.SandboxID = pod, "main", attempt, sandbox.ID
			if _, got := n.finish(cfg); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// B100: the image's own stop signal is what stops it, and is told.
func TestStopSignal(t *testing.T) {
	n := newNode(t, "")
	n.follow()
	pod := n.pod()
	id := n.run(runtime.ContainerConfig{Pod: pod, Name: "main", SandboxID: n.sandbox(runtime.SandboxConfig{Pod: pod}).ID, Image: "podstead-test/stopsignal:1", StopTimeout: 10 * time.Second})
	signal := n.container(pod.UID, id).StopSignal
	if signal != "SIGUSR1" {
		t.Errorf("stop signal %q", signal)
	}
	must(t, n.Signal(n.t.Context(), id, signal))
	n.await(runtime.Event{Kind: runtime.EventDied, ID: id})
	if c := n.container(pod.UID, id); c.ExitCode != 0 || c.Reason != "Completed" {
		t.Errorf("got %+v", c)
	}
}

// An image's labels, health check and volumes are not the pod's.
func TestImageDoesNotLeak(t *testing.T) {
	n := newNode(t, "")
	pod := n.pod()
	id := n.run(runtime.ContainerConfig{Pod: pod, Name: "main", SandboxID: n.sandbox(runtime.SandboxConfig{Pod: pod}).ID, Image: "podstead-test/leaky:1"})
	if c := n.container(pod.UID, id); c.Name != "main" || c.MessagePath != "" {
		t.Errorf("got %+v", c)
	}
	found := n.inspect(id)
	if found.State.Health != nil {
		t.Error("the image's health check runs")
	}
	if len(found.Mounts) != 1 || found.Mounts[0].Type != "volume" {
		t.Fatalf("mounts %v", found.Mounts)
	}
	must(t, n.Remove(n.t.Context(), id))
	if _, err := os.Stat(found.Mounts[0].Source); err == nil {
		t.Error("the anonymous volume outlives the container")
	}
}

func TestBindMounts(t *testing.T) {
	n := newNode(t, "")
	n.follow()
	dir := t.TempDir()
	pod := n.pod()
	sandbox := n.sandbox(runtime.SandboxConfig{Pod: pod})
	cfg := script(pod, sandbox.ID, "echo a >/rw/a; echo b >/ro/b; cat /ro/a")
	cfg.Mounts = []runtime.Mount{{HostPath: dir, ContainerPath: "/rw"}, {HostPath: dir, ContainerPath: "/ro", ReadOnly: true}}
	if _, got := n.finish(cfg); !strings.Contains(got, "Read-only file system") || !strings.Contains(got, "a\n") {
		t.Errorf("got %q", got)
	}
	// B137: nothing is made where the volume has nothing.
	cfg.Attempt, cfg.Mounts[0].HostPath = 1, dir+"/missing"
	if _, _, err := n.CreateContainer(n.t.Context(), cfg); err == nil || !strings.Contains(err.Error(), dir+"/missing") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(dir + "/missing"); err == nil {
		t.Error("a directory was made")
	}
}

func TestList(t *testing.T) {
	n := newNode(t, "")
	pod := n.pod()
	sandbox := n.sandbox(runtime.SandboxConfig{Pod: pod, HostNetwork: true, Labels: map[string]string{"app": "web", labelNodeID: "stolen"}})
	if len(sandbox.IPs) != 0 {
		t.Errorf("host network has addresses %v", sandbox.IPs)
	}
	id := n.run(script(pod, sandbox.ID, "sleep 1000"))
	pods, err := n.List(n.t.Context())
	must(t, err)
	if len(pods) != 1 || pods[0].PodRef != pod || len(pods[0].Sandboxes) != 1 || len(pods[0].Containers) != 1 {
		t.Fatalf("got %+v", pods)
	}
	s, c := pods[0].Sandboxes[0], pods[0].Containers[0]
	if s.ID != sandbox.ID || !s.HostNetwork || s.State != runtime.StateRunning || s.CreatedAt.IsZero() {
		t.Errorf("sandbox %+v", s)
	}
	if c.ID != id || c.SandboxID != s.ID || c.State != runtime.StateRunning || c.Image != busybox {
		t.Errorf("container %+v", c)
	}
}

func TestImageAndEngine(t *testing.T) {
	n := newNode(t, "")
	image, err := n.Image(n.t.Context(), "docker.io/podstead-test/leaky:1")
	must(t, err)
	if !strings.HasPrefix(image.ID, "docker") || image.Size == 0 || !slices.Equal(image.Volumes, []string{"/data"}) {
		t.Errorf("got %+v", image)
	}
	if image, err = n.Image(n.t.Context(), "podstead-test/user:name"); err != nil || image.User != "nobody" {
		t.Errorf("got %+v, %v", image, err)
	}
	_, err = n.Image(n.t.Context(), "podstead-test/absent:1")
	wantIs(t, err, runtime.ErrNotFound)
	_, err = n.Image(n.t.Context(), "Not A Reference")
	wantIs(t, err, runtime.ErrInvalidImageName)
	_, _, err = n.CreateContainer(n.t.Context(), runtime.ContainerConfig{Pod: n.pod(), Name: "main", SandboxID: "no-such", Image: busybox})
	wantIs(t, err, runtime.ErrSandboxGone)

	engine, err := n.Engine(n.t.Context())
	must(t, err)
	if engine.Name != "docker" || engine.Version == "" || engine.APIVersion == "" || engine.CPUs == 0 || engine.Architecture == "" {
		t.Errorf("got %+v", engine)
	}
	must(t, n.CheckRoot(n.t.Context(), t.TempDir()))
}
