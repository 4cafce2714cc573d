package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// forwardPing keeps a quiet connection from counting as idle.
const forwardPing = time.Minute

// maxForwardError bounds what is read of the agent's reason.
const maxForwardError = 4 << 10

// PodPort is a connection to a port of a pod. One direction can be closed before
// the other. Close ends both.
type PodPort struct {
	conn         httpstream.Connection
	data, errors httpstream.Stream
}

// DialPort connects to a port of a pod. Each connection has one of its own to the
// agent, for several on one hold each other up: SPDY as it is here has no flow
// control, and what one does not read the others wait for. That the port refuses is
// told by Err, at the end of Read.
func (c *Client) DialPort(ctx context.Context, namespace, pod string, port int) (*PodPort, error) {
	conn, err := c.upgrade(ctx, "/portForward/"+url.PathEscape(namespace)+"/"+url.PathEscape(pod))
	if err != nil {
		return nil, err
	}
	p := &PodPort{conn: conn}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := p.open(port); err != nil {
		return nil, errors.Join(fmt.Errorf("forward port %d: %w", port, err), conn.Close())
	}
	return p, nil
}

// upgrade asks for a path and goes on in SPDY.
func (c *Client) upgrade(ctx context.Context, path string) (httpstream.Connection, error) {
	transport, err := spdy.NewRoundTripperWithConfig(spdy.RoundTripperConfig{UpgradeTransport: c.http.Transport, PingPeriod: forwardPing})
	if err != nil {
		return nil, err
	}
	target := url.URL{Scheme: "http", Host: "podstead", Opaque: "//podstead" + path}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("ask the agent: %w", err)
	}
	req.Header.Set(httpstream.HeaderProtocolVersion, portforward.ProtocolV1Name)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, c.explain(err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxForwardError)) // what came of it is told
		return nil, &AnswerError{Code: resp.StatusCode, Text: strings.TrimSpace(string(text))}
	}
	return transport.NewConnection(resp)
}

// open makes the two streams that one forwarded connection has.
func (p *PodPort) open(port int) error {
	header := http.Header{}
	header.Set(portforward.PortHeader, strconv.Itoa(port))
	header.Set(portforward.PortForwardRequestIDHeader, "0")
	header.Set(portforward.StreamType, portforward.StreamTypeError)
	var err error
	if p.errors, err = p.conn.CreateStream(header); err != nil {
		return err
	}
	if err = p.errors.Close(); err != nil { // nothing is said there from here
		return err
	}
	header.Set(portforward.StreamType, portforward.StreamTypeData)
	p.data, err = p.conn.CreateStream(header)
	return err
}

// Read reads what the pod says.
func (p *PodPort) Read(b []byte) (int, error) { return p.data.Read(b) }

// Write tells the pod something.
func (p *PodPort) Write(b []byte) (int, error) { return p.data.Write(b) }

// CloseWrite tells the pod that no more will come.
func (p *PodPort) CloseWrite() error { return p.data.Close() }

// Close ends the connection, and whoever reads or writes.
func (p *PodPort) Close() error { return p.conn.Close() }

// Err is why the connection ended, nil when it ended well. It is known, and waits
// for nothing more, once Read has come to the end and CloseWrite was called.
func (p *PodPort) Err() error {
	text, err := io.ReadAll(io.LimitReader(p.errors, maxForwardError))
	if err != nil || len(text) == 0 {
		return err
	}
	return errors.New(withoutFrame(string(text)))
}

// withoutFrame takes off what the streaming library puts before the agent's words.
func withoutFrame(text string) string {
	const end = ", uid : "
	if _, rest, ok := strings.Cut(text, end); ok && strings.HasPrefix(text, "error forwarding port ") {
		return rest
	}
	return text
}
