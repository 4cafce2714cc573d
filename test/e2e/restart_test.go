//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// atLeast is met when there are so many.
func atLeast(want int, acts []rig.Event) error {
	if len(acts) < want {
		return fmt.Errorf("%d so far", len(acts))
	}
	return nil
}

// diary is a pod whose init container writes one line into a folder of the host
// each time it runs, and whose main container writes another.
func diary(name, folder string, more ...string) string {
	parts := append(more,
		"volumes:", hostPath("diary", folder, "Directory"),
		"initContainers:", run1("prepare", "echo ran >> /diary/prepare", mount("diary", "/diary")),
		"containers:", run1("main", "echo ran >> /diary/main; "+idle, mount("diary", "/diary")),
	)
	return pod(name, parts...)
}

func lines(text string) int { return strings.Count(text, "\n") }

// B104: init containers run once for a sandbox, however often the app crashes;
// TestADeadSandboxIsReplaced has them run again for the next one.
func TestInitContainersRunOncePerSandbox(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	folder := n.folder("diary")
	n.put("lamp.yaml", diary("lamp", folder))
	n.awaitReady("lamp")
	for crash := int32(1); crash <= 2; crash++ {
		n.kill("lamp", "main")
		n.awaitPod("lamp", "to be restarted", restarted("main", crash))
	}
	if text := n.read(folder + "/prepare"); lines(text) != 1 {
		t.Errorf("after two crashes the init container has run %d times", lines(text))
	}
}

// restarted: the pod is ready and this container has been restarted so often.
func restarted(container string, times int32) func(v1.Pod) bool {
	return func(p v1.Pod) bool { return ready(p) && status(p, container).RestartCount == times }
}

// B37: the record of a finished init container is removed; nothing runs again.
func TestARemovedInitContainerIsNotMissed(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	folder := n.folder("diary")
	n.put("lamp.yaml", diary("lamp", folder))
	before := n.awaitReady("lamp")
	for _, b := range n.boxes("lamp") {
		if b.Container() == "prepare" {
			n.must(n.engine.remove(b.ID))
		}
	}
	n.law() // the agent has looked
	after := n.awaitReady("lamp")
	if containerID(status(before, "main")) != containerID(status(after, "main")) {
		t.Error("the app was restarted")
	}
	n.kill("lamp", "main")
	n.awaitPod("lamp", "to be restarted", restarted("main", 1))
	if text := n.read(folder + "/prepare"); lines(text) != 1 {
		t.Errorf("the init container has run %d times", lines(text))
	}
	if sandboxes := n.story.of("create", "POD"); len(sandboxes) != 1 {
		t.Errorf("%d sandboxes were made", len(sandboxes))
	}
}

// B110: a container that was made and never started, because the agent died
// between, is no run: it runs once, also when its sandbox and record are lost.
func TestCreatedAndNeverStarted(t *testing.T) {
	for name, sandboxGone := range map[string]bool{"its sandbox runs": false, "its sandbox is gone": true} {
		for _, policy := range []string{"Never", "OnFailure"} {
			t.Run(name+", "+policy, func(t *testing.T) {
				t.Parallel()
				n := startNode(t)
				folder := n.folder("diary")
				n.put("lamp.yaml", pod("lamp", "restartPolicy: "+policy, "volumes:", hostPath("diary", folder, "Directory"),
					"containers:", run1("main", "echo ran >> /diary/main; "+idle, mount("diary", "/diary"))))
				before := n.awaitReady("lamp")
				wrote := func() error {
					if text := n.read(folder + "/main"); lines(text) != 1 {
						return fmt.Errorf("it has run %d times", lines(text))
					}
					return nil
				}
				n.await("its first line", wrote)
				_, _ = n.end(syscall.SIGKILL)

				main, sandbox := n.box("lamp", "main"), n.box("lamp", "POD")
				made := n.inspect(main.ID)
				n.must(n.engine.remove(main.ID))
				_, err := n.engine.createLike(made)
				n.must(err)
				if sandboxGone {
					n.must(n.engine.remove(sandbox.ID))
				}
				n.must(os.Remove(filepath.Join(n.root, "pods", string(before.UID), "pod.json")))
				n.must(os.Remove(folder + "/main"))

				n.start()
				after := n.awaitReady("lamp")
				if count := status(after, "main").RestartCount; count != 0 {
					t.Errorf("it counts as restarted %d times", count)
				}
				n.await("its line", wrote)
			})
		}
	}
}

// B113: a command that cannot run is a failed run: with Never the only one.
func TestACommandThatCannotRun(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	for _, policy := range []string{"Never", "OnFailure", "Always"} {
		n.put(policy+".yaml", pod(strings.ToLower(policy), "restartPolicy: "+policy, "containers:", item("main", image1, "command: [/nope]")))
	}
	failed := n.awaitPod("never", "to have failed", inPhase(v1.PodFailed))
	end := status(failed, "main").State.Terminated
	if end == nil || end.ExitCode != 127 && end.ExitCode != 128 || end.Reason == "" || !strings.Contains(end.Message, "/nope") {
		t.Errorf("it ended as %+v", end)
	}
	for _, name := range []string{"onfailure", "always"} {
		highest := int32(0)
		n.awaitPod(name, "to back off after a restart", func(p v1.Pod) bool {
			s := status(p, "main")
			if s.RestartCount < highest {
				t.Errorf("%s: the count fell from %d to %d", name, highest, s.RestartCount)
			}
			highest = s.RestartCount
			return s.RestartCount >= 1 && s.State.Waiting != nil && s.State.Waiting.Reason == "CrashLoopBackOff"
		})
	}
	tries := 0
	for _, a := range n.story.of("create", "main") {
		if a.Pod == n.full("never") {
			tries++
		}
	}
	if tries != 1 {
		t.Errorf("with Never it was tried %d times", tries)
	}
}

// B115: what ends for want of memory says so.
func TestOutOfMemoryIsNamed(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("glut.yaml", pod("glut", "restartPolicy: Never", "containers:",
		run1("main", "exec tail /dev/zero", "resources: {limits: {memory: 16Mi}}")))
	p := n.awaitPod("glut", "to have failed", inPhase(v1.PodFailed))
	if end := status(p, "main").State.Terminated; end == nil || end.Reason != "OOMKilled" || end.ExitCode != 137 {
		t.Errorf("it ended as %+v", end)
	}
}

// B103: in a shared process namespace the end of one container is not that of
// the others.
func TestOneOfASharedProcessNamespace(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("pair.yaml", pod("pair", "shareProcessNamespace: true", "containers:", run1("one", idle), run1("two", idle)))
	before := n.awaitReady("pair")
	n.kill("pair", "one")
	after := n.awaitPod("pair", "to have one restarted", restarted("one", 1))
	if containerID(status(before, "two")) != containerID(status(after, "two")) || status(after, "two").RestartCount != 0 {
		t.Errorf("the other container did not stay: %s", describe(after))
	}
	if sandboxes := n.story.of("create", "POD"); len(sandboxes) != 1 {
		t.Errorf("%d sandboxes were made", len(sandboxes))
	}
}

// B127: the pod's hosts file is one, and no container's start rewrites it.
func TestTheHostsFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	const line = "192.0.2.1\tfriend\n"
	n.put("pair.yaml", pod("pair", "containers:", run1("one", "printf '192.0.2.1\\tfriend\\n' >> /etc/hosts; "+idle), run1("two", idle)))
	n.awaitReady("pair")
	hosts := func() string { return n.read(n.inspect(n.box("pair", "two").ID).HostsPath) }
	n.await("the line to be written", func() error {
		if text := hosts(); !strings.Contains(text, line) {
			return fmt.Errorf("it is\n%s", text)
		}
		return nil
	})
	n.kill("pair", "two")
	n.awaitPod("pair", "to have one restarted", restarted("two", 1))
	if text := hosts(); !strings.Contains(text, line) {
		t.Errorf("after the other container's restart it is\n%s", text)
	}
}
