//go:build e2e

package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

// B17: a uid in the manifest hides no change.
func TestAWrittenUIDHidesNothing(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	lampOf := func(image string) string {
		text := pod("lamp", "containers:", runIn(image, "main", idle))
		return strings.Replace(text, "  name: lamp\n", "  name: lamp\n  uid: fixed-1\n", 1)
	}
	n.put("lamp.yaml", lampOf(image1))
	before := n.awaitReady("lamp")
	n.put("lamp.yaml", lampOf(image2))
	after := n.awaitNew(before, "lamp")
	if image := status(after, "main").Image; image != image2 {
		t.Errorf("status shows image %s", image)
	}
}

// B26: a manifest that is put back while its pod stops: the pod ends in its
// time, and runs anew.
func TestPutBackWhileItStops(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	text := pod("lamp", "terminationGracePeriodSeconds: 3", "containers:", run1("main", stubborn))
	n.put("lamp.yaml", text)
	old := containerID(status(n.awaitReady("lamp"), "main"))
	n.drop("lamp.yaml")
	n.await("the pod to be told to end", func() error { return atLeast(1, n.story.of("kill", "main")) })
	n.put("lamp.yaml", text)
	n.awaitPod("lamp", "to run anew", func(p v1.Pod) bool {
		if p.Status.Phase == v1.PodFailed {
			t.Errorf("on the way it was shown as %s", describe(p))
		}
		return ready(p) && containerID(status(p, "main")) != old
	})
	n.oneAfterTheOther(old, 3*time.Second)
}

// B28, B161: a version that needs the port of the one before it waits for its
// end, and tries nothing meanwhile.
func TestAnUpdateWaitsForThePort(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	port := freePort(t)
	wheel := func(image string) string {
		return pod("wheel", "terminationGracePeriodSeconds: 3", "containers:", runIn(image, "main", "trap '' TERM; "+serve, hostPort(port, "")))
	}
	n.put("wheel.yaml", wheel(image1))
	before := n.awaitReady("wheel")
	n.put("wheel.yaml", wheel(image2))
	n.awaitNew(before, "wheel")
	n.awaitServed(port, "2")
	n.oneAfterTheOther(containerID(status(before, "main")), 3*time.Second)
	if made, begun := n.story.of("create", "POD"), n.story.of("start", "POD"); len(made) != 2 || len(begun) != 2 {
		t.Errorf("one update created %d sandboxes and started %d", len(made), len(begun))
	}
	if failed := n.events("wheel", "FailedCreatePodSandBox"); len(failed) != 0 {
		t.Errorf("it was tried in vain: %s", failed[0].Message)
	}
}

// B31: changed while no agent ran: what ran is found, ended, and then followed.
func TestChangedWhileTheAgentWasDown(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	port := freePort(t)
	wheel := func(image string) string {
		return pod("wheel", "containers:", runIn(image, "main", serve, hostPort(port, "")))
	}
	n.put("wheel.yaml", wheel(image1))
	before := n.awaitReady("wheel")
	n.stop()
	n.put("wheel.yaml", wheel(image2))
	n.start()
	n.awaitNew(before, "wheel")
	n.awaitServed(port, "2")
	n.oneAfterTheOther(containerID(status(before, "main")), 0)
	if boxes := n.boxes(""); len(boxes) != 2 {
		t.Errorf("one pod of one container is %v", boxes)
	}
}

// B32, B38: an agent that ends, however, and starts again restarts nothing.
func TestAgentRestartsRestartNothing(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	names := []string{"a", "b", "c"}
	for _, name := range names {
		n.put(name+".yaml", lamp(name))
	}
	ids, begun := map[string]bool{}, map[string]time.Time{}
	for _, name := range names {
		begun[name] = status(n.awaitReady(name), "main").State.Running.StartedAt.Time
	}
	for _, b := range n.boxes("") {
		ids[b.ID] = true
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_, _ = n.end(signal) // how is not the question here
		n.start()
		for _, name := range names {
			now := status(n.awaitReady(name), "main")
			if now.RestartCount != 0 || !now.State.Running.StartedAt.Time.Equal(begun[name]) {
				t.Errorf("after %s pod %s runs since %s (%d restarts), before since %s",
					signal, name, now.State.Running.StartedAt, now.RestartCount, begun[name])
			}
		}
	}
	for _, b := range n.boxes("") {
		if !ids[b.ID] || !b.Running() {
			t.Errorf("container %s is new, or does not run", b.Name())
		}
	}
	if made := n.story.of("create", "main"); len(made) != 3 {
		t.Errorf("%d containers were made for three pods", len(made))
	}
}

// oneAfterTheOther checks that of a pod's two containers called main the old one
// had its grace and was gone when the new one started.
func (n *node) oneAfterTheOther(old string, grace time.Duration) {
	n.Helper()
	n.await("the engine to have told of both starts", func() error { return atLeast(2, n.story.of("start", "main")) })
	var asked, died, came time.Time
	for _, a := range n.story.all() {
		switch {
		case a.Container != "main":
		case a.Action == "kill" && a.ID == old && asked.IsZero():
			asked = a.At
		case a.Action == "die" && a.ID == old:
			died = a.At
		case a.Action == "start" && a.ID != old:
			came = a.At
		}
	}
	if died.IsZero() || came.Before(died) {
		n.Errorf("the old container ended at %s, the new one started at %s", died, came)
	}
	if had := died.Sub(asked); had < grace {
		n.Errorf("the old container was left %s of its grace of %s", had, grace)
	}
}
