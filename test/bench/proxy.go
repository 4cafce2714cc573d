package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"regexp"
	"strings"
	"sync"

	"github.com/podstead/podstead/test/rig"
)

// proxy stands between an agent and the engine on a socket of its own. It
// counts calls by kind and keeps the bodies of container creations.
type proxy struct {
	socket string
	server *http.Server
	done   chan struct{}

	mu      sync.Mutex
	calls   map[string]int
	creates []json.RawMessage
}

// openProxy listens at once; close ends it and its goroutine.
func openProxy(socket string, to *rig.Engine) (*proxy, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(context.Background(), "unix", socket)
	if err != nil {
		return nil, err
	}
	p := &proxy{socket: socket, calls: map[string]int{}, done: make(chan struct{})}
	p.server = &http.Server{Handler: p.handler(to)}
	go func() {
		defer close(p.done)
		// Serve always ends with an error; the one of close is the good one.
		if err := p.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			ln.Close()
		}
	}()
	return p, nil
}

func (p *proxy) close() {
	p.server.Close()
	<-p.done
}

func (p *proxy) handler(to *rig.Engine) http.Handler {
	forward := &httputil.ReverseProxy{
		Transport:     to.Transport,
		FlushInterval: -1, // events must not wait in a buffer
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "engine"
		},
		// An agent that is killed leaves its calls; nobody needs to read of it.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.note(r)
		forward.ServeHTTP(w, r)
	})
}

func (p *proxy) note(r *http.Request) {
	kind := kindOf(r.Method, r.URL.Path)
	var body []byte
	if kind == "POST /containers/create" {
		// A short read shows at the engine, which refuses the body.
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[kind]++
	if body != nil {
		p.creates = append(p.creates, body)
	}
}

// take returns what was counted since the last take.
func (p *proxy) take() (map[string]int, []json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls, creates := p.calls, p.creates
	p.calls, p.creates = map[string]int{}, nil
	return calls, creates
}

var (
	apiVersion = regexp.MustCompile(`^/v\d+\.\d+`)
	object     = regexp.MustCompile(`^/(containers|networks|exec|volumes)/([^/]+)`)
)

// kindOf names a call without the API version and the object it concerns.
func kindOf(method, path string) string {
	path = apiVersion.ReplaceAllString(path, "")
	if m := object.FindStringSubmatch(path); m != nil && m[2] != "json" && m[2] != "create" {
		path = "/" + m[1] + "/{id}" + strings.TrimPrefix(path, m[0])
	}
	if strings.HasPrefix(path, "/images/") && strings.HasSuffix(path, "/json") && path != "/images/json" {
		path = "/images/{ref}/json"
	}
	return method + " " + path
}

// writes sums the calls that change something.
func writes(calls map[string]int) int {
	n := 0
	for kind, count := range calls {
		if !strings.HasPrefix(kind, "GET ") && !strings.HasPrefix(kind, "HEAD ") {
			n += count
		}
	}
	return n
}

func sum(calls map[string]int) int {
	n := 0
	for _, count := range calls {
		n += count
	}
	return n
}
