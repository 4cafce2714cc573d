//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
)

// three is a node with a source of each kind.
type three struct {
	*node
	board *board
	page  *door // before the board
	repo  *repository
	git   *door // before the repository
}

// threeKinds is a node whose folder comes first, then a URL, then a repository.
// The agent is started by the test; none of the three holds anything yet.
func threeKinds(t *testing.T) *three {
	t.Helper()
	k := &three{node: newNode(t), board: &board{}, repo: newRepository(t)}
	k.page = open(t, k.board)
	git, url := k.repo.serve()
	k.git = git
	k.configure(listed(k.folderSource("local"),
		"- name: page\n  interval: 1s\n  http: {url: "+k.page.url+"}\n",
		"- name: fleet\n  interval: 1s\n  git: {url: "+url+", paths: [pods]}\n"))
	return k
}

func (n *node) folderSource(name string) string {
	return "- name: " + name + "\n  file: {path: " + n.manifests + "}\n"
}

// told is a pod that says from where it comes.
func told(name, from string) string {
	return pod(name, "containers:", run1("main", idle, "env: [{name: FROM, value: "+quote(from)+"}]"))
}

// from reports that a ready pod comes from there.
func from(place string) func(v1.Pod) bool {
	return func(p v1.Pod) bool { return ready(p) && p.Spec.Containers[0].Env[0].Value == place }
}

const emptyList = "apiVersion: v1\nkind: List\nitems: []\n"

// Of one name in three sources the first one's pod runs; the others are shown
// with their places, and take over one after the other.
func TestSourcesTakeOverInTheirOrder(t *testing.T) {
	t.Parallel()
	k := threeKinds(t)
	k.put("lamp.yaml", told("lamp", "local"))
	k.board.write(told("lamp", "page") + "---\n" + told("kettle", "page"))
	k.repo.put("pods/lamp.yaml", told("lamp", "fleet"))
	k.repo.put("pods/toaster.yaml", told("toaster", "fleet"))
	commit := k.repo.push("first")
	k.start()
	k.awaitPod("lamp", "of the folder", from("local"))
	k.awaitPod("kettle", "of the URL", from("page"))
	k.awaitPod("toaster", "of the repository", from("fleet"))
	k.awaitSource("fleet", "to be at the commit", at(commit))
	for _, name := range []string{"page", "fleet"} {
		k.awaitSource(name, "to show its loser", func(s api.Source) bool {
			return len(s.Losers) == 1 && s.Losers[0].Name == "default/"+k.full("lamp") && strings.Contains(s.Losers[0].Winner, "local")
		})
	}
	others := [2]string{k.box("kettle", "main").ID, k.box("toaster", "main").ID}
	k.law()

	k.drop("lamp.yaml")
	k.awaitPod("lamp", "to come from the URL", from("page"))
	k.law()
	k.board.write(told("kettle", "page"))
	k.awaitPod("lamp", "to come from the repository", from("fleet"))
	if now := [2]string{k.box("kettle", "main").ID, k.box("toaster", "main").ID}; now != others {
		t.Error("pods of other names were restarted")
	}
}

// What is not a set of manifests changes nothing, and a server that never
// answers holds up nobody else.
func TestABrokenSourceDelaysNoOther(t *testing.T) {
	t.Parallel()
	k := threeKinds(t)
	silence := open(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	k.configure(listed("- name: silence\n  http: {url: "+silence.url+"}\n", k.folderSource("local"),
		"- name: page\n  interval: 1s\n  http: {url: "+k.page.url+"}\n"))
	k.put("lamp.yaml", told("lamp", "local"))
	k.board.write(told("kettle", "page"))
	k.start()
	k.awaitPod("lamp", "of the folder", from("local"))
	k.awaitPod("kettle", "of the URL", from("page"))
	id := k.box("kettle", "main").ID
	for _, text := range []string{"", "<html>please log in</html>", "---\n", "kind: Pod\nspec: {\n"} {
		k.board.write(text)
		k.awaitSource("page", "to say that it is no set", func(s api.Source) bool { return s.State == api.SourceError })
		if now := k.box("kettle", "main").ID; now != id {
			t.Errorf("%q changed the pod", text)
		}
		k.board.write(told("kettle", "page"))
		k.awaitSource("page", "to be well again", func(s api.Source) bool { return s.State == api.SourceReady })
	}
	k.drop("lamp.yaml")
	k.board.write(emptyList)
	k.awaitGone("kettle")
}

// Run-once runs what all sources say, with their objects, and names a source
// that does not answer.
func TestRunOnceOfAllKindsOfSources(t *testing.T) {
	t.Parallel()
	k := threeKinds(t)
	k.put("lamp.yaml", told("lamp", "local"))
	k.board.write(told("kettle", "page"))
	k.repo.put("pods/toaster.yaml", configMap("toaster", "it", "toast")+"---\n"+
		pod("toaster", "restartPolicy: Never", "containers:", run1("main", "test $IT = toast", envFrom("IT", "toaster", "it"))))
	k.repo.push("first")
	k.wantCode(k.once(), 0, k.full("lamp"), "Running", k.full("kettle"), k.full("toaster"), "Completed")
	k.awaitEnded("toaster")
	ids := k.ids()
	k.wantCode(k.once(), 0)
	if again := k.ids(); !slices.Equal(again, ids) {
		t.Errorf("the second run changed\n%v to\n%v", ids, again)
	}
}

// SIGHUP reads the configuration again: sources come, go and change their names,
// and the pods of the others run on.
func TestSourcesComeAndGoWithSIGHUP(t *testing.T) {
	t.Parallel()
	k := threeKinds(t)
	_, url := k.repo.serve()
	page := "- name: page\n  interval: 1s\n  http: {url: " + k.page.url + "}\n"
	fleet := func(name string) string {
		return "- name: " + name + "\n  interval: 1s\n  git: {url: " + url + ", paths: [pods]}\n"
	}
	reload := func(sources ...string) {
		t.Helper()
		k.configure(listed(sources...))
		k.must(k.agent.Signal(syscall.SIGHUP))
	}
	k.put("lamp.yaml", told("lamp", "local"))
	k.board.write(told("kettle", "page"))
	k.repo.put("pods/toaster.yaml", told("toaster", "fleet"))
	k.repo.push("first")
	k.configure(listed(k.folderSource("local"), page))
	k.start()
	k.awaitPod("lamp", "of the folder", from("local"))
	k.awaitPod("kettle", "of the URL", from("page"))
	lamp := k.box("lamp", "main").ID

	reload(k.folderSource("local"), page, fleet("fleet"))
	k.awaitPod("toaster", "of the new source", from("fleet"))
	toaster := k.box("toaster", "main").ID

	reload(k.folderSource("local"), fleet("fleet"))
	k.awaitGone("kettle")

	reload(k.folderSource("local"), fleet("garden"))
	k.awaitSource("garden", "to be ready", func(s api.Source) bool { return s.State == api.SourceReady && s.Pods == 1 })
	k.await("the old name to be gone", func() error {
		if s, err := k.source("fleet"); err == nil {
			return fmt.Errorf("it is %+v", s)
		}
		return nil
	})
	k.awaitPod("toaster", "of the renamed source", from("fleet"))

	reload("- name: broken\n")
	k.await("the fault to be shown", func() error {
		if o := k.run("status"); o.code == 0 || !strings.Contains(o.out, "sources[0]") {
			return fmt.Errorf("status exits with %d and says\n%s", o.code, o.out)
		}
		return nil
	})
	reload(k.folderSource("local"), fleet("garden"))
	k.awaitStatus(0, "")
	if k.box("lamp", "main").ID != lamp || k.box("toaster", "main").ID != toaster {
		t.Error("a pod was restarted whose manifest did not change")
	}
}

// After a power cut, with every server down, a machine runs what it ran: pods
// and their objects.
func TestABootWithEverySourceDown(t *testing.T) {
	t.Parallel()
	k := threeKinds(t)
	k.configure(listed("- name: page\n  interval: 1s\n  http: {url: "+k.page.url+"}\n",
		"- name: fleet\n  interval: 1s\n  git: {url: "+k.git.url+"/fleet.git, paths: [pods]}\n"))
	k.board.write(secret("key", "word", "hush") + "---\n" + pod("kettle", "volumes:", "- {name: v, secret: {secretName: key}}",
		"containers:", run1("main", idle, mount("v", "/v"))))
	k.repo.put("pods/toaster.yaml", configMap("toaster", "it", "toast")+"---\n"+
		pod("toaster", "containers:", run1("main", "echo it is $IT; "+idle, envFrom("IT", "toaster", "it"))))
	commit := k.repo.push("first")
	k.start()
	k.awaitReady("kettle")
	k.awaitReady("toaster")

	k.page.shut.Store(true)
	k.git.shut.Store(true)
	_, _ = k.end(syscall.SIGKILL) // by that signal
	for _, b := range k.boxes("") {
		k.must(k.engine.remove(b.ID))
	}
	k.start()
	k.awaitReady("kettle")
	k.awaitReady("toaster")
	k.awaitFile("kettle", "main", "/v/word", "hush")
	if text := k.logs("toaster", "main"); text != "it is toast\n" {
		t.Errorf("the variable's user says %q", text)
	}
	k.awaitSource("fleet", "to be marked as last good", func(s api.Source) bool {
		return !s.Live && s.Attempted && covers(s.Revision, commit)
	})
	k.law()

	k.page.shut.Store(false)
	k.git.shut.Store(false)
	k.awaitSource("fleet", "to be heard again", at(commit))
	k.awaitSource("page", "to be heard again", func(s api.Source) bool { return s.State == api.SourceReady })
	k.awaitStatus(0, "")
}

// What a repository's pods may not do holds its commit back, with the word that
// would let them; the same words let them.
func TestARepositoryMayNotRuleTheNode(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	repo := newRepository(t)
	_, url := repo.serve()
	fleet := func(more string) string {
		return listed("- name: fleet\n  interval: 1s\n  git: {url: " + url + "}\n" + more)
	}
	repo.put("lamp.yaml", lamp("lamp"))
	first := repo.push("first")
	n.configure(fleet(""))
	n.start()
	n.awaitReady("lamp")

	repo.put("lamp.yaml", lamp("lamp", "volumes: [{name: v, hostPath: {path: "+n.root+"}}]"))
	second := repo.push("look at the node's own folder")
	n.awaitSource("fleet", "to refuse a hostPath", faulty(first, "lamp.yaml:", "edge", "policy: privileged"))
	n.configure(fleet("  policy: privileged\n"))
	n.awaitSource("fleet", "to refuse that hostPath", faulty(first, "lamp.yaml:", "allowNodeControl"))
	if p := n.awaitReady("lamp"); len(p.Spec.Volumes) > 0 {
		t.Errorf("the pod that runs is the refused one: %v", p.Spec.Volumes)
	}
	n.configure(fleet("  policy: privileged\n  allowNodeControl: true\n"))
	n.awaitSource("fleet", "to be at the second commit", at(second))
	n.awaitPod("lamp", "to be replaced", func(p v1.Pod) bool { return ready(p) && len(p.Spec.Volumes) == 1 })
}
