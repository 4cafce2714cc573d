//go:build e2e

package docker

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/podstead/podstead/runtime"
)

func TestPauseIsSmallAndLeavesOnTerm(t *testing.T) {
	n := newNode(t, "")
	n.follow()
	sandbox := n.sandbox(runtime.SandboxConfig{Pod: n.pod()})
	if kib := residentKiB(t, n.inspect(sandbox.ID).State.Pid); kib >= 1024 {
		t.Errorf("pause takes %d KiB", kib)
	}
	begin := time.Now()
	must(t, n.Signal(n.t.Context(), sandbox.ID, "TERM"))
	n.await(runtime.Event{Kind: runtime.EventDied, ID: sandbox.ID})
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("pause left after %v", took)
	}
	if code := n.inspect(sandbox.ID).State.ExitCode; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func residentKiB(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	must(t, err)
	defer status.Close()
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			must(t, err)
			t.Logf("pause: %d KiB resident", kib)
			return kib
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

// B103: with a shared PID namespace pause is the first process and reaps what
// nobody waits for; one container's end does not end another.
func TestSharedPIDNamespace(t *testing.T) {
	n := newNode(t, "")
	n.follow()
	pod := n.pod()
	sandbox := n.sandbox(runtime.SandboxConfig{Pod: pod, SharePID: true})
	stays := script(pod, sandbox.ID, "sleep 1000")
	stays.Name, stays.SharePID = "stays", true
	kept := n.run(stays)
	orphans := script(pod, sandbox.ID, "for i in 1 2 3 4 5; do sh -c 'sleep 0.1 &'; done; sleep 1; ps -o stat,args")
	orphans.SharePID = true
	_, out := n.finish(orphans)
	if strings.Contains(out, "Z") || !strings.Contains(out, "/pause") || !strings.Contains(out, "sleep 1000") {
		t.Errorf("processes:\n%s", out)
	}
	if c := n.container(pod.UID, kept); c.State != runtime.StateRunning {
		t.Errorf("the other container: %+v", c)
	}
}

// Pods find each other by the names they were given, and by no bare ones.
func TestNamesOnThePodNetwork(t *testing.T) {
	n := newNode(t, "")
	n.follow()
	server := n.sandbox(runtime.SandboxConfig{Pod: n.pod(), Names: []string{"web-n1.default.pod.cluster.local"}})
	pod := n.pod()
	client := n.sandbox(runtime.SandboxConfig{Pod: pod, Hostname: "client"})
	_, out := n.finish(script(pod, client.ID, "nslookup web-n1.default.pod.cluster.local; hostname"))
	if !strings.Contains(out, server.IPs[0]) || !strings.HasSuffix(out, "client\n") {
		t.Errorf("server is %v, client sees:\n%s", server.IPs, out)
	}
}

func TestHostNamespaces(t *testing.T) {
	n := newNode(t, "")
	n.follow()
	pod := n.pod()
	sandbox := n.sandbox(runtime.SandboxConfig{Pod: pod, HostNetwork: true, HostPID: true, HostIPC: true})
	cfg := script(pod, sandbox.ID, "for ns in net pid ipc uts; do readlink /proc/self/ns/$ns; done")
	cfg.HostNetwork, cfg.HostPID = true, true
	_, out := n.finish(cfg)
	var want strings.Builder
	for _, ns := range []string{"net", "pid", "ipc", "uts"} {
		link, err := os.Readlink("/proc/self/ns/" + ns)
		must(t, err)
		want.WriteString(link + "\n")
	}
	if out != want.String() {
		t.Errorf("namespaces %q, the host's are %q", out, want.String())
	}
}

// The note comes once for each sandbox, and with it the sandbox runs. The
// second half is an engine that nobody could look at before.
func TestSandboxWithoutOOMScore(t *testing.T) {
	n := newNode(t, "")
	lower, _ := n.canLowerScore(n.t.Context())
	_, notes, err := n.CreateSandbox(n.t.Context(), runtime.SandboxConfig{Pod: n.pod()})
	must(t, err)
	if told := len(notes) == 1 && notes[0].Reason == reasonNoScore; told == lower {
		t.Errorf("the engine can: %v, notes %v", lower, notes)
	}
	if lower {
		t.Skip("this engine can lower oom scores")
	}
	trusting := newNode(t, "")
	trusting.proc = procfs(t.TempDir())
	pod := trusting.pod()
	id, notes, err := trusting.CreateSandbox(trusting.t.Context(), runtime.SandboxConfig{Pod: pod, HostNetwork: true})
	must(t, err)
	if len(notes) != 0 {
		t.Errorf("notes %v", notes)
	}
	started, err := trusting.StartSandbox(trusting.t.Context(), id)
	must(t, err)
	if started.ID == id || len(started.Notes) != 1 || started.Notes[0].Reason != reasonNoScore {
		t.Errorf("started %+v from %s", started, id)
	}
	observed, err := trusting.Pod(trusting.t.Context(), pod.UID)
	must(t, err)
	if len(observed.Sandboxes) != 1 || observed.Sandboxes[0].State != runtime.StateRunning {
		t.Errorf("observed %+v", observed)
	}
}

// The pod network is made once, found by others, and made again when it was
// pruned: before a create, and between create and start.
func TestPrunedNetwork(t *testing.T) {
	endpoint := privateEngine(t)
	n := newNode(t, endpoint)
	first, err := n.network.get(n.t.Context(), n.findOrMakeNetwork)
	must(t, err)
	if other, err := newNode(t, endpoint).findOrMakeNetwork(n.t.Context()); err != nil || other != first {
		t.Errorf("another agent found %s, %v; want %s", other, err, first)
	}
	must(t, n.engine.removeNetwork(n.t.Context(), first))
	pod := n.pod()
	before := n.sandbox(runtime.SandboxConfig{Pod: pod, Names: []string{"a.default.pod.x"}})
	if len(before.IPs) != 1 {
		t.Errorf("pruned before create: %+v", before)
	}
	must(t, n.Remove(n.t.Context(), before.ID))

	created, _, err := n.CreateSandbox(n.t.Context(), runtime.SandboxConfig{Pod: pod, Attempt: 1, Names: []string{"b.default.pod.x"}})
	must(t, err)
	second, err := n.network.get(n.t.Context(), n.findOrMakeNetwork)
	must(t, err)
	must(t, n.engine.removeNetwork(n.t.Context(), second))
	after, err := n.StartSandbox(n.t.Context(), created)
	must(t, err)
	if after.ID == created || len(after.IPs) != 1 {
		t.Errorf("pruned between create and start: %+v", after)
	}
	for _, endpoint := range n.inspect(after.ID).NetworkSettings.Networks {
		if !strings.Contains(strings.Join(endpoint.Aliases, " "), "b.default.pod.x") {
			t.Errorf("aliases %v", endpoint.Aliases)
		}
	}
	n.run(script(pod, after.ID, "sleep 1000"))
}

// Events go on after the engine was restarted, and Run says where they may
// have been missed. A hung engine is unavailable within the caller's time.
func TestEngineRestartsAndHangs(t *testing.T) {
	endpoint := privateEngine(t, "--live-restore")
	dir := strings.TrimSuffix(strings.TrimPrefix(endpoint, "unix://"), "/docker.sock")
	n := newNode(t, endpoint)
	n.follow()
	pod := n.pod()
	id := n.run(script(pod, n.sandbox(runtime.SandboxConfig{Pod: pod}).ID, "sleep 1000"))
	n.await(runtime.Event{Kind: runtime.EventStarted, ID: id})

	daemon := enginePIDOf(t, dir)
	must(t, syscall.Kill(daemon, syscall.SIGKILL))
	n.await(runtime.Event{Kind: runtime.EventResync})
	_, err := n.Pod(n.t.Context(), pod.UID)
	wantIs(t, err, runtime.ErrUnavailable)
	hack(t, nil, "engine.sh", "private", dir, "--live-restore")
	n.await(runtime.Event{Kind: runtime.EventResync})
	if c := n.container(pod.UID, id); c.State != runtime.StateRunning {
		t.Errorf("after the restart: %+v", c)
	}
	must(t, n.Signal(n.t.Context(), id, "KILL"))
	n.await(runtime.Event{Kind: runtime.EventDied, ID: id})

	daemon = enginePIDOf(t, dir)
	must(t, syscall.Kill(daemon, syscall.SIGSTOP))
	ctx, cancel := contextWithTimeout(t, 200*time.Millisecond)
	defer cancel()
	_, err = n.Engine(ctx)
	wantIs(t, err, runtime.ErrUnavailable)
	must(t, syscall.Kill(daemon, syscall.SIGCONT))
	_, err = n.Engine(n.t.Context())
	must(t, err)
}

func enginePIDOf(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(dir + "/docker.pid")
	must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(t, err)
	return pid
}
