package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// What one client may take.
const (
	maxBody      = 1 << 20
	maxHeader    = 16 << 10
	maxOpen      = 64 // connections
	headerWait   = 5 * time.Second
	readWait     = 10 * time.Second
	writeWait    = 10 * time.Second
	idleWait     = 30 * time.Second
	closeWait    = 500 * time.Millisecond
	listenAgain  = 5 * time.Second // after an address that could not be had
	triggerLimit = 10 * time.Minute
)

// Target is a source that a push may concern.
type Target struct {
	Name string
	Git  bool
	// URL and Ref of a repository as configured, Ref as it is on this node; ""
	// for the server's HEAD.
	URL string
	Ref string
}

// Config is what a Server needs.
type Config struct {
	Address string // host:port
	Path    string // that is answered; "" for /
	// SecretFile holds the key of signed pushes and GitLab's token, TokenFile the
	// token of generic ones. They are read at each push. One is enough.
	SecretFile string
	TokenFile  string
	// CertFile and KeyFile make it https; they are read again when they change.
	CertFile string
	KeyFile  string
	// Targets are the sources as configured now.
	Targets func() []Target
	// Trigger makes a source look and returns when it has; never more than once
	// at a time for one source.
	Trigger func(ctx context.Context, source string) error
	// State is told the address that is listened on, or why there is none; nil
	// for nobody. It is called by Run's goroutine.
	State  func(address string, err error)
	Logger *slog.Logger
}

// Server turns pushes into looks.
type Server struct {
	cfg      Config
	certs    *certificates // nil for plain http
	asked    chan []string // sources to trigger
	refusals limiter
}

// New returns a server that does nothing until Run. Without a secret there is
// none.
func New(cfg Config) (*Server, error) {
	switch {
	case cfg.SecretFile == "" && cfg.TokenFile == "":
		return nil, errors.New("configure webhook: without a secret there is no listener")
	case cfg.Address == "" || cfg.Targets == nil || cfg.Trigger == nil || cfg.Logger == nil:
		return nil, errors.New("configure webhook: address, targets, trigger and logger are needed")
	case (cfg.CertFile == "") != (cfg.KeyFile == ""):
		return nil, errors.New("configure webhook: certificate and key belong together")
	}
	if cfg.Path == "" {
		cfg.Path = "/"
	}
	if cfg.State == nil {
		cfg.State = func(string, error) {}
	}
	s := &Server{cfg: cfg, asked: make(chan []string), refusals: limiter{every: time.Minute}}
	if cfg.CertFile != "" {
		s.certs = &certificates{cert: cfg.CertFile, key: cfg.KeyFile}
	}
	return s, nil
}

// Run listens until ctx ends, and waits for all it started. An address that
// cannot be had is tried again: pods do not depend on it.
func (s *Server) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() { s.dispatch(ctx) })
	told := ""
	for ctx.Err() == nil {
		listened, err := s.serve(ctx)
		if ctx.Err() != nil {
			break
		}
		if listened || err.Error() != told {
			told = err.Error()
			s.cfg.Logger.Warn("webhook cannot be served, trying again", "err", err)
			s.cfg.State("", err)
		}
		again := time.NewTimer(listenAgain)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
		}
	}
	return ctx.Err()
}

// serve listens and answers until ctx ends or the listener breaks.
func (s *Server) serve(ctx context.Context) (listened bool, err error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.cfg.Address)
	if err != nil {
		return false, fmt.Errorf("listen on %s: %w", s.cfg.Address, err)
	}
	addr := l.Addr().String()
	l = limited(l, maxOpen)
	if s.certs != nil {
		l = tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.certs.get, NextProtos: []string{"http/1.1"}})
	}
	srv := &http.Server{
		Handler: http.MaxBytesHandler(http.HandlerFunc(s.answer), maxBody), MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerWait, ReadTimeout: readWait, WriteTimeout: writeWait, IdleTimeout: idleWait,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	s.cfg.Logger.Info("listening for webhooks", "address", addr, "path", s.cfg.Path, "tls", s.certs != nil)
	s.cfg.State(addr, nil)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err = <-served:
		_ = srv.Close()
		return true, fmt.Errorf("serve %s: %w", s.cfg.Address, err)
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	if srv.Shutdown(closing) != nil {
		_ = srv.Close()
	}
	<-served
	return true, ctx.Err()
}
