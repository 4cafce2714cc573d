package gitrepo

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ways are how one repository is reached.
func ways(t *testing.T, f *forge) map[string]*Repo {
	lean := f.serve()
	old := f.serve()
	old.intercept(onlyOld)
	return map[string]*Repo{
		"http version 2": newRepo(t, lean.url()),
		"http version 0": newRepo(t, old.url()),
		"file":           newRepo(t, "file://"+f.bare),
		"path":           newRepo(t, f.bare),
	}
}

func TestReadsWhatIsPushed(t *testing.T) {
	for _, filter := range []string{"false", "true"} {
		f := newForge(t)
		f.server("config", "uploadpack.allowFilter", filter)
		f.write("pods/a.yaml", "a1")
		f.write("other/b.yaml", "b1")
		f.write("README.md", "hello")
		first := f.push("first\n\nwhy")
		repos := ways(t, f)
		for name, r := range repos {
			got := mustLook(t, r, "main", within("pods"))
			if want := map[string]string{"pods/a.yaml": "a1"}; !maps.Equal(texts(got), want) || got.Commit.Hash != first {
				t.Errorf("%s, filter %s: read %v of %s", name, filter, texts(got), got.Commit.Hash)
			}
			if got.Commit.Author != "Ada" || got.Commit.Subject != "first" || got.Commit.Time.IsZero() || got.Commit.AllowRemoval {
				t.Errorf("%s: commit is %+v", name, got.Commit)
			}
		}
		f.write("pods/a.yaml", "a2")
		f.write("pods/deep/c.yaml", "c1")
		second := f.push("second\n\nPodstead-Allow-Removal: yes")
		for name, r := range repos {
			got := mustLook(t, r, "", everything())
			want := map[string]string{"pods/a.yaml": "a2", "pods/deep/c.yaml": "c1", "other/b.yaml": "b1"}
			if !maps.Equal(texts(got), want) || got.Commit.Hash != second {
				t.Errorf("%s, filter %s: read %v of %s", name, filter, texts(got), got.Commit.Hash)
			}
			if got.Was != first || got.Renewed != "" || !got.Commit.AllowRemoval {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

func TestUnchangedRefAmongManyIsOneSmallRequest(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a")
	commit := f.push("first")
	var refs strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&refs, "%s refs/heads/topic/%05d\n", commit, i)
	}
	if err := os.WriteFile(filepath.Join(f.bare, "packed-refs"), []byte(refs.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	h := f.serve()
	r := newRepo(t, h.url())
	mustLook(t, r, "main", everything())
	h.take()
	before, _ := diskUse(t, r.cfg.Dir)
	for range 5 {
		v := r.Visit()
		target, err := v.Resolve(t.Context(), "main")
		v.Close()
		if err != nil || target.Commit != commit {
			t.Fatalf("resolved %v, %v", target, err)
		}
		all := h.take()
		if len(all) != 1 || all[0].method != http.MethodPost || all[0].bytes > 4<<10 {
			t.Errorf("an unchanged ref cost %+v", all)
		}
	}
	if after, _ := diskUse(t, r.cfg.Dir); after != before {
		t.Errorf("an unchanged ref wrote %d bytes", after-before)
	}
}
