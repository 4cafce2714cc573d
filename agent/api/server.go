package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits of one connection. Streams (watches, followed logs) may be written to
// for as long as their client reads.
const (
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	answerTimeout = 30 * time.Second // for writing an answer that is no stream
	closeTimeout  = 500 * time.Millisecond
	maxHeader     = 16 << 10
)

// Config is what a Server needs.
type Config struct {
	Socket   string // path of the unix socket
	Handlers Handlers
	Logger   *slog.Logger
}

// Server answers on one unix socket.
type Server struct {
	cfg Config
}

// New returns a server that listens once Run is called.
func New(cfg Config) (*Server, error) {
	if cfg.Socket == "" || cfg.Logger == nil {
		return nil, errors.New("make local API: socket path and logger are needed")
	}
	return &Server{cfg: cfg}, nil
}

// Run listens and answers until ctx ends, then ends every stream and waits for
// its handlers. It returns nil then, and an error when the socket cannot be
// opened or breaks.
func (s *Server) Run(ctx context.Context) error {
	l, err := listen(ctx, s.cfg.Socket)
	if err != nil {
		return err
	}
	var open sync.WaitGroup
	srv := &http.Server{
		Handler:           counted(&open, s.routes()),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	s.cfg.Logger.Info("serving the local API", "socket", s.cfg.Socket)

	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err = <-served:
		err = fmt.Errorf("serve %s: %w", s.cfg.Socket, err)
		s.shutDown(srv)
	case <-ctx.Done():
		s.shutDown(srv)
		<-served // it may not have begun, and then closes the socket only now
	}
	open.Wait()
	return err
}

// shutDown gives handlers, whose context has ended, a moment to say good-bye.
func (s *Server) shutDown(srv *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if srv.Shutdown(ctx) != nil {
		_ = srv.Close() // a client that does not read; it sees the connection end
	}
}

// counted lets Run wait for every handler.
func counted(open *sync.WaitGroup, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open.Add(1)
		defer open.Done()
		next.ServeHTTP(w, r)
	})
}

// routes are the kubelet's paths and ours. Only GET and HEAD are served, and
// POST, PUT or DELETE where something is to be done, or where the kubelet serves
// it; the mux answers others with 405.
func (s *Server) routes() http.Handler {
	h := s.cfg.Handlers
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", h.healthz)
	mux.HandleFunc("GET /pods", h.pods)
	mux.HandleFunc("GET /runningpods/{$}", h.runningPods)
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", h.logs)
	for _, method := range []string{"GET", "POST"} { // WebSocket, SPDY
		mux.HandleFunc(method+" /exec/{namespace}/{pod}/{container}", h.exec)
		mux.HandleFunc(method+" /exec/{namespace}/{pod}/{uid}/{container}", h.exec)
		mux.HandleFunc(method+" /attach/{namespace}/{pod}/{container}", h.attach)
		mux.HandleFunc(method+" /attach/{namespace}/{pod}/{uid}/{container}", h.attach)
	}
	mux.HandleFunc("GET /portForward/{namespace}/{pod}", h.portForward)
	mux.HandleFunc("POST /portForward/{namespace}/{pod}", h.portForward)
	mux.HandleFunc("GET /stats/summary", h.stats)
	mux.HandleFunc("POST /stats/summary", h.stats)
	mux.HandleFunc("GET /podstead/v1/containers/{namespace}/{pod}/{container}/file", h.filePlace)
	mux.HandleFunc("GET /podstead/v1/containers/{namespace}/{pod}/{container}/archive", h.readFiles)
	mux.HandleFunc("PUT /podstead/v1/containers/{namespace}/{pod}/{container}/archive", h.writeFiles)
	mux.HandleFunc("GET /metrics", h.metrics)
	mux.HandleFunc("GET /podstead/v1/status", h.status)
	mux.HandleFunc("GET /podstead/v1/sources", h.sources)
	mux.HandleFunc("POST /podstead/v1/sources/sync", h.sync)
	mux.HandleFunc("POST /podstead/v1/sources/{name}/sync", h.sync)
	mux.HandleFunc("POST /podstead/v1/sources/{name}/suspend", h.suspend)
	mux.HandleFunc("DELETE /podstead/v1/sources/{name}/suspend", h.suspend)
	mux.HandleFunc("POST /podstead/v1/pods/{namespace}/{pod}/restart", h.restart)
	mux.HandleFunc("GET /podstead/v1/drain", h.drained)
	mux.HandleFunc("POST /podstead/v1/drain", h.drain)
	mux.HandleFunc("DELETE /podstead/v1/drain", h.resume)
	mux.HandleFunc("GET /podstead/v1/events", h.events)
	mux.HandleFunc("GET /podstead/v1/configuration", h.settings)
	mux.HandleFunc("GET /podstead/v1/version", h.version)
	return mux
}
