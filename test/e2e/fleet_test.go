//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/test/rig"
)

// fleet is examples/fleet in a repository, and a node for each of its three.
type fleet struct {
	*repository
	gate, yard, roof *member
}

// member is a node of the fleet and the way by which it reaches the repository.
type member struct {
	*node
	door *door
}

// newFleet copies the example, with the test's node names for edge-1 to edge-3.
// Agents are started by the test.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{repository: newRepository(t)}
	f.must(os.CopyFS(f.folder, os.DirFS("../../examples/fleet")))
	f.drop("local")
	f.gate, f.yard, f.roof = f.member("1"), f.member("2"), f.member("3")
	f.yard.flags = append(f.yard.flags, "--node-labels", "site=yard")
	return f
}

// member makes a node of the example's edge-<number>, configured as its users do.
func (f *fleet) member(number string) *member {
	f.Helper()
	n := newNodeOn(f.T, rig.Socket, "-"+number)
	f.must(os.Rename(filepath.Join(f.folder, "nodes", "edge-"+number), filepath.Join(f.folder, "nodes", n.name)))
	door, url := f.serve()
	text, err := os.ReadFile("../../examples/fleet/podstead.yaml")
	f.must(err)
	for old, new := range map[string]string{
		"https://git.example.org/fleet.git": url,
		"/etc/podstead/manifests":           n.manifests,
		"interval: 1m":                      "interval: 1s",
	} {
		if !strings.Contains(string(text), old) {
			f.Fatalf("podstead.yaml holds no %s", old)
		}
		text = []byte(strings.ReplaceAll(string(text), old, new))
	}
	n.configure(string(text))
	return &member{node: n, door: door}
}

func (f *fleet) members() []*member { return []*member{f.gate, f.yard, f.roof} }

// page is what the pod "site" of a node answers.
func (m *member) page() string {
	m.Helper()
	address := m.inspect(m.box("site", rig.Pause).ID).Address()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + address + "/")
	m.must(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	m.must(err)
	return strings.TrimSpace(string(text))
}

// inside is a file as a container's process sees it, "" when that has ended.
func inside(pid int, path string) string {
	text, err := fs.ReadFile(os.DirFS(fmt.Sprintf("/proc/%d/root", pid)), strings.TrimPrefix(path, "/"))
	if err != nil {
		return ""
	}
	return string(text)
}

// awaitRelease waits until a node runs the n-th release of the page.
func (m *member) awaitRelease(n int) {
	m.Helper()
	image := fmt.Sprintf("podstead-test/busybox:%d", n)
	m.awaitPod("site", "to run "+image, func(p v1.Pod) bool {
		return ready(p) && p.Spec.Containers[0].Image == image
	})
	m.await("the page", func() error {
		if text := m.page(); text != fmt.Sprintf("version %d of the page", n) {
			return fmt.Errorf("it is %q", text)
		}
		return nil
	})
}

// release makes the page's ConfigMap and image another, in one commit.
func (f *fleet) release(from, to int) string {
	f.Helper()
	f.edit("shared/site.yaml", fmt.Sprintf("version %d of", from), fmt.Sprintf("version %d of", to))
	f.edit("shared/site.yaml", fmt.Sprintf("busybox:%d", from), fmt.Sprintf("busybox:%d", to))
	return f.push(fmt.Sprintf("page %d", to))
}

// up starts all three nodes on the first commit.
func (f *fleet) up() (commit string) {
	f.Helper()
	commit = f.push("first")
	for _, m := range f.members() {
		m.start()
	}
	for m, own := range map[*member][]string{f.gate: {}, f.yard: {"camera", "pump"}, f.roof: {"meter"}} {
		for _, name := range append(own, "site", "telemetry") {
			m.awaitReady(name)
		}
	}
	return commit
}

// The example's three nodes run what is theirs, with what is theirs.
func TestAFleetRunsWhatIsEachNodes(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	commit := f.up()
	for m, where := range map[*member]string{f.gate: "the gate", f.yard: "the yard", f.roof: "the roof"} {
		m.awaitSource("fleet", "to be at the commit", at(commit))
		if text := m.logs("telemetry", "agent"); !strings.Contains(text, "every 30s to https://telemetry.example.org from "+where) {
			m.Errorf("telemetry says %q", text)
		}
	}
	f.yard.await("the camera to read its settings", func() error {
		if text := f.yard.logs("camera", "camera"); !strings.Contains(text, "640x480") {
			return fmt.Errorf("it says %q", text)
		}
		return nil
	})
	for _, m := range []*member{f.gate, f.roof} {
		if pods, err := m.pods("camera"); err != nil || len(pods) > 0 {
			m.Errorf("a node that is not in the yard shows its camera: %v, %v", pods, err)
		}
	}

	// The door's password is the node's own; until it is there the pod waits.
	f.gate.awaitPod("door", "to wait for its secret", waits("door", "ContainerCreating", ""))
	text, err := os.ReadFile("../../examples/fleet/local/door.yaml")
	f.must(err)
	f.gate.put("door.yaml", string(text))
	f.gate.awaitReady("door")
}

// Two nodes lose the network; a commit meanwhile; one of them is killed and
// starts anew; both come back.
func TestAFleetOfWhichTwoNodesAreOffline(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	first := f.up()
	before := map[*member][]string{f.yard: f.yard.ids(), f.roof: f.roof.ids()}
	for m := range before {
		m.door.shut.Store(true)
	}
	old := f.gate.inspect(f.gate.box("site", "httpd").ID).State.Pid
	second := f.release(1, 2)
	f.gate.awaitPod("site", "to run the new image", func(p v1.Pod) bool {
		if strings.Contains(inside(old, "/site/index.html"), "version 2") {
			t.Error("the old pod was shown the new file")
		}
		return ready(p) && p.Spec.Containers[0].Image == image2
	})
	f.gate.awaitRelease(2)
	f.gate.awaitSource("fleet", "to be at the second commit", at(second))

	for m := range before {
		m.awaitSource("fleet", "to say that the server is away", faulty(first))
	}
	if _, err := f.roof.end(syscall.SIGKILL); err == nil {
		t.Error("a killed agent ends well")
	}
	f.roof.start()
	away := f.roof.awaitSource("fleet", "to run on with its last good set", func(s api.Source) bool {
		return s.Attempted && !s.Live && covers(s.Revision, first) && s.Pods == 3
	})
	if o := f.roof.run("get", "sources"); !strings.Contains(o.out, "LastGood") {
		t.Errorf("get sources does not mark the last good set of %+v:\n%s", away, o.out)
	}
	for m, ids := range before {
		m.law()
		if after := m.ids(); !slices.Equal(after, ids) {
			m.Errorf("offline, its containers became\n%v, before\n%v", after, ids)
		}
	}

	for m := range before {
		m.door.shut.Store(false)
	}
	for m := range before {
		m.awaitSource("fleet", "to be at the second commit", at(second))
		m.awaitRelease(2)
	}
}

// A commit that would empty a node is held there until it is allowed, and on no
// other node.
func TestAFleetHoldsARemoval(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.drop("nodes/" + f.gate.name + "/door.yaml")
	first := f.up()
	ids := f.gate.ids()
	f.drop("shared/site.yaml")
	f.drop("shared/telemetry.yaml")
	second := f.push("away with it all")
	f.gate.awaitSource("fleet", "to hold the removal", func(s api.Source) bool {
		return s.State == api.SourceHeld && covers(s.Revision, first)
	})
	f.roof.awaitGone("site")
	f.roof.awaitGone("telemetry")
	f.roof.awaitReady("meter")
	if after := f.gate.ids(); !slices.Equal(after, ids) {
		t.Errorf("held, its containers became\n%v, before\n%v", after, ids)
	}
	if o := f.gate.run("get", "sources"); !strings.Contains(o.out, "RemovalHeld") {
		t.Errorf("get sources does not say what is held:\n%s", o.out)
	}
	if o := f.gate.run("sync", "fleet"); o.code == 0 {
		t.Errorf("a sync that is not allowed to remove is well:\n%s", o.out)
	}
	f.gate.law()
	if o := f.gate.run("sync", "--allow-removal", "fleet"); o.code != 0 {
		t.Errorf("sync --allow-removal exits with %d:\n%s%s", o.code, o.out, o.err)
	}
	f.gate.awaitGone("site")
	f.gate.awaitGone("telemetry")
	f.gate.awaitSource("fleet", "to be at the second commit", at(second))

	// A commit may say itself that it is meant, to every node.
	for _, file := range []string{"shared/site.yaml", "shared/telemetry.yaml"} {
		text, err := os.ReadFile("../../examples/fleet/" + file)
		f.must(err)
		f.put(file, string(text))
	}
	f.push("all back")
	f.gate.awaitReady("site")
	f.gate.awaitReady("telemetry")
	f.drop("shared/site.yaml")
	f.drop("shared/telemetry.yaml")
	last := f.push("away with it all\n\nPodstead-Allow-Removal: yes")
	f.gate.awaitSource("fleet", "to be at the last commit", at(last))
	f.gate.awaitGone("site")
	f.gate.awaitGone("telemetry")
}

// A commit with a fault in what one node reads is held back there as a whole,
// visibly; the others take it.
func TestAFleetHoldsABrokenCommitBack(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	first := f.up()
	f.edit("nodes/"+f.roof.name+"/meter.yaml", "image:", "imag:")
	second := f.release(1, 2)
	f.gate.awaitRelease(2)
	f.yard.awaitSource("fleet", "to be at the second commit", at(second))
	f.roof.awaitSource("fleet", "to name the fault", faulty(first, "nodes/"+f.roof.name+"/meter.yaml:", "imag"))
	if text := f.roof.page(); text != "version 1 of the page" {
		t.Errorf("the page of the held commit is %q", text)
	}
	if o := f.roof.run("status"); o.code != 1 || !strings.Contains(o.out, "meter.yaml:") {
		t.Errorf("status exits with %d and says\n%s", o.code, o.out)
	}
	f.edit("nodes/"+f.roof.name+"/meter.yaml", "imag:", "image:")
	third := f.push("mend it")
	f.roof.awaitSource("fleet", "to be at the third commit", at(third))
	f.roof.awaitRelease(2)
}
