package powercut

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lab is a disk, and what a test does to it.
type lab struct {
	*testing.T
	*Disk
}

func (l lab) path(name string) string { return filepath.Join(l.Dir, name) }

func (l lab) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// write makes a file's content what it is, and syncs that, if wanted.
func (l lab) write(name, text string, sync bool) {
	l.Helper()
	f, err := os.Create(l.path(name))
	l.must(err)
	_, err = f.WriteString(text)
	l.must(err)
	if sync {
		l.must(f.Sync())
	}
	l.must(f.Close())
}

func (l lab) sync(name string) {
	l.Helper()
	dir, err := os.Open(l.path(name))
	l.must(err)
	l.must(errors.Join(dir.Sync(), dir.Close()))
}

func (l lab) cut() { l.Restore(Dropped, rand.New(rand.NewPCG(1, 1))) }

// want checks a file's content; "-" for none.
func (l lab) want(name, text string) {
	l.Helper()
	got, err := os.ReadFile(l.path(name))
	if errors.Is(err, os.ErrNotExist) {
		got, err = []byte("-"), nil
	}
	if err != nil || string(got) != text {
		l.Errorf("%s is %q, %v; want %q", name, got, err, text)
	}
}

func TestWhatIsNotSyncedIsLost(t *testing.T) {
	tests := []struct {
		name string
		do   func(l lab)
		want map[string]string
	}{
		{"neither content nor name", func(l lab) { l.write("a", "new", false) }, map[string]string{"a": "-"}},
		{"content alone", func(l lab) { l.write("a", "new", true) }, map[string]string{"a": "-"}},
		{"name alone", func(l lab) { l.write("a", "new", false); l.sync(".") }, map[string]string{"a": ""}},
		{"both", func(l lab) { l.write("a", "new", true); l.sync(".") }, map[string]string{"a": "new"}},
		{"a rename", func(l lab) {
			l.write("b", "new", true)
			l.must(os.Rename(l.path("b"), l.path("old")))
		}, map[string]string{"b": "-", "old": "old"}},
		{"a rename is one change", func(l lab) {
			l.must(os.Mkdir(l.path("other"), 0o700))
			l.sync(".")
			l.must(os.Rename(l.path("old"), l.path("other/old")))
			l.sync("other")
		}, map[string]string{"old": "-", "other/old": "old"}},
		{"a removal", func(l lab) { l.must(os.Remove(l.path("old"))) }, map[string]string{"old": "old"}},
		{"a directory's own name", func(l lab) {
			l.must(os.Mkdir(l.path("dir"), 0o700))
			l.write("dir/a", "new", true)
			l.sync("dir")
		}, map[string]string{"dir/a": "-"}},
		{"a link", func(l lab) { l.must(os.Symlink("old", l.path("link"))); l.sync(".") }, map[string]string{"link": "old"}},
	}
	disk := New(t)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			l := lab{t, disk}
			l.Clear()
			l.write("old", "old", true)
			l.sync(".")
			tc.do(l)
			l.cut()
			for name, text := range tc.want {
				l.want(name, text)
			}
		})
	}
}

func TestNothingHappensWithoutPower(t *testing.T) {
	l := lab{t, New(t)}
	l.write("a", "old", true)
	l.sync(".")
	l.Arm(3) // the file's end is cut off, it is written, and not synced
	f, err := os.Create(l.path("a"))
	l.must(err)
	_, err = f.WriteString("new")
	l.must(err)
	if err := f.Sync(); !errors.Is(err, syscall.EIO) || !l.Out() || l.Step() {
		t.Errorf("a sync without power: %v", err)
	}
	_ = f.Close() // without power
	if _, err := os.ReadFile(l.path("a")); !errors.Is(err, syscall.EIO) {
		t.Errorf("read without power: %v", err)
	}
	l.cut()
	l.want("a", "old")
}

// An open directory that is read again from its beginning tells what is there now.
func TestDirectoriesAreReadAgain(t *testing.T) {
	l := lab{t, New(t)}
	dir, err := os.Open(l.Dir)
	l.must(err)
	defer dir.Close()
	for _, name := range []string{"a", "b", "c"} {
		l.write(name, "", false)
		_, err := dir.Seek(0, io.SeekStart)
		l.must(err)
		names, err := dir.Readdirnames(-1)
		l.must(err)
		if !slices.Contains(names, name) {
			t.Errorf("names %v lack %s", names, name)
		}
	}
}

func TestAnyPagesMaySurvive(t *testing.T) {
	l := lab{t, New(t)}
	old, written := bytes.Repeat([]byte{'o'}, 2*page), bytes.Repeat([]byte{'n'}, 3*page)
	seen := map[string]bool{}
	for seed := range uint64(200) {
		l.Clear()
		l.write("a", string(old), true)
		l.sync(".")
		l.write("a", string(written), false)
		l.Restore(Scattered, rand.New(rand.NewPCG(seed, 0)))
		got, err := os.ReadFile(l.path("a"))
		l.must(err)
		kind := ""
		for at := 0; at < len(got); at += page {
			kind += string(got[at]) // one letter stands for its page
			if !bytes.Equal(got[at:at+page], bytes.Repeat(got[at:at+1], page)) {
				t.Fatalf("a page is torn within")
			}
		}
		seen[kind] = true
	}
	// Two pages with each old or new, or three of which the third may never have come.
	if want := 4 + 8; len(seen) != want {
		t.Errorf("%d kinds of content, want %d: %v", len(seen), want, seen)
	}
}

func TestCutsReachEveryStepAndFate(t *testing.T) {
	type point struct {
		step int
		fate Fate
	}
	for _, steps := range []int{1, 7, 40} {
		seen := map[point]bool{}
		for _, c := range Cuts(3*steps, steps) {
			seen[point{c.Step, c.Fate}] = true
		}
		if len(seen) != 3*steps {
			t.Errorf("%d of %d points", len(seen), 3*steps)
		}
		for _, c := range Cuts(5, steps) {
			if c.Step < 1 || c.Step > steps {
				t.Errorf("step %d of %d", c.Step, steps)
			}
		}
	}
}
