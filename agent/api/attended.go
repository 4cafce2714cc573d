package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"
)

// presence is how often it is looked whether the client is still there.
const presence = time.Second

// Why the context of an attended client ended. The second one is what the client is
// told.
var (
	errClientGone = errors.New("the client is gone")
	errAgentEnds  = errors.New("the agent is being stopped; what was begun in the container goes on there")
)

// attended serves a client that takes its connection over, in a context of its own
// that ends, with one of these causes, when the client goes away or the server ends.
// Nobody else notices the first while what the client sent is not read. At the
// second, serve has a moment to tell. It returns when serve has, with the connection
// closed.
func attended(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter, *http.Request)) {
	// What is wrong with the client's end is not the agent's to log.
	ctx, cancel := context.WithCancelCause(klog.NewContext(context.WithoutCancel(r.Context()), klog.Logger{}))
	defer cancel(nil)
	taken, served := &takenOver{ResponseWriter: w}, make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() { attend(r.Context(), taken, cancel, served) })
	serve(taken, r.WithContext(ctx))
	close(served)
	taken.close()
	beside.Wait()
}

// attend cancels when the client is gone, or the server at its end, and then closes
// the connection if it is still served after some time: its client does not read.
func attend(server context.Context, taken *takenOver, cancel context.CancelCauseFunc, served <-chan struct{}) {
	tick := time.NewTicker(presence)
	defer tick.Stop()
	for why := error(nil); why == nil; {
		select {
		case <-served:
			return
		case <-server.Done():
			why = errAgentEnds // or the HTTP server has read the client's end itself
		case <-tick.C:
		}
		if taken.gone() {
			why = errClientGone
		}
		if why != nil {
			cancel(why)
		}
	}
	patience := time.NewTimer(closeTimeout)
	defer patience.Stop()
	select {
	case <-served:
	case <-patience.C:
		taken.close()
	}
}

// gone reports whether the client has closed its end, however much of what it sent
// is still unread.
func (t *takenOver) gone() bool {
	t.mu.Lock()
	conn, taken := t.conn.(*closedOnce)
	t.mu.Unlock()
	if !taken {
		return false
	}
	raw, ok := conn.Conn.(syscall.Conn)
	return ok && hungUp(raw)
}

// closedOnce can be closed again: the SPDY library lingers where it cannot.
type closedOnce struct {
	net.Conn
	once sync.Once
}

// Close closes the connection the first time. What it carried is over.
func (c *closedOnce) Close() error {
	c.once.Do(func() { _ = c.Conn.Close() })
	return nil
}

func hungUp(conn syscall.Conn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return errors.Is(err, net.ErrClosed)
	}
	var up bool
	err = raw.Control(func(fd uintptr) {
		watched := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(watched, 0)
		up = err == nil && n > 0
	})
	return up || errors.Is(err, net.ErrClosed)
}
