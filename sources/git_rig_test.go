package sources

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// gitRig is a running git source, its repository, and what a receiver learned.
type gitRig struct {
	listener
	bare string
	work string
	cfg  GitConfig
}

func newGitRig(t *testing.T) *gitRig {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the git program is not installed, which plays the server")
	}
	root := t.TempDir()
	r := &gitRig{listener: listener{t: t, log: &logBook{}}, bare: filepath.Join(root, "fleet.git"), work: filepath.Join(root, "work")}
	r.git(root, "init", "-q", "--bare", "--initial-branch=main", r.bare)
	r.git(root, "init", "-q", "--initial-branch=main", r.work)
	r.git(r.work, "remote", "add", "origin", r.bare)
	r.cfg = GitConfig{
		Name: "fleet", URL: r.bare, Ref: "main", Paths: []string{"pods"}, Interval: time.Hour, Node: testNode,
		Dir: filepath.Join(root, "state"), Logger: r.log.logger(),
	}
	return r
}

// git runs git with no settings but its own.
func (r *gitRig) git(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@localhost", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@localhost")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// push makes these the files of main, and nothing else, and returns the commit.
func (r *gitRig) push(message string, files map[string]string) string {
	r.t.Helper()
	r.git(r.work, "rm", "-r", "-q", "--ignore-unmatch", ".")
	for name, text := range files {
		path := filepath.Join(r.work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git(r.work, "add", "--all")
	r.git(r.work, "commit", "-q", "--allow-empty", "-m", message)
	r.git(r.work, "push", "-q", "--force", "origin", "HEAD:refs/heads/main")
	return r.git(r.work, "rev-parse", "HEAD")
}

// start runs the source until it has looked once, of its own accord.
func (r *gitRig) start() *gitRig {
	r.t.Helper()
	source, err := NewGit(r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.listen(source)
	return r
}

// good is look where the newest commit must be in force.
func (r *gitRig) good(commit string, pods ...string) Snapshot {
	r.t.Helper()
	s, err := r.look()
	if err != nil || s.Revision != commit || !podSet(pods).exactly(s) {
		r.t.Fatalf("want %v of %s: %v, %s\nlog:\n%s", pods, commit, err, describe(s), r.log)
	}
	return s
}

// bad is look where the commit before stays in force, and the words say why.
func (r *gitRig) bad(commit string, pods []string, words ...string) {
	r.t.Helper()
	s, err := r.look()
	if err == nil || s.Revision != commit || !podSet(pods).exactly(s) {
		r.t.Fatalf("want %v of %s to stay: %v, %s", pods, commit, err, describe(s))
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			r.t.Errorf("%q lacks %q", err, word)
		}
	}
}
