//go:build e2e

package e2e

import (
	"errors"
	"os"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// B01: what vim does when it saves is one replacement, with no removal between.
func TestVimSavesOnce(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	before := n.awaitReady("lamp")

	file, backup, swap := n.path("lamp.yaml"), n.path("lamp.yaml~"), n.path(".lamp.yaml.swp")
	changed := pod("lamp", "containers:", run1("main", idle, "env: [{name: SAVED, value: \"yes\"}]"))
	n.must(os.WriteFile(swap, []byte{0, 1, 2}, 0o600))
	n.must(os.WriteFile(n.path("4913"), nil, 0o600))
	n.must(os.Remove(n.path("4913")))
	n.must(os.Rename(file, backup))
	n.must(os.WriteFile(file, []byte(changed), 0o600))
	n.must(os.Remove(backup))
	n.must(os.Remove(swap))

	n.awaitNew(before, "lamp")
	if uids := uidsOf(n.story.of("create", "POD")); len(uids) != 2 {
		t.Errorf("one save made these pods: %v", uids)
	}
	if log := n.log(); strings.Contains(log, "ManifestRemoved") {
		t.Error("the save was taken for a removal")
	}
}

// uidsOf lists the pods that acts concern, each once.
func uidsOf(acts []rig.Event) []string {
	var uids []string
	seen := map[string]bool{}
	for _, a := range acts {
		if !seen[a.UID] {
			seen[a.UID] = true
			uids = append(uids, a.UID)
		}
	}
	return uids
}

// B05: a tool's temporary file is the pod that it becomes when it is renamed;
// the port is never fought over.
func TestATemporaryFileBecomesTheManifest(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	port := freePort(t)
	wheel := func(image string) string {
		return pod("wheel", "containers:", runIn(image, "main", serve, hostPort(port, "")))
	}
	save := func(image string, old v1.Pod) v1.Pod {
		t.Helper()
		n.must(os.WriteFile(n.path("__wheel.tmp8271.yaml"), []byte(wheel(image)), 0o600))
		n.await("the temporary file to be taken up", func() error {
			pods, err := n.pods("wheel")
			for _, p := range pods {
				if p.UID != old.UID {
					return nil
				}
			}
			return errors.Join(errors.New("no new pod"), err)
		})
		n.must(os.Rename(n.path("__wheel.tmp8271.yaml"), n.path("wheel.yaml")))
		return n.awaitNew(old, "wheel")
	}
	first := save(image1, v1.Pod{})
	n.awaitServed(port, "1")
	save(image2, first)
	n.awaitServed(port, "2")
	if made := n.story.of("create", "POD"); len(made) != 2 {
		t.Errorf("two contents made %d sandboxes", len(made))
	}
	if boxes := n.boxes(""); len(boxes) != 2 {
		t.Errorf("beside the pod's two containers there are others: %v", boxes)
	}
}

// B13: a deleted manifest ends its pod, though another source has never spoken.
func TestADeletedManifestEndsItsPod(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.flags = []string{"--pod-manifest-path", n.dir + "/never-there"}
	n.start()
	n.put("lamp.yaml", lamp("lamp"))
	n.awaitReady("lamp")
	n.drop("lamp.yaml")
	n.awaitGone("lamp")
	if signals := n.story.of("kill", "main"); len(signals) != 1 || signals[0].Signal != "9" {
		t.Errorf("a grace of 0 is one KILL, not %+v", signals)
	}
}
