package gitrepo

import (
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// idleConn ends a read or a write that moves no byte for too long.
type idleConn struct {
	net.Conn
	limit time.Duration
}

func (c idleConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	return n, silent(err)
}

func (c idleConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	return n, silent(err)
}

// idlePipe is the same for what a process writes.
type idlePipe struct {
	*os.File
	limit time.Duration
}

func (p idlePipe) Read(b []byte) (int, error) {
	if err := p.SetReadDeadline(time.Now().Add(p.limit)); err != nil {
		return 0, err
	}
	n, err := p.File.Read(b)
	return n, silent(err)
}

func silent(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errSilent
	}
	return err
}

// dial connects to a server that must not fall silent.
func (r *Repo) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: r.cfg.IdleTimeout, KeepAlive: -1}
	conn, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return idleConn{Conn: conn, limit: r.cfg.IdleTimeout}, nil
}
