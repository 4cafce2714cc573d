package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Socket is where Docker listens.
const Socket = "/var/run/docker.sock"

// Engine is Docker over its socket with nothing between, no client library
// either. podstead's own socket speaks HTTP too, and can be asked alike. Its
// fields may be changed before the first call.
type Engine struct {
	Socket    string
	Transport *http.Transport
	Limit     time.Duration // of one Call
}

// NewEngine connects nothing yet.
func NewEngine(socket string) *Engine {
	return &Engine{Socket: socket, Limit: time.Minute, Transport: &http.Transport{
		MaxIdleConnsPerHost: 64, // a benchmark makes many calls at once
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}}
}

// Open makes one call; the caller closes the body. Statuses from 400 on are
// errors with the engine's own words.
func (e *Engine) Open(ctx context.Context, method, path string, body io.Reader) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://engine"+path, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := (&http.Client{Transport: e.Transport}).Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body) // the status tells enough if the text is lost
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, bytes.TrimSpace(text))
	}
	return resp.Body, nil
}

// Call makes one call with in as its JSON body, unless that is nil, and decodes
// the answer into out, unless that is nil.
func (e *Engine) Call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, e.Limit)
	defer cancel()
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	answer, err := e.Open(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer answer.Close()
	if out != nil {
		if err := json.NewDecoder(answer).Decode(out); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	_, err = io.Copy(io.Discard, answer) // so that the connection is used again
	return err
}

// Ping is nil when the engine answers.
func (e *Engine) Ping(ctx context.Context) error {
	return e.Call(ctx, http.MethodGet, "/_ping", nil, nil)
}
