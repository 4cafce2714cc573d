package gitrepo

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/podstead/podstead/test/powercut"
)

// The power may go at any step of a fetch, and what is fetched is not even synced:
// it is only a cache. Whatever is left of it, the commit is read right, by what it
// is or by fetching it anew, and nothing of the cut stays.
func TestPowerCutsInAFetch(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a1")
	f.write("b/c.yaml", "c1")
	first := f.push("first")
	f.write("a.yaml", "a2")
	second := f.push("second")
	url := f.serve().url()
	want := map[string]string{"a.yaml": "a2", "b/c.yaml": "c1"}

	disk := powercut.New(t)
	dir := filepath.Join(disk.Dir, "sources", "git", "objects")
	repo := func() *Repo { return newRepo(t, url, func(cfg *Config) { cfg.Dir = dir }) }
	fetch := func() error {
		_, err := look(t, repo(), second, everything())
		return err
	}
	before := func() {
		disk.Clear()
		mustLook(t, repo(), first, everything())
		disk.Arm(0)
	}
	before()
	if err := fetch(); err != nil {
		t.Fatal(err)
	}
	for _, cut := range powercut.Cuts(powercut.Number(12), disk.Steps()+1) {
		before()
		disk.Arm(cut.Step)
		_ = fetch() // which the cut may end
		disk.Restore(cut.Fate, cut.Chance)
		for range 2 {
			if got := mustLook(t, repo(), second, everything()); !maps.Equal(texts(got), want) {
				t.Errorf("%s: read %v", cut, texts(got))
			}
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
			t.Errorf("%s: left of the cut: %v, %v", cut, left, err)
		}
	}
}
