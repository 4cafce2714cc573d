package sources

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// B01: what vim does when it saves is one update, and nothing it leaves around
// becomes a pod.
func TestVimSaves(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "old"))
	r.start(watchOnly)
	r.await("lamp", runs("lamp-n1", "old"))

	r.must(os.WriteFile(r.path(".lamp.yaml.swp"), []byte{0, 1, 2, 'b', '0'}, 0o600))
	r.must(os.WriteFile(r.path("4913"), nil, 0o644))
	r.must(os.Remove(r.path("4913")))
	r.must(os.Rename(r.path("lamp.yaml"), r.path("lamp.yaml~")))
	r.must(os.WriteFile(r.path("lamp.yaml"), []byte(manifest("lamp", "new")), 0o644))
	r.must(os.Remove(r.path("lamp.yaml~")))
	r.must(os.Remove(r.path(".lamp.yaml.swp")))

	r.await("the new lamp", runs("lamp-n1", "new"))
	r.flush()
	r.wantChanges("ADD lamp-n1", "REMOVE lamp-n1", "ADD lamp-n1")
	if n := len(r.last.Units); n != 1 {
		t.Errorf("%d units, want 1: %s", n, describe(r.last))
	}
}

// B01, B05: a file that is unlinked and created again was never removed.
func TestReplacedByUnlinkAndCreate(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "on"))
	r.start(watchOnly)
	r.await("lamp", pods("lamp-n1").exactly)
	for range 5 {
		r.remove("lamp.yaml")
		r.must(os.WriteFile(r.path("lamp.yaml"), []byte(manifest("lamp", "on")), 0o644))
	}
	r.flush()
	r.wantChanges("ADD lamp-n1")
}

// B02: only names of manifests count, and of two manifests of one pod the first
// in order is the one that runs.
func TestBackupsAndDoubles(t *testing.T) {
	r := newRig(t)
	r.write("kiln.yaml", manifest("kiln", "old"))
	for _, name := range []string{"kiln.yaml.backup", "kiln.yaml-bak", "kiln.yaml.orig", "kiln.yaml~", "#kiln.yaml#", ".kiln.yaml.swp", "kiln.yaml.bak", "kiln.yaml.rpmsave"} {
		r.write(name, manifest("kiln", "backup"))
	}
	r.write("copy of kiln.yaml", manifest("kiln", "copy"))
	r.start(rescanning)
	r.await("both manifests", pods("kiln-n1", "kiln-n1").exactly)
	r.write("kiln.yaml", manifest("kiln", "new"))
	r.await("the edit", runs("kiln-n1", "new"))
	r.flush()

	r.wantChanges("ADD kiln-n1")
	if got := r.ledger.running[0].Origin.Unit; got != r.path("copy of kiln.yaml") {
		t.Errorf("%s runs, want the first in order", got)
	}
	losers := r.ledger.statuses(time.Now())[0].Losers
	if len(losers) != 1 || losers[0].Pod.Unit != r.path("kiln.yaml") || losers[0].Winner.Unit != r.path("copy of kiln.yaml") {
		t.Errorf("losers %+v", losers)
	}
	if n := r.log.count("ignored", "kiln.yaml.backup"); n != 1 {
		t.Errorf("the backup was named %d times over the rescans, want once", n)
	}
}

// B04: a file that is being written is not read before its writer closes it.
func TestHalfWritten(t *testing.T) {
	r := newRig(t)
	r.start(watchOnly)
	r.await("the empty folder", healthy)

	halves := func(name string) (took time.Duration) {
		text := manifest(name, "one")
		f, err := os.Create(r.path(name + ".yaml"))
		r.must(err)
		_, err = f.WriteString(text[:20])
		r.must(err)
		r.flush() // well over a look at the half file
		_, err = f.WriteString(text[20:])
		r.must(err)
		closed := time.Now()
		r.must(f.Close())
		r.await("the whole file", pods(name+"-n1").among)
		return time.Since(closed)
	}
	// The best of three, since the machine may be busy with something else.
	if took := min(halves("wheel"), halves("lamp"), halves("kiln")); took > 100*time.Millisecond {
		t.Errorf("taken up %v after it was whole", took)
	}
	r.changes = nil

	f, err := os.OpenFile(r.path("wheel.yaml"), os.O_WRONLY|os.O_TRUNC, 0)
	r.must(err)
	r.flush()
	_, err = f.WriteString(manifest("wheel", "two"))
	r.must(err)
	r.must(f.Close())
	r.await("the new content", runs("wheel-n1", "two"))
	r.wantChanges("REMOVE wheel-n1", "ADD wheel-n1")
	if n := r.log.count("at fault"); n > 0 {
		t.Errorf("%d messages about a file that was merely being written:\n%s", n, r.log)
	}
}

// A file that is truncated and left empty says nothing about its pods.
func TestTruncatedKeepsLastGood(t *testing.T) {
	r := newRig(t)
	r.write("wheel.yaml", manifest("wheel", "one"))
	r.start(watchOnly)
	r.await("wheel", pods("wheel-n1").exactly)
	good := r.unit("wheel.yaml").Revision
	r.must(os.Truncate(r.path("wheel.yaml"), 0))
	s := r.await("the fault", faulty("wheel.yaml", "no manifest"))
	if !pods("wheel-n1").exactly(s) || r.unit("wheel.yaml").Revision != good {
		t.Errorf("want the last good version %s in force: %s", good, describe(s))
	}
	r.write("wheel.yaml", "# "+strings.ReplaceAll(manifest("wheel", "one"), "\n", "\n# "))
	r.flush()
	r.wantChanges("ADD wheel-n1")
}

// A file that somebody keeps open is shown as the reason why nothing happens.
func TestWriterThatNeverEnds(t *testing.T) {
	r := newRig(t)
	r.start(watchOnly)
	r.await("the empty folder", healthy)
	f, err := os.Create(r.path("wheel.yaml"))
	r.must(err)
	defer f.Close()
	r.await("the fault", faulty("wheel.yaml", "being written"))
}

// B05: a tool's temporary file that carries the same pod is that pod, and its
// rename is not a removal.
func TestToolsTemporaryFile(t *testing.T) {
	r := newRig(t)
	r.start(watchOnly)
	for _, arg := range []string{"one", "two"} {
		r.must(os.WriteFile(r.path("__wheel.tmp8271.yaml"), []byte(manifest("wheel", arg)), 0o644))
		r.await("the temporary file", runs("wheel-n1", arg))
		r.must(os.Rename(r.path("__wheel.tmp8271.yaml"), r.path("wheel.yaml")))
		r.await("the rename", func(s Snapshot) bool {
			return len(s.Units) == 1 && s.Units[0].Name == r.path("wheel.yaml") && runs("wheel-n1", arg)(s)
		})
	}
	r.flush()
	// How often the pod changes its file depends on whether the temporary file is
	// seen before its content is there, in which moment its last good version, one,
	// is in force. That is an update in place; what counts is that "one" ends once.
	r.changes = slices.DeleteFunc(r.changes, func(c string) bool { return c == "UPDATE wheel-n1" })
	r.wantChanges("ADD wheel-n1", "REMOVE wheel-n1", "ADD wheel-n1")
}

// B07: kinds that are not run are named once per version of their file.
func TestOtherKinds(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "on"))
	r.write("kustomization.yaml", "resources: [lamp.yaml]\n")
	r.write("ds.yaml", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: everywhere\n")
	r.start(rescanning)
	r.await("lamp", pods("lamp-n1").exactly)
	for range 3 {
		r.flush() // each takes several rescans
	}
	for _, words := range []string{"ds.yaml", "kustomization.yaml"} {
		if n := r.log.count("not supported", words); n != 1 {
			t.Errorf("%s was named %d times, want once:\n%s", words, n, r.log)
		}
	}
	if len(r.unit("ds.yaml").Faults) > 0 || len(r.unit("ds.yaml").Warnings) != 1 {
		t.Errorf("unit %+v", r.unit("ds.yaml"))
	}
	r.write("ds.yaml", "apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: everywhere\n")
	r.await("its next version", func(s Snapshot) bool { return strings.Contains(describe(s), "StatefulSet") })
	r.wantChanges("ADD lamp-n1")
}

func TestOtherKindsStrict(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "on")+"---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: everywhere\n")
	r.start(func(cfg *FileConfig) { cfg.UnsupportedKinds = UnsupportedStrict })
	s := r.await("the fault", faulty("lamp.yaml", "kind DaemonSet of apps/v1 is not supported"))
	if len(s.Pods) > 0 {
		t.Errorf("pods %v of a unit at fault", podNames(s))
	}
}

// B10: a change behind a link is seen: by the rescan when the target lies
// elsewhere, at once when it lies in the folder.
func TestLinks(t *testing.T) {
	t.Run("target elsewhere, edited in place", func(t *testing.T) {
		r := newRig(t)
		target := filepath.Join(t.TempDir(), "lamp.yaml")
		r.must(os.WriteFile(target, []byte(manifest("lamp", "old")), 0o644))
		r.must(os.Symlink(target, r.path("lamp.yaml")))
		r.start(rescanning)
		r.await("lamp", runs("lamp-n1", "old"))
		r.must(os.WriteFile(target, []byte(manifest("lamp", "new")), 0o644))
		r.await("the edit", runs("lamp-n1", "new"))
		r.flush()
		r.wantChanges("ADD lamp-n1", "REMOVE lamp-n1", "ADD lamp-n1")
	})
	t.Run("..data swapped", func(t *testing.T) {
		r := newRig(t)
		for _, v := range []string{"v1", "v2"} {
			r.must(os.Mkdir(r.path(".."+v), 0o755))
			r.write(filepath.Join(".."+v, "lamp.yaml"), manifest("lamp", v))
		}
		r.must(os.Symlink("..v1", r.path("..data")))
		r.must(os.Symlink("..data/lamp.yaml", r.path("lamp.yaml")))
		r.start(watchOnly)
		r.await("lamp", runs("lamp-n1", "v1"))
		r.must(os.Symlink("..v2", r.path("..data_tmp")))
		r.must(os.Rename(r.path("..data_tmp"), r.path("..data")))
		r.await("the swap", runs("lamp-n1", "v2"))
		r.flush()
		r.wantChanges("ADD lamp-n1", "REMOVE lamp-n1", "ADD lamp-n1")
	})
	t.Run("dangling", func(t *testing.T) {
		r := newRig(t)
		target := filepath.Join(t.TempDir(), "lamp.yaml")
		r.must(os.WriteFile(target, []byte(manifest("lamp", "old")), 0o644))
		r.must(os.Symlink(target, r.path("lamp.yaml")))
		r.start(rescanning)
		r.await("lamp", runs("lamp-n1", "old"))
		r.must(os.Remove(target))
		s := r.await("the fault", faulty("lamp.yaml", "does not exist"))
		if !pods("lamp-n1").exactly(s) {
			t.Errorf("pods %v: a dangling link keeps its last good", podNames(s))
		}
		r.remove("lamp.yaml")
		r.await("the end", pods().exactly)
	})
}

// B11: a file that changes between the listing and the watch is not missed,
// since the watch comes first; what a watch misses all the same, a rescan finds.
func TestRescanFindsWhatTheWatchMissed(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "old"))
	cfg := FileConfig{Name: "file", Path: r.dir, Node: testNode, Rescan: time.Hour, Logger: r.log.logger()}
	source, err := NewFile(cfg)
	r.must(err)
	loop := newFileLoop(source.cfg)
	defer loop.close()
	loop.work()
	r.take(loop.catalog.snapshot(time.Now()))
	loop.watch.forget()
	r.write("lamp.yaml", manifest("lamp", "new"))
	loop.rescanAt = time.Time{}
	loop.work()
	r.take(loop.catalog.snapshot(time.Now()))
	r.wantChanges("ADD lamp-n1", "REMOVE lamp-n1", "ADD lamp-n1")
}

// B13: removing a file removes its pod; nobody waits for other sources.
func TestRemoval(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "on"))
	r.write("kiln.yaml", manifest("kiln", "on"))
	r.start(watchOnly)
	r.await("both", pods("kiln-n1", "lamp-n1").exactly)
	began := time.Now()
	r.remove("lamp.yaml")
	r.await("the removal", pods("kiln-n1").exactly)
	if took := time.Since(began); took < vanishWait {
		t.Errorf("removed after %v: a replacement would not have had its %v", took, vanishWait)
	}
	r.remove("kiln.yaml")
	r.await("the last removal", pods().exactly) // the same folder: emptied on purpose
	r.wantChanges("ADD kiln-n1", "ADD lamp-n1", "REMOVE lamp-n1", "REMOVE kiln-n1")
}

// B14: a missing folder is one message and no removal, and is watched again
// when it is back.
func TestFolderComesAndGoes(t *testing.T) {
	r := newRig(t)
	r.must(os.Remove(r.dir))
	r.start(watchOnly)
	s := r.await("the error", placeFaulty("no such file"))
	if s.Live || !s.Attempted || s.Revision != "" {
		t.Errorf("live %v attempted %v revision %q, want an attempt that found nothing", s.Live, s.Attempted, s.Revision)
	}
	r.must(os.Mkdir(r.dir, 0o755))
	r.write("lamp.yaml", manifest("lamp", "on"))
	if s = r.await("lamp", pods("lamp-n1").exactly); !s.Live || len(s.Faults) > 0 {
		t.Errorf("live %v faults %v", s.Live, s.Faults)
	}

	r.must(os.RemoveAll(r.dir))
	r.await("the error again", placeFaulty("no such file"))
	r.must(os.Mkdir(r.dir, 0o755))
	r.await("the doubt", placeFaulty("is empty"))
	r.write("lamp.yaml", manifest("lamp", "off"))
	r.await("lamp again", func(s Snapshot) bool { return runs("lamp-n1", "off")(s) && healthy(s) })
	r.write("kiln.yaml", manifest("kiln", "on"))
	r.await("the new watch", pods("kiln-n1", "lamp-n1").exactly)

	r.wantChanges("ADD lamp-n1", "REMOVE lamp-n1", "ADD lamp-n1", "ADD kiln-n1")
	if n := r.log.count("source is in error", "no such file"); n != 2 {
		t.Errorf("%d messages for two losses:\n%s", n, r.log)
	}
}

// B16: the revision of a unit is the hash of its bytes, so that a tool can wait
// for the file it wrote.
func TestRevisionIsTheHashOfTheFile(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: lamp}\nspec: {containers: [{name: main, image: busybox}]}\n")
	r.start()
	r.await("lamp", pods("lamp-n1").exactly)
	if got, want := r.unit("lamp.yaml").Revision, "sha256:9c712f115c8d"; got != want {
		t.Errorf("revision %s, want %s as sha256sum has it", got, want)
	}
	if got := r.last.Pods[0].Origin.Revision; got != r.unit("lamp.yaml").Revision {
		t.Errorf("the pod's revision is %s", got)
	}
}

// B20: the file fails as a whole; other files go on.
func TestOneFaultKeepsTheWholeFile(t *testing.T) {
	r := newRig(t)
	two := func(first, second string) string { return first + "---\n" + second }
	r.write("pair.yaml", two(manifest("lamp", "old"), manifest("kiln", "old")))
	r.write("wheel.yaml", manifest("wheel", "old"))
	r.start(watchOnly)
	r.await("all", pods("lamp-n1", "kiln-n1", "wheel-n1").exactly)
	noImage := strings.Replace(manifest("lamp", "new"), "    image: busybox:1.36\n", "", 1)
	r.write("pair.yaml", two(noImage, manifest("kiln", "new")))
	r.write("wheel.yaml", manifest("wheel", "new"))
	s := r.await("the fault and the other file", func(s Snapshot) bool {
		return faulty("pair.yaml", "spec.containers[0].image")(s) && runs("wheel-n1", "new")(s)
	})
	if !runs("kiln-n1", "old")(s) || !runs("lamp-n1", "old")(s) {
		t.Errorf("want both of the last good version: %s", describe(s))
	}
	r.write("pair.yaml", two(manifest("lamp", "new"), manifest("kiln", "new")))
	r.await("the repair", func(s Snapshot) bool { return runs("kiln-n1", "new")(s) && runs("lamp-n1", "new")(s) })
	if n := r.log.count("at fault", "pair.yaml"); n != 1 {
		t.Errorf("%d messages for one broken version:\n%s", n, r.log)
	}
}

// B29: of hundreds of rapid edits the last one is what counts.
func TestRapidEdits(t *testing.T) {
	r := newRig(t)
	r.start(watchOnly)
	r.await("the empty folder", healthy)
	written := make(chan error, 1)
	go func() {
		for i := range 300 {
			if err := os.WriteFile(r.path("lamp.yaml"), []byte(manifest("lamp", fmt.Sprint(i))), 0o644); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	r.await("the last edit", runs("lamp-n1", "299"))
	r.must(<-written)
}

// 500 files at once are all taken up.
func TestManyFilesAtOnce(t *testing.T) {
	r := newRig(t)
	r.start(watchOnly)
	r.await("the empty folder", healthy)
	for i := range 500 {
		r.write(fmt.Sprintf("p%03d.yaml", i), manifest(fmt.Sprintf("p%03d", i), "x"))
	}
	r.await("all", func(s Snapshot) bool { return len(s.Pods) == 500 })
}

// The first live snapshot is the whole set, however long that takes to read: a
// part of it would make orphans of the rest.
func TestFirstSnapshotIsWhole(t *testing.T) {
	r := newRig(t)
	for i := range 300 {
		r.write(fmt.Sprintf("p%03d.yaml", i), manifest(fmt.Sprintf("p%03d", i), "x"))
	}
	r.start()
	s := r.await("the first snapshot", func(Snapshot) bool { return true })
	if len(s.Pods) != 300 || !s.Live || !s.Attempted {
		t.Errorf("%d pods, live %v, attempted %v", len(s.Pods), s.Live, s.Attempted)
	}
}

// B34: an edit changes what it touches; comments, order and file names change
// no pod at all.
func TestOnlyWhatChangedChanges(t *testing.T) {
	r := newRig(t)
	for i := range 20 {
		r.write(fmt.Sprintf("p%02d.yaml", i), manifest(fmt.Sprintf("p%02d", i), "x"))
	}
	r.start(watchOnly)
	r.await("all", func(s Snapshot) bool { return len(s.Pods) == 20 })
	r.changes = nil
	r.write("p07.yaml", manifest("p07", "y"))
	r.write("p08.yaml", "# a comment\n"+manifest("p08", "x"))
	r.write("README", "about these pods")
	r.flush()
	r.wantChanges("REMOVE p07-n1", "ADD p07-n1")
}

// Labels and annotations change in place, as does a file that is renamed.
func TestMetadataChangesInPlace(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "on"))
	r.start(watchOnly)
	r.await("lamp", pods("lamp-n1").exactly)
	r.write("lamp.yaml", strings.Replace(manifest("lamp", "on"), "  name: lamp\n", "  name: lamp\n  labels: {shade: red}\n", 1))
	r.await("the label", func(s Snapshot) bool { return s.Pods[0].Labels["shade"] == "red" })
	r.must(os.Rename(r.path("lamp.yaml"), r.path("light.yaml")))
	r.await("the rename", func(s Snapshot) bool { return len(s.Units) == 1 && s.Units[0].Name == r.path("light.yaml") })
	r.flush()
	r.wantChanges("ADD lamp-n1", "UPDATE lamp-n1", "UPDATE lamp-n1")
}

// Subfolders are named once and not entered; what is no file is refused.
func TestWhatIsNoManifestFile(t *testing.T) {
	r := newRig(t)
	r.must(os.Mkdir(r.path("more"), 0o755))
	r.write(filepath.Join("more", "lamp.yaml"), manifest("lamp", "on"))
	r.must(os.Mkdir(r.path("folder.yaml"), 0o755))
	r.must(os.Symlink("more", r.path("link.yaml")))
	r.must(mkfifo(r.path("pipe.yaml")))
	r.must(os.Symlink("/dev/zero", r.path("device.yaml")))
	r.write("huge.yaml", "# "+strings.Repeat("x", 1<<20))
	r.start(rescanning)
	r.await("the pipe", faulty("pipe.yaml", "is a pipe, not a file"))
	r.flush()
	for unit, words := range map[string]string{
		"pipe.yaml":   "is a pipe",
		"device.yaml": "is a device",
		"link.yaml":   "is a folder",
		"huge.yaml":   "larger than the limit",
	} {
		if !faulty(unit, words)(r.last) {
			t.Errorf("%s is not refused as %s: %s", unit, words, describe(r.last))
		}
	}
	for _, name := range []string{"more", "folder.yaml"} {
		if n := r.log.count("subfolder is not read", "name="+name); n != 1 {
			t.Errorf("%s was named %d times, want once", name, n)
		}
	}
	r.wantChanges()
}

// Documents of other nodes take no name, and their faults are no faults here.
func TestOtherNodesDocuments(t *testing.T) {
	r := newRig(t)
	other := strings.Replace(manifest("lamp", "theirs"), "spec:\n", "spec:\n  nodeName: n2\n  noSuchField: 1\n", 1)
	r.write("fleet.yaml", other+"---\n"+manifest("lamp", "ours"))
	r.start()
	r.await("our lamp", runs("lamp-n1", "ours"))
	u := r.unit("fleet.yaml")
	if len(u.Faults) != 0 || len(u.Warnings) != 1 || !strings.Contains(u.Warnings[0].Error(), "noSuchField") {
		t.Errorf("faults %v warnings %v", u.Faults, u.Warnings)
	}
	if len(u.Skipped) != 1 || u.Skipped[0].Name != "default/lamp" || u.Skipped[0].Reason != "nodeName is n2" {
		t.Errorf("skipped %+v", u.Skipped)
	}
}
