//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// says runs a command and judges its end.
func (n *node) says(code int, part string, args ...string) {
	n.Helper()
	if got := n.run(args...); got.code != code || !strings.Contains(got.out+got.err, part) {
		n.Errorf("podstead %s: code %d, want %d with %q\n%s%s", strings.Join(args, " "), got.code, code, part, got.out, got.err)
	}
}

// killAgent ends the agent with what cannot be caught.
func (n *node) killAgent() {
	n.Helper()
	_, _ = n.end(syscall.SIGKILL) // its error is the signal
}

// slow ends a second after TERM.
const slow = "trap 'sleep 1; exit 7' TERM; while :; do sleep 0.1; done"

func TestARestartIsFinishedOnceByTheNextAgent(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	folder := n.folder("diary")
	n.put("lamp.yaml", pod("lamp", "terminationGracePeriodSeconds: 20", "restartPolicy: Never",
		"volumes:", hostPath("diary", folder, "Directory"),
		"initContainers:", run1("prepare", "echo ran >> /diary/prepare", mount("diary", "/diary")),
		"containers:", run1("main", "echo ran >> /diary/main; "+slow, mount("diary", "/diary")), run1("side", idle)))
	before := n.awaitReady("lamp")
	for life := int32(1); life <= 3; life++ {
		n.says(0, "pod/"+n.full("lamp")+" restarting", "restart", "lamp")
		n.killAgent()
		n.start()
		n.says(0, "pod/lamp condition met", "wait", "--for=ready", "lamp", "--timeout", patience.String())
		after := n.awaitPod("lamp", "to be restarted", func(p v1.Pod) bool { return restarted("main", life)(p) && restarted("side", life)(p) })
		if last := status(after, "main").LastTerminationState.Terminated; last == nil || last.ExitCode != 7 || !strings.Contains(last.Message, "restart asked for by") {
			t.Errorf("its grace was not honoured, or nothing says why it ended: %+v", last)
		}
		if after.UID != before.UID || after.Status.PodIP != before.Status.PodIP {
			t.Error("it is another pod, or has another sandbox")
		}
		if ran := lines(n.read(filepath.Join(folder, "main"))); ran != int(life)+1 {
			t.Errorf("after %d restarts it has run %d times", life, ran)
		}
	}
	if text := n.read(filepath.Join(folder, "prepare")); lines(text) != 1 {
		t.Errorf("the init container has run %d times", lines(text))
	}
	n.says(0, "pod/"+n.full("lamp")+" restarted", "restart", "lamp", "--wait")
}

func TestWhatCrashesIsRestartedAtOnceOnRequest(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	folder := n.folder("diary")
	n.put("lamp.yaml", pod("lamp", "volumes:", hostPath("diary", folder, "Directory"),
		"containers:", run1("main", "test -e /diary/cured || exit 1; "+idle, mount("diary", "/diary"))))
	n.awaitPod("lamp", "to wait for its third try", func(p v1.Pod) bool {
		w := status(p, "main").State.Waiting
		return w != nil && w.Reason == "CrashLoopBackOff" && strings.Contains(w.Message, "20s")
	})
	n.must(os.WriteFile(filepath.Join(folder, "cured"), nil, 0o600))
	n.says(0, "restarted", "restart", "lamp", "--wait", "--timeout", "8s")
}

func TestADrainOutlivesAgents(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	folder := n.folder("diary")
	n.put("lamp.yaml", pod("lamp", "volumes:", hostPath("diary", folder, "Directory"), "- {name: data, emptyDir: {}}",
		"containers:", run1("main", "test -e /data/kept && echo kept >> /diary/lamp; touch /data/kept; "+idle,
			"volumeMounts: [{name: diary, mountPath: /diary}, {name: data, mountPath: /data}]")))
	n.put("slow.yaml", pod("slow", "terminationGracePeriodSeconds: 20", "containers:", run1("main", slow)))
	n.put("job.yaml", pod("job", "restartPolicy: Never", "containers:", run1("main", idle)))
	n.put("done.yaml", pod("done", "restartPolicy: Never", "containers:", run1("main", "true")))
	n.put("leaves.yaml", lamp("leaves"))
	lampWas := n.awaitReady("lamp")
	n.awaitReady("slow")
	n.awaitReady("job")
	n.awaitReady("leaves")
	n.awaitPod("done", "to succeed", func(p v1.Pod) bool { return p.Status.Phase == v1.PodSucceeded })

	n.says(0, "node is being drained", "drain", "--no-wait")
	n.killAgent()
	n.start()
	n.says(0, "node drained", "drain", "--timeout", patience.String())
	n.nothingRuns()
	n.says(1, "node: drained since", "status")
	n.drop("leaves.yaml")
	n.put("new.yaml", lamp("new"))
	n.awaitGone("leaves")
	n.awaitPod("new", "to be shown as drained", drainedPod)
	n.stop()
	if got := n.once(); got.code != 2 || !strings.Contains(got.err, "podstead resume") {
		t.Errorf("run-once: code %d\n%s", got.code, got.err)
	}
	n.start()
	for _, name := range []string{"lamp", "slow", "job", "new"} {
		n.awaitPod(name, "to be shown as drained", drainedPod)
	}
	n.nothingRuns()

	n.says(0, "node resumed", "resume")
	n.killAgent()
	n.start()
	n.says(0, "condition met", "wait", "--for=ready", "--all", "--timeout", patience.String())
	if p := n.awaitReady("lamp"); p.UID != lampWas.UID || status(p, "main").RestartCount != 1 {
		t.Errorf("lamp is %s, restarted %d times", p.UID, status(p, "main").RestartCount)
	}
	if lines(n.read(filepath.Join(folder, "lamp"))) != 1 {
		t.Error("its emptyDir was not kept")
	}
	n.awaitPod("done", "to stay as it was", func(p v1.Pod) bool {
		return p.Status.Phase == v1.PodSucceeded && status(p, "main").RestartCount == 0
	})
	made := slices.DeleteFunc(n.story.of("create", "main"), func(e rig.Event) bool { return e.Pod != n.full("done") })
	if len(made) != 1 {
		t.Errorf("what had run to its end was made %d times", len(made))
	}
}

func drainedPod(p v1.Pod) bool {
	return p.Status.Phase == v1.PodPending && p.Status.Reason == "Drained" && strings.Contains(p.Status.Message, "`podstead resume`")
}

func (n *node) nothingRuns() {
	n.Helper()
	for _, b := range n.boxes("") {
		if b.Running() {
			n.Errorf("%s runs on a drained node", b.Name())
		}
	}
}

func TestASuspensionOutlivesAgents(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	before := n.awaitReady("lamp")
	n.says(0, "source/file suspended", "suspend", "file")
	n.drop("lamp.yaml")
	n.put("new.yaml", lamp("new"))
	n.says(1, "it is not looked at: suspended since", "sync", "file")
	n.killAgent()
	n.kill("lamp", "main") // it is kept running all the same
	n.start()
	after := n.awaitPod("lamp", "to be restarted", restarted("main", 1))
	if pods, err := n.client.Pods(t.Context()); err != nil || len(pods) != 1 || after.UID != before.UID {
		t.Errorf("%d pods, %v", len(pods), err)
	}
	n.says(0, "file: Suspended,LastGood (not looked at since", "status")
	n.says(0, "source/file resumed", "resume", "file")
	n.says(0, "pod/lamp condition met", "wait", "--for=gone", "lamp", "--timeout", patience.String())
	n.says(0, "pod/new condition met", "wait", "--for=ready", "new", "--timeout", patience.String())
}
