package api

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	clientforward "k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	streamspdy "k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/podstead/podstead/runtime"
)

// ports serve a pod's ports by functions, over real TCP, until the test ends.
type ports struct {
	t       *testing.T
	servers map[int]func(*net.TCPConn)

	mu      sync.Mutex
	handled sync.WaitGroup
}

func servePorts(t *testing.T, servers map[int]func(*net.TCPConn)) (*ports, *Client) {
	t.Helper()
	p := &ports{t: t, servers: servers}
	t.Cleanup(p.handled.Wait)
	return p, serve(t, p.handlers())
}

func (p *ports) handlers() Handlers {
	return Handlers{PortForward: func(_ context.Context, namespace, pod string) (PortDialer, error) {
		if namespace != "default" || pod != "web-n1" {
			return nil, fmt.Errorf("pod %q in namespace %q: %w", pod, namespace, runtime.ErrNotFound)
		}
		return p.dial, nil
	}}
}

func (p *ports) dial(ctx context.Context, port int) (net.Conn, error) {
	server, ok := p.servers[port]
	if !ok {
		return nil, fmt.Errorf("%w in pod default/web-n1 on port %d", runtime.ErrRefused, port)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		return nil, err
	}
	accepted, err := l.Accept()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handled.Go(func() {
		defer accepted.Close()
		server(accepted.(*net.TCPConn))
	})
	return conn, nil
}

func forwardEcho(c *net.TCPConn) { _, _ = io.Copy(c, c) }

func dialPort(t *testing.T, c *Client, port int) *PodPort {
	t.Helper()
	p, err := c.DialPort(t.Context(), "default", "web-n1", port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func random(t *testing.T, size int) []byte {
	t.Helper()
	data := make([]byte, size)
	if _, err := rand.Read(data); err != nil {
		t.Fatal(err)
	}
	return data
}

// Both directions carry much at the same time, and nothing is lost at the ends.
func TestAForwardedPortCarriesBothDirections(t *testing.T) {
	_, c := servePorts(t, map[int]func(*net.TCPConn){80: forwardEcho})
	data := random(t, 8<<20)
	p := dialPort(t, c, 80)
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(p, bytes.NewReader(data))
		sent <- errors.Join(err, p.CloseWrite())
	}()
	got, err := io.ReadAll(p)
	if err = errors.Join(err, <-sent, p.Err()); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d of %d bytes came back, %v", len(got), len(data), err)
	}
}

// A client that says all and then listens (HTTP/1.0, nc) hears the answer.
func TestAForwardedClientMayEndFirst(t *testing.T) {
	_, c := servePorts(t, map[int]func(*net.TCPConn){80: func(c *net.TCPConn) {
		all, err := io.ReadAll(c)
		fmt.Fprintf(c, "%d %v", len(all), err)
	}})
	p := dialPort(t, c, 80)
	if _, err := io.WriteString(p, "hello"); err != nil {
		t.Fatal(err)
	}
	if err := p.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(p); err != nil || string(got) != "5 <nil>" || p.Err() != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// A server that has said all may still listen.
func TestAForwardedServerMayEndFirst(t *testing.T) {
	heard := make(chan int64, 1)
	_, c := servePorts(t, map[int]func(*net.TCPConn){80: func(c *net.TCPConn) {
		_, _ = io.WriteString(c, "go on")
		_ = c.CloseWrite()
		n, _ := io.Copy(io.Discard, c)
		heard <- n
	}})
	p := dialPort(t, c, 80)
	if got, err := io.ReadAll(p); err != nil || string(got) != "go on" {
		t.Fatalf("%q, %v", got, err)
	}
	data := random(t, 1<<20)
	if _, err := p.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := p.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if n := <-heard; n != int64(len(data)) {
		t.Errorf("the server heard %d bytes", n)
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}

func TestARefusedPortIsTold(t *testing.T) {
	_, c := servePorts(t, nil)
	p := dialPort(t, c, 81)
	if got, err := io.ReadAll(p); len(got) != 0 || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := p.Err(); err == nil || err.Error() != "connection refused in pod default/web-n1 on port 81" {
		t.Errorf("got %v", err)
	}
}

func TestForwardingToNoPodIsRefusedAtOnce(t *testing.T) {
	_, c := servePorts(t, nil)
	_, err := c.DialPort(t.Context(), "default", "db-n1", 80)
	var answered *AnswerError
	if !errors.As(err, &answered) || answered.Code != http.StatusNotFound {
		t.Errorf("got %v", err)
	}
	c = serve(t, Handlers{})
	if _, err := c.DialPort(t.Context(), "default", "web-n1", 80); !errors.As(err, &answered) || answered.Code != http.StatusNotImplemented {
		t.Errorf("got %v", err)
	}
}

// One that nobody reads does not hold up another.
func TestForwardedConnectionsDoNotHoldUpEachOther(t *testing.T) {
	_, c := servePorts(t, map[int]func(*net.TCPConn){
		80: forwardEcho,
		81: func(c *net.TCPConn) {
			for {
				if _, err := c.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		},
	})
	for range 3 {
		dialPort(t, c, 81) // is never read
	}
	for range 5 {
		p := dialPort(t, c, 80)
		if _, err := io.WriteString(p, "hello"); err != nil {
			t.Fatal(err)
		}
		if err := p.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(p); string(got) != "hello" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// The pod's side of a connection ends with its client.
func TestAForwardedConnectionEndsWithItsClient(t *testing.T) {
	ended := make(chan struct{})
	_, c := servePorts(t, map[int]func(*net.TCPConn){80: func(c *net.TCPConn) {
		_, _ = io.Copy(c, c)
		close(ended)
	}})
	p := dialPort(t, c, 80)
	if _, err := io.WriteString(p, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(p, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// The server ends with its connections, though neither side wants to.
func TestForwardedConnectionsEndWithTheServer(t *testing.T) {
	p := &ports{t: t, servers: map[int]func(*net.TCPConn){80: forwardEcho}}
	c, stop := serveAt(t, t.TempDir()+"/s", p.handlers())
	conn := dialPort(t, c, 80)
	if _, err := io.WriteString(conn, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	stop()
	_, _ = io.ReadAll(conn)
	p.handled.Wait()
}

// kubectl's own client gets through, on one connection for all.
func TestForwardingServesKubectlsClient(t *testing.T) {
	_, c := servePorts(t, map[int]func(*net.TCPConn){80: forwardEcho})
	transport, err := streamspdy.NewRoundTripperWithConfig(streamspdy.RoundTripperConfig{UpgradeTransport: c.http.Transport})
	if err != nil {
		t.Fatal(err)
	}
	target := &url.URL{Scheme: "http", Host: "podstead", Path: "/portForward/default/web-n1"}
	dialer := spdy.NewDialer(spdy.NewUpgraderForStreaming(transport), &http.Client{Transport: transport}, http.MethodPost, target)
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan struct{})
	f, err := clientforward.NewOnAddressesWithContext(ctx, dialer, []string{"127.0.0.1"}, []string{":80"}, ready, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- f.ForwardPorts() }()
	<-ready
	local, err := f.GetPorts()
	if err != nil {
		t.Fatal(err)
	}
	data := random(t, 1<<20)
	for range 3 {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", local[0].Local))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = conn.Write(data)
			_ = conn.(*net.TCPConn).CloseWrite()
		}()
		if got, err := io.ReadAll(conn); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes came back, %v", len(got), err)
		}
		_ = conn.Close()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Over WebSocket a frame's first byte is its channel, and each port has two: data
// and errors, on both of which the port's number comes first.
func TestForwardingOverWebSocket(t *testing.T) {
	_, c := servePorts(t, map[int]func(*net.TCPConn){80: forwardEcho})
	for _, test := range []struct{ name, port, say, want string }{
		{name: "echo", port: "80", say: "\x00hello", want: "\x00hello"},
		{name: "refused", port: "81", want: "\x01error forwarding port 81 to pod default/web-n1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ws := dialWebSocket(t, c, "/portForward/default/web-n1?port="+test.port, "v4.channel.k8s.io")
			if test.say != "" {
				ws.send(test.say)
			}
			for frame := ""; !strings.HasPrefix(frame, test.want); {
				frame = ws.receive()
			}
		})
	}
}

// webSocket is a client as plain as can be: its frames are short and whole.
type webSocket struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func dialWebSocket(t *testing.T, c *Client, path, protocol string) *webSocket {
	t.Helper()
	conn, err := dial(t.Context(), c.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: podstead\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://podstead\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Protocol: %s\r\n\r\n", path, protocol)
	in := bufio.NewReader(conn)
	status, err := in.ReadString('\n')
	if err != nil || !strings.HasPrefix(status, "HTTP/1.1 101 ") {
		t.Fatalf("%q, %v", status, err)
	}
	for line := status; line != "\r\n"; {
		if line, err = in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	return &webSocket{t: t, conn: conn, in: in}
}

// send writes one binary frame, masked by zeros.
func (w *webSocket) send(text string) {
	w.t.Helper()
	if _, err := w.conn.Write(append([]byte{0x82, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *webSocket) receive() string {
	w.t.Helper()
	head := make([]byte, 2)
	_, err := io.ReadFull(w.in, head)
	size := int(head[1])
	if err == nil && size == 126 {
		_, err = io.ReadFull(w.in, head)
		size = int(head[0])<<8 | int(head[1])
	}
	frame := make([]byte, size)
	if err == nil {
		_, err = io.ReadFull(w.in, frame)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return string(frame)
}

func TestForwardingOverWebSocketNeedsAPort(t *testing.T) {
	_, c := servePorts(t, nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://podstead/portForward/default/web-n1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "websocket")
	resp, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d", resp.StatusCode)
	}
}
