//go:build e2e

package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"
)

// Labels by which podstead's containers are found, as docs/architecture.md
// promises them to users.
const (
	labelNode      = "podstead.node"
	labelUID       = "io.kubernetes.pod.uid"
	labelContainer = "io.kubernetes.container.name"
)

// pause is the name under which a sandbox's container is labelled.
const pause = "POD"

// client speaks to an engine without podstead between.
type client struct {
	socket string
	http   *http.Client
}

func newClient(socket string) *client {
	return &client{socket: socket, http: &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, // the engine comes and goes
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}}}
}

// open makes one call; the caller closes the body.
func (c *client) open(ctx context.Context, method, path string, query url.Values) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://engine"+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
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

// call makes one call within 20 s and decodes its answer into out, unless that
// is nil.
func (c *client) call(method, path string, query url.Values, out any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	body, err := c.open(ctx, method, path, query)
	if err != nil {
		return err
	}
	defer body.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, body)
		return err
	}
	return json.NewDecoder(body).Decode(out)
}

// box is one line of `docker ps -a`.
type box struct {
	ID     string `json:"Id"`
	Names  []string
	Image  string
	State  string
	Labels map[string]string
}

func (b box) uid() string       { return b.Labels[labelUID] }
func (b box) container() string { return b.Labels[labelContainer] }

func (b box) String() string { return fmt.Sprintf("%s (%s)", b.Names[0][1:], b.State) }

// ps lists a node's containers, the newest first.
func (c *client) ps(node string) ([]box, error) {
	var found []box
	err := c.call(http.MethodGet, "/containers/json", url.Values{"all": {"1"}, "filters": {labelled(labelNode, node)}}, &found)
	return found, err
}

// failed reports whether the engine tried to start a container, and could not.
func (c *client) failed(id string) bool {
	var d struct{ State struct{ Error string } }
	return c.call(http.MethodGet, "/containers/"+id+"/json", nil, &d) == nil && d.State.Error != ""
}

func (c *client) remove(id string) error {
	return c.call(http.MethodDelete, "/containers/"+id, url.Values{"force": {"1"}, "v": {"1"}}, nil)
}

func labelled(label, value string) string { return fmt.Sprintf(`{"label":[%q]}`, label+"="+value) }

// event is one thing that happened to a container.
type event struct {
	Action    string // create, start, kill, die, destroy, …
	UID       string
	Container string // pause for a sandbox
}

func (e event) String() string { return e.Action + " " + e.Container + " of " + e.UID }

// point is a moment of a pod's life, told by the engine's event.
type point func(event) bool

// at is the moment at which a container of any pod meets an action.
func at(action, container string) point {
	return func(e event) bool { return e.Action == action && e.Container == container }
}

// of narrows a point to pods of these UIDs, notOf to all others.
func (p point) of(uid string) point { return func(e event) bool { return p(e) && e.UID == uid } }

func (p point) notOf(uid string) point { return func(e event) bool { return p(e) && e.UID != uid } }

// watch opens the event stream of a node. The returned function waits for a
// point that comes after the watch began.
func (c *client) watch(t *testing.T, node string) (await func(what string, p point)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	// The engine answers before it has begun to listen; since tells it from when.
	since := strconv.FormatFloat(float64(time.Now().UnixNano())/1e9, 'f', 9, 64)
	body, err := c.open(ctx, http.MethodGet, "/events", url.Values{"filters": {labelled(labelNode, node)}, "since": {since}})
	must(t, err)
	t.Cleanup(func() { _ = body.Close() })
	events := make(chan event, 1000) // more than a test makes
	go func() {
		defer close(events)
		for lines := json.NewDecoder(body); ; {
			var line struct {
				Action string
				Actor  struct{ Attributes map[string]string }
			}
			if lines.Decode(&line) != nil {
				return // the engine, or the test, is at its end
			}
			of := line.Actor.Attributes
			events <- event{Action: line.Action, UID: of[labelUID], Container: of[labelContainer]}
		}
	}()
	return func(what string, p point) {
		t.Helper()
		limit := time.NewTimer(patience)
		defer limit.Stop()
		for {
			select {
			case e, open := <-events:
				if !open {
					t.Fatalf("the engine's events end before %s", what)
				}
				if p(e) {
					return
				}
			case <-limit.C:
				t.Fatalf("never came: %s", what)
			}
		}
	}
}
