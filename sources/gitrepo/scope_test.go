package gitrepo

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestScope(t *testing.T) {
	f := newForge(t)
	for _, name := range []string{
		"root.yaml", "pods/a.yaml", "pods/b.yaml", "pods/deep/c.yaml", "pods/deep/test/d.yaml", "pods/notes.txt",
		"pods/.hidden/e.yaml", "nodes/n1/f.yaml", "single.conf",
	} {
		f.write(name, name)
	}
	f.push("all")
	repo := newRepo(t, f.serve().url())
	for _, c := range []struct {
		name             string
		paths            []string
		include, exclude []string
		want             []string
	}{
		{name: "everything", paths: []string{"."},
			want: []string{"nodes/n1/f.yaml", "pods/a.yaml", "pods/b.yaml", "pods/deep/c.yaml", "pods/deep/test/d.yaml", "root.yaml"}},
		{name: "two folders that overlap", paths: []string{"pods/deep", "pods/", "./nodes"},
			want: []string{"nodes/n1/f.yaml", "pods/a.yaml", "pods/b.yaml", "pods/deep/c.yaml", "pods/deep/test/d.yaml"}},
		{name: "one file of any name", paths: []string{"single.conf"}, want: []string{"single.conf"}},
		{name: "a hidden folder that is named", paths: []string{"pods/.hidden"}, want: []string{"pods/.hidden/e.yaml"}},
		{name: "globs", paths: []string{"pods"}, include: []string{"*.yaml"}, exclude: []string{"**/test", "b.yaml"},
			want: []string{"pods/a.yaml", "pods/deep/c.yaml"}},
		{name: "globs count from the path", paths: []string{"pods"}, include: []string{"deep/*"}, want: []string{"pods/deep/c.yaml"}},
		{name: "a folder without manifests", paths: []string{"pods/deep"}, exclude: []string{"**"}, want: nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			scope := within(c.paths...)
			scope.Include, scope.Exclude = c.include, c.exclude
			got := slices.Sorted(maps.Keys(texts(mustLook(t, repo, "main", scope))))
			if !slices.Equal(got, c.want) {
				t.Errorf("read %q, want %q", got, c.want)
			}
		})
	}
}

func TestPathThatIsNotInTheCommit(t *testing.T) {
	f := newForge(t)
	f.write("pods/a.yaml", "a")
	f.write("README.md", "readme")
	f.push("first")
	repo := newRepo(t, f.serve().url())
	for path, want := range map[string]string{
		"nowhere":        "path nowhere is not in the commit",
		"pods/deep":      "path pods/deep is not in the commit",
		"README.md/deep": "README.md is a file",
		"../other":       "leads upwards",
		"pods/../../x":   "leads upwards",
		"/etc":           "is absolute",
	} {
		_, err := look(t, repo, "main", within(path))
		wantError(t, err, want)
	}
	f.in("rm", "-q", "-r", "pods")
	f.push("folder gone")
	_, err := look(t, repo, "main", within("pods"))
	wantError(t, err, "path pods is not in the commit")
	if got := mustLook(t, repo, "main", everything()); len(got.Files) != 0 {
		t.Errorf("read %v", texts(got))
	}
}

func TestLinksAndSubmodulesAreNamedNotFollowed(t *testing.T) {
	f := newForge(t)
	f.write("pods/a.yaml", "a")
	f.write("clean/b.yaml", "b")
	for name, target := range map[string]string{
		"pods/x.yaml": "/etc/passwd", "pods/d": "/root", "pods/up.yaml": "../../secret", "lib": "pods",
	} {
		if err := os.Symlink(target, filepath.Join(f.work, name)); err != nil {
			t.Fatal(err)
		}
	}
	commit := f.push("links")
	f.feed(f.work, "160000 commit "+commit+"\tpods/common\n", "update-index", "--index-info")
	f.in("commit", "-q", "-m", "submodule")
	f.in("push", "-q", "origin", "HEAD:refs/heads/main")
	for name, repo := range ways(t, f) {
		_, err := look(t, repo, "main", within("pods"))
		wantError(t, err, "pods/x.yaml is a symbolic link", "pods/d is a symbolic link", "pods/up.yaml is a symbolic link",
			"pods/common is a submodule")
		_, err = look(t, repo, "main", within("lib/sub"))
		wantError(t, err, "lib is a symbolic link")
		_, err = look(t, repo, "main", within("pods/common"))
		wantError(t, err, "pods/common is a submodule")
		if got := mustLook(t, repo, "main", within("clean")); !maps.Equal(texts(got), map[string]string{"clean/b.yaml": "b"}) {
			t.Errorf("%s: what is beside the path matters: %v", name, texts(got))
		}
		scope := within("pods")
		scope.Exclude = []string{"x.yaml", "up.yaml", "d", "common"}
		if got := mustLook(t, repo, "main", scope); !maps.Equal(texts(got), map[string]string{"pods/a.yaml": "a"}) {
			t.Errorf("%s: read %v", name, texts(got))
		}
	}
}

func TestAWrongCommitIsFetchedOnce(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n")
	f.write("b.yaml", strings.Repeat("x", 2<<20))
	f.push("first")
	h := f.serve()
	repo := newRepo(t, h.url())
	for i := range 3 {
		_, err := look(t, repo, "main", everything())
		wantError(t, err, "a.yaml is a Git LFS pointer", "b.yaml exceeds the limit of 1048576 bytes for a file")
		if all := h.take(); i > 0 && len(all) != 1 {
			t.Errorf("look %d cost %+v", i, all)
		}
	}
	f.write("a.yaml", "a")
	f.write("b.yaml", "b")
	f.push("repaired")
	if got := mustLook(t, repo, "main", everything()); len(got.Files) != 2 || got.Renewed != "" {
		t.Errorf("read %v, renewed %q", texts(got), got.Renewed)
	}
}

func TestLimits(t *testing.T) {
	f := newForge(t)
	for _, name := range []string{"a", "b", "c"} {
		f.write(name+".yaml", strings.Repeat(name, 100))
	}
	f.push("first")
	h := f.serve()
	for _, c := range []struct {
		limits Limits
		want   string
	}{
		{Limits{Pack: 1 << 20, File: 1 << 20, Total: 250, Files: 10}, "limit of 250 bytes for the files in scope"},
		{Limits{Pack: 1 << 20, File: 1 << 20, Total: 1 << 20, Files: 2}, "limit of 2 files in scope"},
		{Limits{Pack: 1 << 20, File: 99, Total: 1 << 20, Files: 10}, "a.yaml exceeds the limit of 99 bytes"},
		{Limits{Pack: 64, File: 1 << 20, Total: 1 << 20, Files: 10}, "limit of 64 bytes for what is fetched at once"},
	} {
		repo := newRepo(t, h.url(), func(cfg *Config) { cfg.Limits = c.limits })
		for i := range 2 {
			h.take()
			_, err := look(t, repo, "main", everything())
			wantError(t, err, c.want)
			if n := len(h.take()); i > 0 && n != 1 {
				t.Errorf("%s: fetched again, %d requests", c.want, n)
			}
		}
	}
}
