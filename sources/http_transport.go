package sources

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// newTransport speaks HTTP/1.1: one request at a time needs no more. It keeps
// one connection between looks, until close.
func (s *httpSettings) newTransport(files httpFiles, idle *silence) (*http.Transport, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CAFile != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(files.ca) {
			return nil, fmt.Errorf("%s holds no certificate", s.CAFile)
		}
	}
	if s.CertFile != "" {
		pair, err := tls.X509KeyPair(files.cert, files.key)
		if err != nil {
			return nil, fmt.Errorf("%s with %s: %w", s.CertFile, s.KeyFile, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	dialer := &net.Dialer{Timeout: s.IdleTimeout}
	return &http.Transport{
		Proxy: s.proxyFor,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, dialFailed(address, err)
			}
			idle.stir()
			return &heardConn{Conn: conn, idle: idle}, nil
		},
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    s.Timeout,
		MaxIdleConns:           1,
		IdleConnTimeout:        2 * time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
	}, nil
}

func (s *httpSettings) proxyFor(req *http.Request) (*url.URL, error) {
	if s.proxy != nil {
		return s.proxy, nil
	}
	proxy, err := http.ProxyFromEnvironment(req)
	if err != nil { // it repeats the variable, password and all
		return nil, errors.New("the environment's HTTP_PROXY or HTTPS_PROXY is no URL")
	}
	return proxy, nil
}

// silence ends a look in which nothing is heard. Connections outlive looks, and
// stir whichever is under way.
type silence struct {
	limit time.Duration
	timer atomic.Pointer[time.Timer] // of the look under way
}

// errSilent is the cause of a look's end.
var errSilent = errors.New("silence")

// watch returns a context that ends when nothing was heard for the limit. The
// caller must call stop.
func (s *silence) watch(ctx context.Context) (watched context.Context, stop func()) {
	watched, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(s.limit, func() { cancel(errSilent) })
	s.timer.Store(timer)
	return watched, func() {
		s.timer.Store(nil)
		timer.Stop()
		cancel(nil)
	}
}

// stir notes that something was heard. A timer that it starts again at the very
// end of a look ends what has ended already.
func (s *silence) stir() {
	if timer := s.timer.Load(); timer != nil {
		timer.Reset(s.limit)
	}
}

// heardConn stirs with every byte.
type heardConn struct {
	net.Conn
	idle *silence
}

func (c *heardConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.idle.stir()
	}
	return n, err
}
