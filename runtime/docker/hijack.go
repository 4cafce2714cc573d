package docker

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/client"
)

// maxRefusal is how much of the engine's words is read when it refuses.
const maxRefusal = 64 << 10

// hijack sends a POST to the engine and returns the connection, which carries the
// streams from then on. The client's own way of doing it does not heed ctx while it
// waits for the answer, and drops the words of a refusal.
func hijack(ctx context.Context, a api, path string, body any) (*link, error) {
	req, err := upgradeRequest(ctx, a, path, body)
	if err != nil {
		return nil, err
	}
	conn, err := a.Dialer()(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", cerrdefs.ErrUnavailable, err)
	}
	l := &link{Conn: conn, read: bufio.NewReader(conn)}
	end := context.AfterFunc(ctx, func() { _ = conn.Close() }) // the round trip tells
	if err := l.upgrade(req); err != nil {
		end()
		_ = conn.Close() // what came before counts
		return nil, cmp.Or(ctx.Err(), err)
	}
	if !end() {
		return nil, ctx.Err()
	}
	return l, nil
}

// upgradeRequest asks under the API version that the client has negotiated.
func upgradeRequest(ctx context.Context, a api, path string, body any) (*http.Request, error) {
	var text []byte // none for nil: the engine would take it for input
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	host, err := client.ParseHostURL(a.DaemonHost())
	if err != nil {
		return nil, err
	}
	target := "http://docker" + host.Path + "/v" + a.ClientVersion() + path // the path of a socket is no part of it
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "tcp")
	return req, nil
}

// link is a connection to the engine that carries a process's streams.
type link struct {
	net.Conn
	read *bufio.Reader
}

func (l *link) Read(p []byte) (int, error) { return l.read.Read(p) }

// CloseWrite tells the process that its input has ended.
func (l *link) CloseWrite() error {
	if half, ok := l.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (l *link) upgrade(req *http.Request) error {
	if err := req.Write(l.Conn); err != nil {
		return err
	}
	resp, err := http.ReadResponse(l.read, req)
	if err != nil {
		return err
	}
	// An engine older than the upgrade answers 200 and streams all the same.
	if resp.StatusCode == http.StatusSwitchingProtocols || resp.StatusCode == http.StatusOK {
		return nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil {
		return err
	}
	return refused(resp.StatusCode, text)
}

// refused words an engine's refusal as its client does.
func refused(status int, body []byte) error {
	var told struct{ Message string }
	if json.Unmarshal(body, &told) != nil || told.Message == "" {
		told.Message = string(bytes.TrimSpace(body))
	}
	kinds := map[int]error{
		http.StatusBadRequest:         cerrdefs.ErrInvalidArgument,
		http.StatusNotFound:           cerrdefs.ErrNotFound,
		http.StatusConflict:           cerrdefs.ErrConflict,
		http.StatusServiceUnavailable: cerrdefs.ErrUnavailable,
	}
	return statusError{text: told.Message, kind: kinds[status]}
}

// statusError has the engine's words and the kind of its status; nil for any other.
type statusError struct {
	text string
	kind error
}

func (e statusError) Error() string { return "Error response from daemon: " + e.text }

func (e statusError) Unwrap() error { return e.kind }
