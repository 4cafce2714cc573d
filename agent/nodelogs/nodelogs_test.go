package nodelogs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// disk is a machine's: an engine's files, and the folders of links.
type disk struct {
	*testing.T
	dir string
}

func newDisk(t *testing.T) *disk {
	d := &disk{T: t, dir: t.TempDir()}
	d.must(os.MkdirAll(filepath.Join(d.dir, "engine"), 0o700))
	return d
}

func (d *disk) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// life is a new life of the agent of a node.
func (d *disk) life(owner string) *NodeLogs {
	return New(Config{Pods: d.path("pods"), Containers: d.path("containers"), Owner: owner})
}

func (d *disk) path(parts ...string) string {
	return filepath.Join(append([]string{d.dir}, parts...)...)
}

// log is an instance of a container that has written.
func (d *disk) log(container string, attempt int, id string) Log {
	d.Helper()
	path := d.path("engine", id, id+"-json.log")
	d.must(os.MkdirAll(filepath.Dir(path), 0o700))
	d.must(os.WriteFile(path, []byte("{}\n"), 0o600))
	return Log{Container: container, Attempt: attempt, ID: id, Path: path}
}

// gone removes a container, as the engine does.
func (d *disk) gone(log Log) {
	d.Helper()
	d.must(os.RemoveAll(filepath.Dir(log.Path)))
}

// put makes a file or, with a target, a link.
func (d *disk) put(path, target string) {
	d.Helper()
	d.must(os.MkdirAll(filepath.Dir(d.path(path)), 0o755))
	if target == "" {
		d.must(os.WriteFile(d.path(path), nil, 0o600))
		return
	}
	d.must(os.Symlink(target, d.path(path)))
}

// links are all links below the disk's folders, marks left out, by path.
func (d *disk) links() map[string]string {
	d.Helper()
	found := map[string]string{}
	d.must(filepath.WalkDir(d.dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type() == fs.ModeSymlink && entry.Name() != markName {
			target, err := os.Readlink(path)
			d.must(err)
			found[strings.TrimPrefix(path, d.dir+"/")] = strings.TrimPrefix(target, d.dir+"/")
		}
		return err
	}))
	return found
}

func (d *disk) wants(links map[string]string) {
	d.Helper()
	if got := d.links(); !maps.Equal(got, links) {
		d.Errorf("links\n%s\nwant\n%s", show(got), show(links))
	}
}

func show(links map[string]string) string {
	var lines strings.Builder
	for path, target := range links {
		fmt.Fprintf(&lines, "  %s -> %s\n", path, target)
	}
	return lines.String()
}

// wantsNoFolders: what no link needs any more is gone.
func (d *disk) wantsNoFolders() {
	d.Helper()
	entries, err := os.ReadDir(d.path("pods"))
	if err != nil || len(entries) > 0 {
		d.Errorf("left: %v, %v", entries, err)
	}
}

var web = Pod{Namespace: "default", Name: "web-n1", UID: "0123456789abcdef0123456789abcdef"}

const (
	webDir = "pods/default_web-n1_0123456789abcdef0123456789abcdef/"
	webCut = "containers/web-n1_default_"
)

func TestLinksAreWhereAKubeletHasThem(t *testing.T) {
	d := newDisk(t)
	n := d.life("node-1")
	main, side := d.log("main", 0, "c1"), d.log("side", 3, "c2")
	d.must(n.Show(web, []Log{main, side}))
	both := map[string]string{
		webDir + "main/0.log":  "engine/c1/c1-json.log",
		webDir + "side/3.log":  "engine/c2/c2-json.log",
		webCut + "main-c1.log": webDir + "main/0.log",
		webCut + "side-c2.log": webDir + "side/3.log",
	}
	d.wants(both)
	for path, mode := range map[string]fs.FileMode{"pods": 0o750, "containers": 0o755, webDir: 0o755, webDir + "main": 0o755} {
		info, err := os.Stat(d.path(path))
		d.must(err)
		if info.Mode().Perm() != mode {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), mode)
		}
	}

	// A dead instance keeps its log beside its successor's, and loses it with itself.
	again := d.log("main", 1, "c3")
	d.must(n.Show(web, []Log{again, main, side}))
	d.gone(main)
	d.must(n.Show(web, []Log{again, side}))
	delete(both, webDir+"main/0.log")
	delete(both, webCut+"main-c1.log")
	both[webDir+"main/1.log"], both[webCut+"main-c3.log"] = "engine/c3/c3-json.log", webDir+"main/1.log"
	d.wants(both)

	d.gone(again)
	d.gone(side)
	d.must(n.Hide(web))
	d.must(n.Hide(web))
	d.wants(map[string]string{})
	d.wantsNoFolders()
}

// What the engine makes anew under the number of one that is gone takes its place.
func TestANumberIsUsedAgain(t *testing.T) {
	d := newDisk(t)
	n := d.life("node-1")
	old := d.log("main", 0, "c1")
	d.must(n.Show(web, []Log{old}))
	d.gone(old)
	d.must(n.Show(web, []Log{d.log("main", 0, "c2")}))
	d.wants(map[string]string{webDir + "main/0.log": "engine/c2/c2-json.log", webCut + "main-c2.log": webDir + "main/0.log"})
}

// What the engine has not written, or has removed by now, gets no link and is no
// error; an engine whose files are elsewhere is one.
func TestFilesThatAreNotThere(t *testing.T) {
	d := newDisk(t)
	n := d.life("node-1")
	main, none := d.log("main", 0, "c1"), Log{Container: "side", ID: "c2", Path: d.path("engine", "c2", "c2-json.log")}
	d.must(n.Show(web, []Log{main, none}))
	d.wants(map[string]string{webDir + "main/0.log": "engine/c1/c1-json.log", webCut + "main-c1.log": webDir + "main/0.log"})

	far := Log{Container: "main", ID: "c3", Path: d.path("elsewhere", "c3", "c3-json.log")}
	if err := n.Show(Pod{Namespace: "default", Name: "db-n1", UID: "u2"}, []Log{far}); !errors.Is(err, ErrUnseen) {
		t.Errorf("got %v", err)
	}
}

// Links stay over a restart of the agent; what became stale meanwhile goes.
func TestALaterLifeFindsItsLinks(t *testing.T) {
	d := newDisk(t)
	main, old, lost := d.log("main", 1, "c1"), d.log("main", 0, "c0"), d.log("main", 0, "c9")
	n := d.life("node-1")
	db := Pod{Namespace: "default", Name: "db-n1", UID: "fedcba9876543210fedcba9876543210"}
	d.must(n.Show(web, []Log{main, old}))
	d.must(n.Show(db, []Log{lost}))

	// The agent is killed; a container is pruned; of the other pod not even a record is left.
	d.gone(old)
	d.gone(lost)
	n = d.life("node-1")
	d.must(n.Sweep(func(uid string) bool { return uid == web.UID }))
	d.must(n.Show(web, []Log{main}))
	want := map[string]string{webDir + "main/1.log": "engine/c1/c1-json.log", webCut + "main-c1.log": webDir + "main/1.log"}
	d.wants(want)
	if entries, _ := os.ReadDir(d.path("pods")); len(entries) != 1 {
		t.Errorf("left: %v", entries)
	}

	// The container goes between the sweep and the first look at its pod.
	n = d.life("node-1")
	d.must(n.Sweep(func(uid string) bool { return uid == web.UID }))
	d.gone(main)
	d.must(n.Show(web, nil))
	d.wants(map[string]string{})
	d.wantsNoFolders()
}

// Folders and links of a kubelet and of other agents are left as they are, dead
// links too, and so is what somebody has put into a folder of ours.
func TestWhatIsNotOursIsLeftAlone(t *testing.T) {
	d := newDisk(t)
	const kubelets = "pods/kube-system_etcd_11111111-2222-3333-4444-555555555555/"
	d.put(kubelets+"etcd/0.log", "")
	d.put(kubelets+"etcd/1.log", "/nowhere/1.log")
	d.put("containers/etcd_kube-system_etcd-e1.log", d.path(kubelets+"etcd/0.log"))
	d.put("containers/etcd_kube-system_etcd-e2.log", d.path(kubelets+"etcd/1.log"))
	d.put("containers/notes.txt", "")
	other := d.life("node-2")
	theirs := Pod{Namespace: "default", Name: "web-n2", UID: "22222222222222222222222222222222"}
	pruned := d.log("main", 0, "t1")
	d.must(other.Show(theirs, []Log{pruned}))
	d.gone(pruned)
	before := d.links()

	n := d.life("node-1")
	none := func(string) bool { return false }
	d.must(n.Sweep(none))
	d.wants(before)

	main := d.log("main", 0, "c1")
	d.must(n.Show(web, []Log{main}))
	d.put(webDir+"main/0.log.gz", "")
	d.gone(main)
	d.must(n.Hide(web))
	d.wants(before)
	if _, err := os.Stat(d.path(webDir, "main/0.log.gz")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.path(kubelets, "etcd/0.log")); err != nil {
		t.Error(err)
	}
}

// A node that lost its root-dir makes the same pods under the same UIDs, beside
// those of its old id, whose logs are alive.
func TestATwinKeepsItsLinks(t *testing.T) {
	d := newDisk(t)
	old, lost := d.life("node-0"), d.log("main", 0, "b1")
	d.must(old.Show(web, []Log{lost}))
	theirs := map[string]string{webDir + "main/0.log": "engine/b1/b1-json.log", webCut + "main-b1.log": webDir + "main/0.log"}

	n, main := d.life("node-1"), d.log("main", 0, "c1234567890abcdef")
	d.must(n.Sweep(func(string) bool { return true }))
	d.must(n.Show(web, []Log{main}))
	both := maps.Clone(theirs)
	both[webDir+"main/0-c1234567890a.log"] = "engine/c1234567890abcdef/c1234567890abcdef-json.log"
	both[webCut+"main-c1234567890abcdef.log"] = webDir + "main/0-c1234567890a.log"
	both[webCut+"main-b1.log"] = webDir + "main/0.log"
	d.wants(both)
	d.gone(main)
	d.must(n.Hide(web))
	d.wants(theirs)
}

// A kubelet on the same machine removes what it does not know; it is put back.
func TestRestore(t *testing.T) {
	d := newDisk(t)
	n := d.life("node-1")
	main := d.log("main", 0, "c1")
	d.must(n.Show(web, []Log{main}))
	want := d.links()
	if made, err := n.Restore(); made != 0 || err != nil {
		t.Errorf("%d made, %v, though nothing was missing", made, err)
	}
	d.must(os.RemoveAll(d.path(webDir)))
	d.must(n.Show(web, []Log{main})) // looks at nothing: it is as it was
	if made, err := n.Restore(); made != 1 || err != nil {
		t.Errorf("%d made, %v, want 1", made, err)
	}
	d.wants(want)
}

// A disk that takes nothing is an error once for each try, and is overcome.
func TestADiskThatTakesNothing(t *testing.T) {
	d := newDisk(t)
	n := d.life("node-1")
	main := d.log("main", 0, "c1")
	d.put("pods", "") // a file in the place of the folder
	if err := n.Show(web, []Log{main}); err == nil || !strings.Contains(err.Error(), "default/web-n1") {
		t.Errorf("got %v", err)
	}
	if err := n.Hide(web); err == nil {
		t.Error("what cannot be looked into is said to be clear")
	}
	d.must(os.Remove(d.path("pods")))
	d.must(n.Show(web, []Log{main}))
	d.wants(map[string]string{webDir + "main/0.log": "engine/c1/c1-json.log", webCut + "main-c1.log": webDir + "main/0.log"})
}

// Names that a disk would not take are cut so that readers still find what counts.
func TestLongNames(t *testing.T) {
	d := newDisk(t)
	n := d.life("node-1")
	long := Pod{Namespace: strings.Repeat("n", 63), Name: strings.Repeat("p", 253), UID: web.UID}
	log := d.log(strings.Repeat("c", 63), 0, strings.Repeat("e", 64))
	d.must(n.Show(long, []Log{log}))
	for path := range d.links() {
		name := filepath.Base(path)
		if strings.HasPrefix(path, "containers/") && (len(name) != 255 || !strings.HasSuffix(name, "-"+log.ID+".log") || !strings.HasPrefix(name, "pppp")) {
			t.Errorf("%d bytes: %s", len(name), name)
		}
	}
	d.gone(log)
	d.must(n.Hide(long))
	d.wantsNoFolders()
}

// A link in the place of a folder leads nobody out of the folder of logs.
func TestNoLinkLeadsOut(t *testing.T) {
	d := newDisk(t)
	d.must(os.Mkdir(d.path("etc"), 0o700))
	d.put("etc/dead.log", "/nowhere")
	d.put(strings.TrimSuffix(webDir, "/"), d.path("etc"))
	n := d.life("node-1")
	if err := n.Show(web, []Log{d.log("main", 0, "c1")}); err == nil {
		t.Error("it went through")
	}
	_ = n.Hide(web) // it cannot be looked into
	if entries, err := os.ReadDir(d.path("etc")); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
