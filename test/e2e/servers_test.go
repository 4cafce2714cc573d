//go:build e2e

package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/podstead/podstead/test/rig"
)

// door stands before a server, on an address of its own, and can be shut: then
// whoever comes finds the line cut.
type door struct {
	url  string
	shut atomic.Bool
}

// open gives a handler an address on loopback until the test ends.
func open(t *testing.T, handler http.Handler) *door {
	t.Helper()
	d := &door{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.shut.Load() {
			handler.ServeHTTP(w, r)
			return
		}
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close() // without a word
		}
	}))
	server.Config.SetKeepAlivesEnabled(false) // nobody keeps a foot in the door
	server.Start()
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

// board serves one text, which a test exchanges, with a validator.
type board struct {
	mu    sync.Mutex
	text  string
	moved int
}

func (b *board) write(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = text
	b.moved++
}

func (b *board) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	tag := `"` + strings.Repeat("i", b.moved) + `"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write([]byte(b.text)) // a client that went away is its own affair
}

// repository is a git repository and the folder whose contents are committed.
type repository struct {
	*testing.T
	*rig.Repository
	folder  string
	backend http.Handler
}

// newRepository is an empty one, below a server's root.
func newRepository(t *testing.T) *repository {
	t.Helper()
	root := t.TempDir()
	r := &repository{T: t, folder: filepath.Join(root, "work")}
	r.must(os.Mkdir(r.folder, 0o700))
	var err error
	r.Repository, err = rig.NewRepository(filepath.Join(root, "fleet.git"))
	r.must(err)
	r.backend, err = rig.GitBackend(root)
	r.must(err)
	return r
}

func (r *repository) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// serve gives the repository an address; several lead to one repository.
func (r *repository) serve() (*door, string) {
	r.Helper()
	d := open(r.T, r.backend)
	return d, d.url + "/fleet.git"
}

// put writes a file to be committed.
func (r *repository) put(file, text string) {
	r.Helper()
	path := filepath.Join(r.folder, file)
	r.must(os.MkdirAll(filepath.Dir(path), 0o700))
	r.must(os.WriteFile(path, []byte(text), 0o600))
}

// drop removes a file or folder.
func (r *repository) drop(file string) {
	r.Helper()
	r.must(os.RemoveAll(filepath.Join(r.folder, file)))
}

// edit replaces words of a file, which are there.
func (r *repository) edit(file, old, new string) {
	r.Helper()
	path := filepath.Join(r.folder, file)
	text, err := os.ReadFile(path)
	r.must(err)
	if !strings.Contains(string(text), old) {
		r.Fatalf("%s holds no %q", file, old)
	}
	r.must(os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, new)), 0o600))
}

// push commits what the folder holds.
func (r *repository) push(message string) (commit string) {
	r.Helper()
	commit, err := r.Commit(r.folder, message)
	r.must(err)
	return commit
}
