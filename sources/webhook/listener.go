package webhook

import (
	"crypto/tls"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// limited lets at most n connections be open; more wait in the kernel's queue.
func limited(l net.Listener, n int) net.Listener {
	return &bounded{Listener: l, slots: make(chan struct{}, n), done: make(chan struct{})}
}

type bounded struct {
	net.Listener
	slots chan struct{} // one for each open connection
	done  chan struct{}
	once  sync.Once
}

// Accept waits for a slot, then for a connection.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.slots <- struct{}{}:
	case <-b.done:
		return nil, net.ErrClosed
	}
	conn, err := b.Listener.Accept()
	if err != nil {
		<-b.slots
		return nil, err
	}
	return &held{Conn: conn, release: func() { <-b.slots }}, nil
}

// Close ends Accept, also one that waits for a slot.
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.done) })
	return b.Listener.Close()
}

type held struct {
	net.Conn
	once    sync.Once
	release func()
}

// Close gives the slot back, once.
func (h *held) Close() error {
	h.once.Do(h.release)
	return h.Conn.Close()
}

// certificates reads a pair of files again when they change.
type certificates struct {
	cert, key string
	last      atomic.Pointer[loaded]
}

type loaded struct {
	pair    *tls.Certificate
	version [2]fileVersion
}

type fileVersion struct {
	size  int64
	mtime time.Time
}

// get returns the newest pair; while the files are being replaced, the one before.
func (c *certificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now := [2]fileVersion{versionOf(c.cert), versionOf(c.key)}
	last := c.last.Load()
	if last != nil && last.version == now {
		return last.pair, nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		if last != nil {
			return last.pair, nil
		}
		return nil, err
	}
	c.last.Store(&loaded{pair: &pair, version: now})
	return &pair, nil
}

func versionOf(path string) fileVersion {
	info, err := os.Stat(path)
	if err != nil {
		return fileVersion{}
	}
	return fileVersion{size: info.Size(), mtime: info.ModTime()}
}

// limiter lets through what happens often once in a while.
type limiter struct {
	every time.Duration
	last  atomic.Int64 // when, in nanoseconds since 1970
	held  atomic.Int64 // since then
}

// allow reports whether to tell, and how many were held back since the last.
func (l *limiter) allow(now time.Time) (before int64, ok bool) {
	last := l.last.Load()
	if last != 0 && now.UnixNano()-last < int64(l.every) || !l.last.CompareAndSwap(last, now.UnixNano()) {
		l.held.Add(1)
		return 0, false
	}
	return l.held.Swap(0), true
}
