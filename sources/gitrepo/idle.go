package gitrepo

import (
	"context"
	"errors"
	"fmt"
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
		return 0, silent(err)
	}
	n, err := c.Conn.Read(p)
	return n, silent(err)
}

// Write gives the other side its time to answer, too.
func (c idleConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, silent(err)
	}
	n, err := c.Conn.Write(p)
	return n, silent(err)
}

func (c idleConn) Close() error { return silent(c.Conn.Close()) }

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

// silent names a deadline as what it means, and takes our own address out of
// other errors: the same trouble must read the same each time.
func silent(err error) error {
	var op *net.OpError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSilent
	case errors.As(err, &op):
		return fmt.Errorf("%s: %w", op.Op, op.Err)
	}
	return err
}

// cause is a network's error without what was done and between whom.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// dial connects to a server that must not fall silent.
func (r *Repo) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: r.cfg.IdleTimeout, KeepAlive: -1}
	conn, err := dialer.DialContext(ctx, network, addr)
	var lookup *net.DNSError
	switch {
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return nil, fmt.Errorf("look up %s: no such host", lookup.Name)
	case errors.As(err, &lookup) && ctx.Err() == nil:
		return nil, fmt.Errorf("look up %s: no answer", lookup.Name)
	case err != nil: // whichever of the host's addresses was tried
		return nil, fmt.Errorf("dial %s: %w", addr, cause(err))
	}
	return idleConn{Conn: conn, limit: r.cfg.IdleTimeout}, nil
}
