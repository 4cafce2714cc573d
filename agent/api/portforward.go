package api

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// forwardCreation is how long the second stream of a forwarded connection may take
// to come, as in the kubelet.
const forwardCreation = 30 * time.Second

// PortDialer connects to a port of the pod that it was made for.
type PortDialer func(ctx context.Context, port int) (net.Conn, error)

// portForward serves the kubelet's path, over SPDY or WebSocket.
func (h Handlers) portForward(w http.ResponseWriter, r *http.Request) {
	if h.PortForward == nil {
		fail(w, errNotServed)
		return
	}
	dial, err := h.PortForward(r.Context(), r.PathValue("namespace"), r.PathValue("pod"))
	if err != nil {
		fail(w, err)
		return
	}
	opts, err := portforward.NewV4Options(r)
	if err != nil {
		fail(w, fmt.Errorf("%w: %w", ErrBadRequest, err))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	taken := &takenOver{ResponseWriter: w}
	defer context.AfterFunc(ctx, taken.close)()
	f := &forwards{
		halves: !wsstream.IsWebSocketRequest(r),
		dial:   func(port int) (net.Conn, error) { return dial(ctx, port) },
		closer: func(c io.Closer) func() bool { return context.AfterFunc(ctx, func() { _ = c.Close() }) },
	}
	portforward.ServePortForward(taken, r, f, r.PathValue("namespace")+"/"+r.PathValue("pod"), "",
		opts, cmp.Or(h.StreamIdle, streamIdle), forwardCreation, portforward.SupportedProtocols)
	cancel()
	taken.close()
	f.wait()
}

// takenOver remembers the connection that is taken over from the HTTP server, so
// that it can be closed: the server does not know it any more.
type takenOver struct {
	http.ResponseWriter

	mu     sync.Mutex
	conn   net.Conn
	closed bool
}

// Hijack takes the connection over.
func (t *takenOver) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	hijacker, ok := t.ResponseWriter.(http.Hijacker)
	if !ok {
		return nil, nil, http.ErrNotSupported
	}
	conn, buffered, err := hijacker.Hijack()
	if err != nil {
		return nil, nil, err
	}
	conn = &closedOnce{Conn: conn}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		_ = conn.Close() // whoever uses it next meets that
	}
	t.conn = conn
	return conn, buffered, nil
}

func (t *takenOver) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.conn != nil {
		_ = t.conn.Close() // the client sees it end
	}
}

// forwards are the connections of one client. It ends with the client: what the
// streaming library starts for a connection is waited for here, which it does not
// do itself.
type forwards struct {
	halves bool // one direction of a stream can end before the other: SPDY
	dial   func(port int) (net.Conn, error)
	closer func(c io.Closer) func() bool // closes at the client's end, unless it is called off

	mu    sync.Mutex
	ended bool
	open  sync.WaitGroup
}

func (f *forwards) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended {
		f.open.Add(1)
	}
	return !f.ended
}

func (f *forwards) wait() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.open.Wait()
}

// PortForward carries one connection until both sides have said all. It returns
// what went wrong with the pod's side; the client is told.
func (f *forwards) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	if !f.begin() {
		return errors.New("the client is gone")
	}
	defer f.open.Done()
	if f.halves {
		// Nothing is sent, but only when the stream has been accepted: one that is
		// refused before that is a stream without a reason for its client.
		if _, err := stream.Write(nil); err != nil {
			return nil // the client is gone
		}
	}
	conn, err := f.dial(int(port))
	if err != nil {
		return err
	}
	defer conn.Close()
	defer f.closer(conn)()

	sent := make(chan struct{})
	f.open.Go(func() {
		defer close(sent)
		f.send(conn, stream)
	})
	if _, err := io.Copy(stream, conn); err != nil && !errors.Is(err, net.ErrClosed) {
		var pod *net.OpError
		if errors.As(err, &pod) && pod.Op == "read" {
			return fmt.Errorf("read from the pod: %w", err)
		}
		return nil // the client is gone, or has no ear any more
	}
	if f.halves {
		_ = stream.Close() // the pod has said all; the client may go on
		<-sent
	}
	return nil
}

// send carries what the client says to the pod. When the pod does not listen any
// more the rest is thrown away: nothing else that shares the client's connection
// would get through.
func (f *forwards) send(conn net.Conn, stream io.Reader) {
	_, err := io.Copy(conn, stream)
	if err != nil {
		_, _ = io.Copy(io.Discard, stream)
		return
	}
	half, ok := conn.(interface{ CloseWrite() error })
	if f.halves && ok {
		_ = half.CloseWrite() // a pod that is gone is met by the other direction
		return
	}
	_ = conn.Close()
}
