package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// storeFiles are the files of a Repo's store that fit a pattern.
func storeFiles(t *testing.T, r *Repo, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(r.store.current(), pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("no %s in %s", pattern, r.store.current())
	}
	return found
}

func TestDamagedStoreIsFetchedAnew(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, r *Repo)
	}{
		{"every byte of the packs after the header", func(t *testing.T, r *Repo) {
			change(t, storeFiles(t, r, "*.pack"), func(data []byte) []byte {
				for i := 12; i < len(data); i++ {
					data[i] ^= 0x55
				}
				return data
			})
		}},
		{"one bit in each pack", func(t *testing.T, r *Repo) {
			change(t, storeFiles(t, r, "*.pack"), func(data []byte) []byte {
				data[len(data)/2] ^= 1
				data[14] ^= 1
				return data
			})
		}},
		{"packs cut off", func(t *testing.T, r *Repo) {
			change(t, storeFiles(t, r, "*.pack"), func(data []byte) []byte { return data[:20] })
		}},
		{"empty packs", func(t *testing.T, r *Repo) {
			change(t, storeFiles(t, r, "*.pack"), func([]byte) []byte { return nil })
		}},
		{"indexes cut off", func(t *testing.T, r *Repo) {
			change(t, storeFiles(t, r, "*.idx"), func(data []byte) []byte { return data[:len(data)/2] })
		}},
		{"packs gone", func(t *testing.T, r *Repo) { remove(t, storeFiles(t, r, "*.pack")) }},
		{"indexes gone", func(t *testing.T, r *Repo) { remove(t, storeFiles(t, r, "*.idx")) }},
		{"state is nonsense", func(t *testing.T, r *Repo) {
			change(t, storeFiles(t, r, "state.json"), func([]byte) []byte { return []byte("{") })
		}},
		{"state is another version's", func(t *testing.T, r *Repo) {
			change(t, storeFiles(t, r, "state.json"), func([]byte) []byte { return []byte(`{"format": 99}`) })
		}},
		{"of another repository", func(t *testing.T, r *Repo) {
			change(t, storeFiles(t, r, "state.json"), func(data []byte) []byte {
				return []byte(strings.Replace(string(data), "repo.git", "other.git", 1))
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newForge(t)
			f.write("a.yaml", "a")
			f.push("first")
			url := f.serve().url()
			dir := filepath.Join(t.TempDir(), "git")
			use := func(cfg *Config) { cfg.Dir = dir }
			mustLook(t, newRepo(t, url, use), "main", everything())
			c.damage(t, newRepo(t, url, use))
			got := mustLook(t, newRepo(t, url, use), "main", everything())
			if got.Renewed == "" {
				t.Error("the damage is not told")
			}
			f.write("b.yaml", "b")
			f.push("second")
			got = mustLook(t, newRepo(t, url, use), "main", everything())
			if want := map[string]string{"a.yaml": "a", "b.yaml": "b"}; !maps.Equal(texts(got), want) || got.Renewed != "" {
				t.Errorf("read %v, renewed %q", texts(got), got.Renewed)
			}
		})
	}
}

func change(t *testing.T, paths []string, f func([]byte) []byte) {
	t.Helper()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, f(data), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func remove(t *testing.T, paths []string) {
	t.Helper()
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatAKilledAgentLeftIsSwept(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a1")
	f.push("first")
	r := newRepo(t, f.serve().url())
	mustLook(t, r, "main", everything())
	for _, name := range []string{"new-1/1.pack", "old-2/current/1.pack", "current/half.pack"} {
		path := filepath.Join(r.cfg.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("PACK"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.write("a.yaml", "a2")
	f.push("second")
	if got := mustLook(t, r, "main", everything()); texts(got)["a.yaml"] != "a2" || got.Renewed != "" {
		t.Errorf("read %v, renewed %q", texts(got), got.Renewed)
	}
	for _, pattern := range []string{"new-*", "old-*", "current/half.pack"} {
		if left, _ := filepath.Glob(filepath.Join(r.cfg.Dir, pattern)); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
	// Killed between the two renames of a swap: nothing is in force.
	if err := os.Rename(r.store.current(), filepath.Join(r.cfg.Dir, "old-3")); err != nil {
		t.Fatal(err)
	}
	if got := mustLook(t, r, "main", everything()); texts(got)["a.yaml"] != "a2" {
		t.Errorf("read %v", texts(got))
	}
}

func TestKnownCommitIsReadWithoutTheServer(t *testing.T) {
	f := newForge(t)
	f.write("pods/a.yaml", "a")
	f.write("more/b.yaml", "b")
	f.push("first")
	h := f.serve()
	r := newRepo(t, h.url())
	mustLook(t, r, "main", within("pods"))
	h.take()
	got := mustLook(t, r, "main", within("more"))
	if texts(got)["more/b.yaml"] != "b" || len(h.take()) != 1 {
		t.Errorf("another path of the same commit was fetched: %v", texts(got))
	}
}

func TestDiskDoesNotGrow(t *testing.T) {
	for _, c := range []struct {
		name   string
		filter string
		change func(f *forge, i int)
		looks  int
	}{
		{"many small changes", "true", func(*forge, int) {}, maxPacks/2 + 5},
		{"some large changes", "false", func(f *forge, i int) { f.write("big.txt", noise(256<<10, i)) }, 12},
	} {
		f := newForge(t)
		f.server("config", "uploadpack.allowFilter", c.filter)
		f.write("big.txt", noise(256<<10, 0))
		f.write("a.yaml", "0")
		f.push("first")
		r := newRepo(t, f.bare)
		mustLook(t, r, "main", everything())
		first, _ := diskUse(t, r.cfg.Dir)
		most, files := int64(0), 0
		for i := range c.looks {
			c.change(f, i)
			f.write("a.yaml", fmt.Sprint(i))
			f.push("more")
			if got := mustLook(t, r, "main", everything()); texts(got)["a.yaml"] != fmt.Sprint(i) || got.Renewed != "" {
				t.Fatalf("%s: read %v, renewed %q", c.name, texts(got), got.Renewed)
			}
			n, count := diskUse(t, r.cfg.Dir)
			most, files = max(most, n), max(files, count)
		}
		if most > max(maxGrowth*first, minGrowth)+512<<10 || files > 2*maxPacks+4 {
			t.Errorf("%s: grew from %d to %d bytes, %d files", c.name, first, most, files)
		}
	}
}

// noise does not compress.
func noise(n, seed int) string {
	data, state := make([]byte, n), uint32(seed+1)*2654435761
	for i := range data {
		state = state*1664525 + 1013904223
		data[i] = byte(state >> 24)
	}
	return string(data)
}

func TestOnlyWhatHasChangedIsSent(t *testing.T) {
	f := newForge(t)
	f.write("big.txt", noise(256<<10, 0))
	f.write("a.yaml", "1")
	f.push("first")
	h := f.serve()
	for _, old := range []bool{false, true} {
		h.intercept(nil)
		if old {
			h.intercept(onlyOld)
		}
		r := newRepo(t, h.url())
		mustLook(t, r, "main", everything())
		f.write("a.yaml", fmt.Sprint(old))
		f.push("second")
		h.take()
		mustLook(t, r, "main", everything())
		total := 0
		for _, seen := range h.take() {
			total += seen.bytes
		}
		if total > 4<<10 {
			t.Errorf("a small change cost %d bytes (old server: %v)", total, old)
		}
	}
}

func TestFullDiskKeepsWhatIsThere(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a1")
	f.push("first")
	h := f.serve()
	dir := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=512k"); err != nil {
		if errors.Is(err, unix.EPERM) {
			t.Skip("a small disk can't be mounted here")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	r := newRepo(t, h.url(), func(cfg *Config) { cfg.Dir = filepath.Join(dir, "git") })
	first := mustLook(t, r, "main", everything())
	before, _ := diskUse(t, dir)
	f.write("big.txt", noise(2<<20, 0))
	f.push("second")
	for range 2 {
		_, err := look(t, r, "main", everything())
		if !errors.Is(err, unix.ENOSPC) {
			t.Errorf("the error does not say it: %v", err)
		}
		wantError(t, err, r.cfg.Dir+": no space left on device")
		wantSame(t, r, err)
		if after, _ := diskUse(t, dir); after > before {
			t.Errorf("%d bytes are left behind", after-before)
		}
	}
	h.intercept(func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusTeapot); return true })
	if got := mustLook(t, r, first.Commit.Hash, everything()); texts(got)["a.yaml"] != "a1" {
		t.Error("what was there before is of no use any more")
	}
	h.intercept(nil)
	f.in("rm", "-q", "big.txt")
	f.push("third")
	mustLook(t, r, "main", everything())
}

func TestEndOfContextEndsAFetch(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a")
	f.push("first")
	h := f.serve()
	r := newRepo(t, h.url())
	v := r.Visit()
	defer v.Close()
	target, err := v.Resolve(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	h.intercept(func(http.ResponseWriter, *http.Request) bool { cancel(); <-ctx.Done(); return false })
	if _, err := v.Read(ctx, target, everything()); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	h.intercept(nil)
	mustLook(t, r, "main", everything())
	if left, _ := filepath.Glob(filepath.Join(r.cfg.Dir, "new-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
