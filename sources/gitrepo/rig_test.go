package gitrepo

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// forge is a repository on a server, and a work tree to push to it from.
type forge struct {
	t    *testing.T
	bare string // repo.git
	work string
}

func newForge(t *testing.T) *forge {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the git program is not installed, which plays the server")
	}
	root := t.TempDir()
	f := &forge{t: t, bare: filepath.Join(root, "repo.git"), work: filepath.Join(root, "work")}
	f.git(root, "init", "-q", "--bare", "--initial-branch=main", f.bare)
	f.git(root, "init", "-q", "--initial-branch=main", f.work)
	f.git(f.work, "remote", "add", "origin", f.bare)
	return f
}

// git runs git with no settings but its own.
func (f *forge) git(dir string, args ...string) string {
	f.t.Helper()
	return f.feed(dir, "", args...)
}

func (f *forge) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(withoutGit(os.Environ()), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@localhost", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@localhost")
	return cmd
}

// in runs git in the work tree.
func (f *forge) in(args ...string) string { f.t.Helper(); return f.git(f.work, args...) }

// server runs git in the bare repository.
func (f *forge) server(args ...string) string { f.t.Helper(); return f.git(f.bare, args...) }

func (f *forge) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.work, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// commit records the work tree and returns the commit.
func (f *forge) commit(message string) string {
	f.t.Helper()
	f.in("add", "--all")
	f.in("commit", "-q", "--allow-empty", "-m", message)
	return f.in("rev-parse", "HEAD")
}

// push commits and pushes main.
func (f *forge) push(message string) string {
	f.t.Helper()
	commit := f.commit(message)
	f.in("push", "-q", "--force", "origin", "HEAD:refs/heads/main")
	return commit
}

// request is one that the server was sent, and what it answered.
type request struct {
	method, path, protocol, auth string
	bytes                        int // both ways, without headers
}

// hub is a smart HTTP server.
type hub struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
	// before may answer in the place of git; true if it did.
	before func(w http.ResponseWriter, r *http.Request) bool
}

// serve puts the forge behind smart HTTP: git's own http-backend.
func (f *forge) serve() *hub {
	h := &hub{}
	h.Server = httptest.NewServer(h.handler(f))
	f.t.Cleanup(h.Close)
	return h
}

func (h *hub) handler(f *forge) http.Handler {
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		f.t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path:   filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env:    []string{"GIT_PROJECT_ROOT=" + filepath.Dir(f.bare), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1"},
		Stderr: io.Discard,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		counted := &countedWriter{ResponseWriter: w, n: len(body)}
		h.mu.Lock()
		before := h.before
		h.mu.Unlock()
		seen := request{r.Method, r.URL.RequestURI(), r.Header.Get("Git-Protocol"), r.Header.Get("Authorization"), 0}
		if before == nil || !before(counted, r) {
			backend.ServeHTTP(counted, r)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		seen.bytes = counted.n
		h.requests = append(h.requests, seen)
	})
}

func (h *hub) url() string { return h.URL + "/repo.git" }

// intercept lets f answer first.
func (h *hub) intercept(f func(http.ResponseWriter, *http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.before = f
}

// take returns the requests since the last take.
func (h *hub) take() []request {
	h.mu.Lock()
	defer h.mu.Unlock()
	got := h.requests
	h.requests = nil
	return got
}

// onlyOld makes the server one that never heard of version 2.
func onlyOld(_ http.ResponseWriter, r *http.Request) bool {
	r.Header.Del("Git-Protocol")
	return false
}

type countedWriter struct {
	http.ResponseWriter
	n int
}

func (w *countedWriter) Write(p []byte) (int, error) {
	w.n += len(p)
	return w.ResponseWriter.Write(p)
}

// newRepo returns a Repo with a cache of its own.
func newRepo(t *testing.T, url string, settings ...func(*Config)) *Repo {
	t.Helper()
	cfg := Config{URL: url, Dir: filepath.Join(t.TempDir(), "git"), IdleTimeout: 5 * time.Second}
	for _, set := range settings {
		set(&cfg)
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func everything() Scope { return within("") }

func within(paths ...string) Scope {
	return Scope{Paths: paths, Keep: func(name string) bool { return strings.HasSuffix(name, ".yaml") }}
}

// look resolves a ref and reads it, in one visit.
func look(t *testing.T, r *Repo, ref string, scope Scope) (Reading, error) {
	t.Helper()
	v := r.Visit()
	defer v.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	target, err := v.Resolve(ctx, ref)
	if err != nil {
		return Reading{}, err
	}
	return v.Read(ctx, target, scope)
}

// mustLook is look where nothing may go wrong.
func mustLook(t *testing.T, r *Repo, ref string, scope Scope) Reading {
	t.Helper()
	got, err := look(t, r, ref, scope)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// texts are the files read, by path.
func texts(got Reading) map[string]string {
	all := map[string]string{}
	for _, f := range got.Files {
		all[f.Path] = string(f.Data)
	}
	return all
}

func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q lacks %q", err, word)
		}
	}
}

// wantSame looks again, and wants the same one line to be said: a log tells it once.
func wantSame(t *testing.T, r *Repo, before error) {
	t.Helper()
	_, err := look(t, r, "main", everything())
	if err == nil || err.Error() != before.Error() || strings.Contains(err.Error(), "\n") {
		t.Errorf("the same trouble is told as\n%v\n%v", before, err)
	}
}

// diskUse is what a folder holds.
func diskUse(t *testing.T, dir string) (bytes int64, files int) {
	t.Helper()
	err := filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			bytes, files = bytes+info.Size(), files+1
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes, files
}

// feed is git with an input.
func (f *forge) feed(dir, input string, args ...string) string {
	f.t.Helper()
	cmd := f.command(dir, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
