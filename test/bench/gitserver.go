package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// gitServer serves the repositories below a folder over smart HTTP on loopback,
// with git's own http-backend, and counts what it is asked and what it answers.
type gitServer struct {
	url      string
	server   *http.Server
	requests atomic.Int64
	bytes    atomic.Int64 // of bodies, both ways
	// memory keeps answers, so that the server's own work is not measured with
	// ten thousand polls; nil keeps none.
	memory *sync.Map
}

// serveGit serves until close.
func serveGit(root string) (*gitServer, error) {
	backend, err := rig.GitBackend(root)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &gitServer{url: "http://" + l.Addr().String()}
	s.server = &http.Server{Handler: s.count(backend), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(l) }() // ends with close
	return s, nil
}

func (s *gitServer) close() { _ = s.server.Close() }

// remember answers a request that was answered before as it was then.
func (s *gitServer) remember() { s.memory = &sync.Map{} }

// take returns what was counted since the last call.
func (s *gitServer) take() (requests, size int64) {
	return s.requests.Swap(0), s.bytes.Swap(0)
}

// answer is a response as it was given.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (s *gitServer) count(backend http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		asked, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client went away
		}
		s.bytes.Add(int64(len(asked)))
		// The header as CGI wants it (Go names the variable HTTP_GIT_PROTOCOL itself).
		r.Body = io.NopCloser(bytes.NewReader(asked))
		if s.memory == nil {
			backend.ServeHTTP(&counter{ResponseWriter: w, size: &s.bytes}, r)
			return
		}
		key := r.Method + r.URL.String() + string(asked)
		kept, ok := s.memory.Load(key)
		if !ok {
			rec := &recorder{header: http.Header{}, status: http.StatusOK}
			backend.ServeHTTP(rec, r)
			kept, _ = s.memory.LoadOrStore(key, answer{rec.status, rec.header, rec.body.Bytes()})
		}
		a := kept.(answer)
		for name, values := range a.header {
			w.Header()[name] = values
		}
		w.WriteHeader(a.status)
		n, _ := w.Write(a.body) // a client that went away is its own affair
		s.bytes.Add(int64(n))
	})
}

// counter adds up what is written.
type counter struct {
	http.ResponseWriter
	size *atomic.Int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.size.Add(int64(n))
	return n, err
}

// recorder keeps a response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
