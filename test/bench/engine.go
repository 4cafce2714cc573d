package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// engine makes Docker API calls with nothing between: no client library, so
// that the baseline is as bare as can be.
type engine struct {
	socket string
	http   *http.Client
}

func newEngine(socket string) *engine {
	return &engine{socket: socket, http: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 64,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}}}
}

// open makes one call; the caller closes the body. Statuses from 400 on are
// errors with the engine's own words.
func (e *engine) open(ctx context.Context, method, path string, body io.Reader) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://engine"+path, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := e.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 400 {
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body) // the status tells enough if the text is lost
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, bytes.TrimSpace(text))
	}
	return resp.Body, nil
}

// call makes one call and decodes its answer into out, unless that is nil.
func (e *engine) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	answer, err := e.open(ctx, method, path, body)
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

func (e *engine) create(ctx context.Context, name string, body any) (string, error) {
	var made struct{ ID string }
	err := e.call(ctx, http.MethodPost, "/containers/create?name="+url.QueryEscape(name), body, &made)
	return made.ID, err
}

func (e *engine) start(ctx context.Context, id string) error {
	return e.call(ctx, http.MethodPost, "/containers/"+id+"/start", nil, nil)
}

func (e *engine) kill(ctx context.Context, id string) error {
	return e.call(ctx, http.MethodPost, "/containers/"+id+"/kill?signal=KILL", nil, nil)
}

// remove is content with a container that is gone already.
func (e *engine) remove(ctx context.Context, id string) error {
	err := e.call(ctx, http.MethodDelete, "/containers/"+id+"?force=1&v=1", nil, nil)
	if err != nil && (strings.Contains(err.Error(), "404 Not Found") || strings.Contains(err.Error(), "is already in progress")) {
		return nil
	}
	return err
}

func (e *engine) ping(ctx context.Context) error {
	return e.call(ctx, http.MethodGet, "/_ping", nil, nil)
}

// container is one line of the engine's list.
type container struct {
	ID     string
	Names  []string
	State  string
	Labels map[string]string
}

func (c container) name() string { return strings.TrimPrefix(c.Names[0], "/") }

// containers lists all, running or not.
func (e *engine) containers(ctx context.Context) ([]container, error) {
	var list []container
	err := e.call(ctx, http.MethodGet, "/containers/json?all=1", nil, &list)
	return list, err
}

// copyImage hands an image of this engine to another one.
func (e *engine) copyImage(ctx context.Context, to *engine, ref string) error {
	tar, err := e.open(ctx, http.MethodGet, "/images/"+ref+"/get", nil)
	if err != nil {
		return err
	}
	defer tar.Close()
	said, err := to.open(ctx, http.MethodPost, "/images/load?quiet=1", tar)
	if err != nil {
		return err
	}
	defer said.Close()
	_, err = io.Copy(io.Discard, said)
	return err
}

// network is one line of the engine's networks.
type network struct{ ID, Name string }

func (e *engine) networks(ctx context.Context) ([]network, error) {
	var list []network
	err := e.call(ctx, http.MethodGet, "/networks", nil, &list)
	return list, err
}
