package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/remotecommand"
	clientspdy "k8s.io/client-go/transport/spdy"
	protocol "k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/podstead/podstead/runtime"
)

// Exec runs a command in a container and returns when it has ended: nil for exit
// code 0, else a *runtime.ExitError. It closes s.Stdin. When ctx ends it returns
// ctx's error, and the command goes on.
func (c *Client) Exec(ctx context.Context, req ExecRequest, s runtime.Streams) error {
	return c.visit(ctx, "exec", req.Target, url.Values{commandParam: req.Command}, s)
}

// Attach shows what a container writes from now on, and gives it s.Stdin where it
// takes that, until it ends, or ctx. It closes s.Stdin.
func (c *Client) Attach(ctx context.Context, target Target, s runtime.Streams) error {
	return c.visit(ctx, "attach", target, url.Values{}, s)
}

// visit speaks SPDY. The client's WebSocket, which is for proxies that know no SPDY,
// gives up on a terminal or a program that holds its output or input back for a
// minute, and cannot be told that a local socket needs no pings.
func (c *Client) visit(ctx context.Context, verb string, target Target, q url.Values, s runtime.Streams) error {
	defer s.CloseStdin()
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	up, err := c.upgradeTo(within)
	if err != nil {
		return err
	}
	for name, wanted := range map[string]bool{
		protocol.ExecStdinParam: s.Stdin != nil, protocol.ExecStdoutParam: s.Stdout != nil,
		protocol.ExecStderrParam: s.Stderr != nil && !s.TTY, protocol.ExecTTYParam: s.TTY,
	} {
		if wanted {
			q.Set(name, "1")
		}
	}
	path := url.URL{Scheme: "http", Host: "podstead", Path: "/" + verb + "/" + target.Namespace + "/" + target.Pod + "/" + target.Container, RawQuery: q.Encode()}
	executor, err := remotecommand.NewSPDYExecutorForProtocols(up, clientspdy.NewUpgraderForStreaming(up), http.MethodPost, &path, protocol.StreamProtocolV4Name)
	if err != nil {
		return fmt.Errorf("ask the agent: %w", err)
	}
	opts := remotecommand.StreamOptions{Stdin: reader(s.Stdin), Stdout: s.Stdout, Stderr: s.Stderr, Tty: s.TTY}
	if s.TTY && s.Sizes != nil {
		opts.TerminalSizeQueue = sizeQueue{sizes: s.Sizes, over: within.Done()}
	}
	// What the library would log is told by the status, or is nobody's concern.
	err = executor.StreamWithContext(klog.NewContext(within, klog.Logger{}), opts)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return up.conclude(err)
}

// reader keeps no reader from becoming a reader that is nil.
func reader(r io.ReadCloser) io.Reader {
	if r == nil {
		return nil
	}
	return r
}

// sizeQueue is the terminal's sizes as the library takes them.
type sizeQueue struct {
	sizes <-chan runtime.TerminalSize
	over  <-chan struct{}
}

// Next waits for a size; nil is the end.
func (q sizeQueue) Next() *remotecommand.TerminalSize {
	select {
	case size, more := <-q.sizes:
		if more {
			return &remotecommand.TerminalSize{Width: size.Width, Height: size.Height}
		}
	case <-q.over:
	}
	return nil
}

// upgrade is the library's way to the agent. It keeps what the library loses: why
// there was no connection, the agent's refusal, and whether the end was told, for
// the library takes a connection that breaks for a command that ended well.
type upgrade struct {
	*spdy.SpdyRoundTripper

	client *Client
	failed error
	status bytes.Buffer // complete when the library is through
}

// upgradeTo prepares one connection, which ends with ctx.
func (c *Client) upgradeTo(ctx context.Context) (*upgrade, error) {
	transport, err := spdy.NewRoundTripperWithConfig(spdy.RoundTripperConfig{UpgradeTransport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			conn, err := dial(ctx, c.socket)
			if err == nil {
				conn = &closedOnce{Conn: conn}
				context.AfterFunc(ctx, func() { _ = conn.Close() }) // nobody reads any more
			}
			return conn, err
		},
	}})
	if err != nil {
		return nil, fmt.Errorf("ask the agent: %w", err)
	}
	return &upgrade{SpdyRoundTripper: transport, client: c}, nil
}

// RoundTrip asks.
func (u *upgrade) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := u.SpdyRoundTripper.RoundTrip(req)
	u.failed = err
	return resp, err
}

// NewConnection goes on in SPDY, or returns the agent's refusal.
func (u *upgrade) NewConnection(resp *http.Response) (httpstream.Connection, error) {
	if resp.StatusCode != http.StatusSwitchingProtocols {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxStatus)) // what came of it is told
		return nil, &AnswerError{Code: resp.StatusCode, Text: strings.TrimSpace(string(text))}
	}
	conn, err := u.SpdyRoundTripper.NewConnection(resp)
	if err != nil {
		return nil, err
	}
	return overheard{Connection: conn, status: &u.status}, nil
}

// maxStatus bounds what is kept of the agent's last words.
const maxStatus = 64 << 10

// overheard is a connection whose error stream is kept.
type overheard struct {
	httpstream.Connection

	status *bytes.Buffer
}

// CreateStream makes one of the connection's streams.
func (o overheard) CreateStream(headers http.Header) (httpstream.Stream, error) {
	s, err := o.Connection.CreateStream(headers)
	if err == nil && headers.Get(protocol.StreamType) == protocol.StreamTypeError {
		s = keptStream{Stream: s, in: o.status}
	}
	return s, err
}

type keptStream struct {
	httpstream.Stream

	in *bytes.Buffer
}

// Read keeps what it reads.
func (k keptStream) Read(p []byte) (int, error) {
	n, err := k.Stream.Read(p)
	k.in.Write(p[:max(0, min(n, maxStatus-k.in.Len()))])
	return n, err
}

// conclude turns the agent's last words, or what came in their place, into an error.
func (u *upgrade) conclude(err error) error {
	var answer *AnswerError
	switch {
	case u.failed != nil:
		return u.client.explain(u.failed)
	case errors.As(err, &answer):
		return answer
	case u.status.Len() == 0:
		return errors.Join(errors.New("the agent ended the connection without telling how the command ended; it may go on in the container"), err)
	}
	var status metav1.Status
	if err := json.Unmarshal(u.status.Bytes(), &status); err != nil {
		return fmt.Errorf("read how the command ended: %w", err)
	}
	return endOf(status)
}
