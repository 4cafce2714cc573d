package sources

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// restart ends the source and starts it anew over the same folders.
func (r *rig) restart(between func(), options ...rigOption) {
	r.t.Helper()
	r.stop()
	between()
	r.last, r.got, r.changes = Snapshot{}, 0, nil
	r.ledger = newLedger([]Member{{Name: "file"}})
	r.start(options...)
}

func (r *rig) first() Snapshot {
	r.t.Helper()
	return r.await("the first snapshot", func(Snapshot) bool { return true })
}

// A machine that boots without its disk runs what it ran, and the source says
// that this is all from memory.
func TestLastGoodStandsInForThePlace(t *testing.T) {
	r := newRig(t)
	r.write("kiln.yaml", manifest("kiln", "on"))
	r.write("lamp.yaml", manifest("lamp", "on"))
	r.start()
	r.await("both", pods("kiln-n1", "lamp-n1").exactly)
	before := r.last

	away := r.dir + ".away"
	r.restart(func() { r.must(os.Rename(r.dir, away)) })
	s := r.first()
	if !pods("kiln-n1", "lamp-n1").exactly(s) || s.Live || !s.Attempted || len(s.Faults) != 1 {
		t.Errorf("attempted %v: %s", s.Attempted, describe(s))
	}
	if s.Pods[1].UID != before.Pods[1].UID || s.Pods[1].Origin != before.Pods[1].Origin {
		t.Errorf("lamp is %v of %+v, was %v of %+v", s.Pods[1].UID, s.Pods[1].Origin, before.Pods[1].UID, before.Pods[1].Origin)
	}
	for _, u := range s.Units {
		if len(u.Faults) > 0 || u.Revision == "" {
			t.Errorf("unit %+v", u)
		}
	}

	r.must(os.Remove(filepath.Join(away, "kiln.yaml")))
	r.must(os.Rename(away, r.dir))
	r.await("the folder", func(s Snapshot) bool { return s.Live && pods("lamp-n1").exactly(s) })
	r.wantChanges("ADD kiln-n1", "ADD lamp-n1", "REMOVE kiln-n1")
}

// What changed while nobody looked is taken at once: nothing old is started
// first, and what was removed stays removed.
func TestChangedWhileTheAgentWasDown(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"kiln", "lamp", "wheel"} {
		r.write(name+".yaml", manifest(name, "old"))
	}
	r.start()
	r.await("all", pods("kiln-n1", "lamp-n1", "wheel-n1").exactly)
	r.restart(func() {
		r.remove("kiln.yaml")
		r.write("lamp.yaml", manifest("lamp", "new"))
	})
	if s := r.first(); !s.Live || !pods("lamp-n1", "wheel-n1").exactly(s) || !runs("lamp-n1", "new")(s) {
		t.Errorf("first: %s", describe(s))
	}
	r.flush()
	r.wantChanges("ADD lamp-n1", "ADD wheel-n1")
}

// A unit whose new version is broken keeps its last good one over restarts, as
// often as need be.
func TestBrokenUnitKeepsLastGoodOverRestarts(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "good"))
	r.start()
	r.await("lamp", pods("lamp-n1").exactly)
	good := r.unit("lamp.yaml").Revision
	r.write("lamp.yaml", "kind: Po")
	r.await("the fault", faulty("lamp.yaml", ""))
	for range 2 {
		r.restart(func() {})
		s := r.first()
		if !s.Live || !runs("lamp-n1", "good")(s) || !faulty("lamp.yaml", "")(s) || r.unit("lamp.yaml").Revision != good {
			t.Fatalf("first: %s", describe(s))
		}
	}
	r.restart(func() { r.write("lamp.yaml", manifest("lamp", "better")) })
	if s := r.first(); !runs("lamp-n1", "better")(s) || faulty("lamp.yaml", "")(s) {
		t.Errorf("first: %s", describe(s))
	}
}

// A file that is being written when the agent starts is no missing unit: its
// last good version runs, or else it is at fault.
func TestWriterAtStart(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "good"))
	r.start()
	r.await("lamp", pods("lamp-n1").exactly)
	var open []*os.File
	r.restart(func() {
		for _, name := range []string{"lamp.yaml", "kiln.yaml"} {
			f, err := os.Create(r.path(name))
			r.must(err)
			open = append(open, f)
		}
	})
	s := r.first()
	if !s.Live || !runs("lamp-n1", "good")(s) || !faulty("lamp.yaml", "being written")(s) || !faulty("kiln.yaml", "being written")(s) {
		t.Errorf("first: %s", describe(s))
	}
	for i, name := range []string{"lamp", "kiln"} {
		_, err := open[i].WriteString(manifest(name, "new"))
		r.must(err)
		r.must(open[i].Close())
	}
	r.await("both whole", func(s Snapshot) bool { return runs("lamp-n1", "new")(s) && runs("kiln-n1", "new")(s) })
}

// Empty must be meant: an empty folder that is not the one of the last good set
// removes nothing until it holds manifests.
func TestEmptyFolderOfAnotherIdentity(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "on"))
	r.start(watchOnly)
	r.await("lamp", pods("lamp-n1").exactly)
	r.restart(func() {
		r.must(os.Rename(r.dir, r.dir+".disk"))
		r.must(os.Mkdir(r.dir, 0o755))
	}, watchOnly)
	s := r.first()
	if s.Live || !pods("lamp-n1").exactly(s) || !placeFaulty("is a disk not mounted?")(s) {
		t.Errorf("first: %s", describe(s))
	}
	r.write("lamp.yaml", manifest("lamp", "new"))
	r.await("the new folder", func(s Snapshot) bool { return s.Live && healthy(s) && runs("lamp-n1", "new")(s) })
	r.remove("lamp.yaml")
	r.await("the end", func(s Snapshot) bool { return healthy(s) && pods().exactly(s) })

	r.restart(func() { // an empty set has nothing to lose
		r.must(os.Rename(r.dir, r.dir+".2"))
		r.must(os.Mkdir(r.dir, 0o755))
	})
	if s := r.first(); !s.Live || !healthy(s) {
		t.Errorf("first: %s", describe(s))
	}
}

// Who means a replaced folder to be empty is told how to say so, and can.
func TestEmptyFolderThatIsMeant(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "on"))
	r.start()
	r.await("lamp", pods("lamp-n1").exactly)
	r.must(os.Rename(r.dir, r.dir+".old"))
	r.must(os.Mkdir(r.dir, 0o755))
	r.await("the doubt", placeFaulty("put a file into it that holds an empty List"))
	r.write("none.yaml", "apiVersion: v1\nkind: List\nitems: []\n")
	r.await("the end", func(s Snapshot) bool { return healthy(s) && pods().exactly(s) })
}

// A source of one file: gone is an error, never "no pods", and a replacement by
// whatever way is followed.
func TestSingleFile(t *testing.T) {
	r := newRig(t)
	r.write("only", manifest("lamp", "one"))
	single := func(cfg *FileConfig) { cfg.Path = r.path("only"); cfg.Rescan = time.Hour }
	r.start(single)
	r.await("lamp", runs("lamp-n1", "one"))
	if name := r.last.Units[0].Name; name != r.path("only") {
		t.Errorf("unit %s", name)
	}
	r.write("only", manifest("lamp", "two"))
	r.await("a rename over it", runs("lamp-n1", "two"))
	r.remove("only")
	r.must(os.WriteFile(r.path("only"), []byte(manifest("lamp", "three")), 0o644))
	r.await("unlink and create", runs("lamp-n1", "three"))
	r.write("other.yaml", manifest("other", "x")) // a neighbour is none of our business
	r.remove("only")
	s := r.await("the error", placeFaulty("does not exist"))
	if !pods("lamp-n1").exactly(s) {
		t.Errorf("pods %v", podNames(s))
	}
	r.restart(func() {}, single)
	if s := r.first(); s.Live || !pods("lamp-n1").exactly(s) || s.Units[0].Name != r.path("only") {
		t.Errorf("first: %s", describe(s))
	}
	r.write("only", manifest("lamp", "four"))
	r.await("its return", func(s Snapshot) bool { return runs("lamp-n1", "four")(s) && s.Live && healthy(s) })
	r.wantChanges("ADD lamp-n1", "REMOVE lamp-n1", "ADD lamp-n1")
}

func unitOf(name, content string) goodUnit {
	return goodUnit{Name: name, Data: []byte(content), sum: sha256.Sum256([]byte(content))}
}

func storeAt(t *testing.T, dir string) (*goodStore, goodSet) {
	t.Helper()
	s := newGoodStore(dir)
	set, errs := s.load()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return s, set
}

func TestGoodStoreKeepsBytesAndModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sources", "file")
	s, _ := storeAt(t, dir)
	set := goodSet{Place: "/m", Folder: identity{Device: 1, Inode: 2, Born: 3}, Units: []goodUnit{unitOf("a.yaml", "one\r\n"), unitOf("b.yaml", "")}}
	if err := s.save(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if _, back := storeAt(t, dir); !back.same(set) || string(back.Units[0].Data) != "one\r\n" {
		t.Errorf("read back %+v, want %+v", back, set)
	}
	err := filepath.WalkDir(filepath.Join(dir, "lastgood"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := os.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	set.Units = set.Units[1:]
	if err := s.save(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(filepath.Join(dir, "lastgood", "units")); len(files) != 1 {
		t.Errorf("%d unit files for one unit", len(files))
	}
}

// Whatever is wrong on disk is named, costs only itself, and is not overwritten.
func TestGoodStoreDamaged(t *testing.T) {
	two := goodSet{Place: "/m", Units: []goodUnit{unitOf("a.yaml", "one"), unitOf("b.yaml", "two")}}
	tests := []struct {
		name   string
		damage func(t *testing.T, root string)
		units  int    // that survive
		says   string // in the error
		aside  bool   // the folder is kept for whoever understands it
	}{
		{"a unit is corrupt", func(t *testing.T, root string) {
			corrupt(t, filepath.Join(root, "units", strings.TrimPrefix(fullRevision("one"), "sha256:")))
		}, 1, "a.yaml", false},
		{"a unit is lost", func(t *testing.T, root string) {
			if err := os.Remove(filepath.Join(root, "units", strings.TrimPrefix(fullRevision("one"), "sha256:"))); err != nil {
				t.Fatal(err)
			}
		}, 1, "a.yaml", false},
		{"the index is corrupt", func(t *testing.T, root string) { corrupt(t, filepath.Join(root, "index.json")) }, 0, "index.json", true},
		{"the index is of a later version", func(t *testing.T, root string) {
			path := filepath.Join(root, "index.json")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data = []byte(strings.Replace(string(data), `"format": 1`, `"format": 3`, 1))
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}, 0, "format 3", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := storeAt(t, dir)
			if err := s.save(t.Context(), two); err != nil {
				t.Fatal(err)
			}
			root := filepath.Join(dir, "lastgood")
			tt.damage(t, root)
			s = newGoodStore(dir)
			set, errs := s.load()
			if len(set.Units) != tt.units || len(errs) != 1 || !strings.Contains(errs[0].Error(), tt.says) {
				t.Errorf("%d units, errors %v", len(set.Units), errs)
			}
			if err := s.save(t.Context(), two); err != nil {
				t.Fatal(err)
			}
			if _, back := storeAt(t, dir); !back.same(two) {
				t.Errorf("not whole after the next save: %+v", back)
			}
			if _, err := os.Stat(filepath.Join(root+".unreadable", "index.json")); tt.aside == errors.Is(err, os.ErrNotExist) {
				t.Errorf("set aside: %v, want %v", err, tt.aside)
			}
		})
	}
}

// The sets of folders stay in the format that the agent before knows; those of
// polled sources are in the next, with names of any depth.
func TestGoodStoreFormats(t *testing.T) {
	tests := []struct {
		name   string
		set    goodSet
		format string
	}{
		{"of a folder", goodSet{Place: "/m", Folder: identity{Device: 1}, Units: []goodUnit{unitOf("a.yaml", "one")}}, `"format": 1`},
		{"of a commit", goodSet{Place: "ssh://depot", Revision: "c1", Mark: mark{"commit": "c1"}, Units: []goodUnit{unitOf("n1/a.yaml", "one"), unitOf("n2/a.yaml", "one")}}, `"format": 2`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := storeAt(t, dir)
			if err := s.save(t.Context(), tt.set); err != nil {
				t.Fatal(err)
			}
			if index, err := os.ReadFile(s.index()); err != nil || !strings.Contains(string(index), tt.format) {
				t.Errorf("%v, want %s in %s", err, tt.format, index)
			}
			if _, back := storeAt(t, dir); !back.same(tt.set) {
				t.Errorf("read back %+v", back)
			}
		})
	}
	dir := t.TempDir()
	s, _ := storeAt(t, dir)
	if err := s.save(t.Context(), tests[0].set); err != nil {
		t.Fatal(err)
	}
	old := fmt.Sprintf(`{"format":1,"place":"/m","folder":{},"units":[{"name":"a.yaml","revision":%q}]}`, fullRevision("one"))
	if err := os.WriteFile(s.index(), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, back := storeAt(t, dir); len(back.Units) != 1 {
		t.Errorf("of a set of the first format: %+v", back)
	}
}

func fullRevision(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func corrupt(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A disk that is full at any write of a save, or a kill in that moment, leaves
// the set before as it was, with the revision and the mark that it came with.
func TestGoodStoreDiskFull(t *testing.T) {
	old := goodSet{Place: "/m", Revision: "c1", Mark: mark{"commit": "c1"}, Units: []goodUnit{unitOf("a/a.yaml", "one"), unitOf("b.yaml", "two")}}
	young := goodSet{Place: "/m", Revision: "c2", Mark: mark{"commit": "c2"}, Units: []goodUnit{unitOf("a/a.yaml", "three"), unitOf("c.yaml", "four")}}
	for failing := range 3 {
		dir := t.TempDir()
		s, _ := storeAt(t, dir)
		if err := s.save(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		writes := 0
		s.write = func(path string, data []byte) error {
			if writes++; writes > failing {
				return unix.ENOSPC
			}
			return writeFile(path, data)
		}
		if err := s.save(t.Context(), young); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("write %d: save returned %v", failing, err)
		}
		if _, back := storeAt(t, dir); !back.same(old) {
			t.Errorf("write %d: %+v on disk, want the set before", failing, back)
		}
		s.write = writeFile
		if err := s.save(t.Context(), young); err != nil {
			t.Fatal(err)
		}
		if _, back := storeAt(t, dir); !back.same(young) {
			t.Errorf("write %d: %+v after the retry", failing, back)
		}
	}
}

func TestWriteFileLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none", "x")
	err := writeFile(none, []byte("x"))
	if err == nil {
		t.Fatal("wrote into a folder that is not there")
	}
	if again := writeFile(none, []byte("x")); again.Error() != err.Error() {
		t.Errorf("the same fault reads differently: %v, before %v", again, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(filepath.Join(dir, "x"), []byte("x")); err == nil {
		t.Error("replaced a folder")
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left %v", files)
	}
}

// The saver says once that it can't save, tries again, and says when it can.
func TestSaverRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := newGoodStore(t.TempDir()), &logBook{}
		tries := 0
		store.write = func(path string, data []byte) error {
			if tries++; tries <= 3 {
				return unix.ENOSPC
			}
			return writeFile(path, data)
		}
		s := newSaver(store, log.logger(), time.Minute)
		s.save(goodSet{Place: "/m"})
		<-time.After(10 * time.Minute) // of the bubble's clock
		synctest.Wait()
		if _, set := storeAt(t, filepath.Dir(store.root)); tries != 4 || set.Place != "/m" {
			t.Errorf("%d tries, %+v on disk", tries, set)
		}
		if n, m := log.count("is not saved"), log.count("is saved again"); n != 1 || m != 1 {
			t.Errorf("%d and %d messages:\n%s", n, m, log)
		}
		s.close()
	})
}

// A save under way does not hold up the end for longer than its grace.
func TestSaverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newGoodStore(t.TempDir())
		store.write = func(string, []byte) error { <-time.After(200 * time.Millisecond); return nil }
		s := newSaver(store, (&logBook{}).logger(), time.Minute)
		var set goodSet
		for _, c := range "abcdefghijklmnopqrstuvwxyz" {
			set.Units = append(set.Units, unitOf(string(c), string(c)))
		}
		s.save(set)
		synctest.Wait()
		began := time.Now()
		s.close()
		if took := time.Since(began); took > saveGrace+200*time.Millisecond {
			t.Errorf("the end took %v", took)
		}
	})
}

func TestSaveStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, _ := storeAt(t, t.TempDir())
	if err := s.save(ctx, goodSet{Units: []goodUnit{unitOf("a", "a")}}); !errors.Is(err, context.Canceled) {
		t.Errorf("save returned %v", err)
	}
}

// What is kept of a folder and is damaged is told as long as the folder is away;
// one that is removed below a running agent is written again.
func TestLastGoodOfAFolderThatIsDamagedOrRemoved(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "on"))
	r.start(rescanning)
	if s := r.await("lamp", pods("lamp-n1").exactly); s.Heard.IsZero() || !s.Taken.Equal(s.Heard) {
		t.Errorf("taken %v, heard %v", s.Taken, s.Heard)
	}
	if s := r.ledger.statuses(epoch)[0]; !s.Taken.Equal(epoch) || !s.LastSuccess.Equal(epoch) {
		t.Errorf("a folder that is well is of %v, and was read at %v", s.Taken, s.LastSuccess)
	}
	r.restart(func() {
		corrupt(t, filepath.Join(r.state, "lastgood", "units", strings.TrimPrefix(fullRevision(manifest("lamp", "on")), "sha256:")))
		r.must(os.Rename(r.dir, r.dir+".away"))
	})
	if s := r.first(); !placeFaulty("last good set is lost")(s) || s.Heard.IsZero() {
		t.Errorf("first: heard %v, %s", s.Heard, describe(s))
	}
	r.must(os.Rename(r.dir+".away", r.dir))
	r.await("lamp again", func(s Snapshot) bool { return healthy(s) && pods("lamp-n1").exactly(s) })
}

func TestSetThatIsGoneIsSavedInFull(t *testing.T) {
	dir := t.TempDir()
	s, _ := storeAt(t, dir)
	set := goodSet{Place: "/m", Units: []goodUnit{unitOf("a.yaml", "one")}}
	for range 2 {
		if err := s.save(t.Context(), set); err != nil {
			t.Fatal(err)
		}
		if _, back := storeAt(t, dir); !back.same(set) {
			t.Errorf("%+v on disk", back)
		}
		if err := os.RemoveAll(filepath.Join(dir, "lastgood")); err != nil {
			t.Fatal(err)
		}
	}
}
