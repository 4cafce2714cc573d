package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// ErrNotRunning is wrapped when no agent listens on the socket.
var ErrNotRunning = errors.New("no podstead agent is running here")

// callTimeout is for whole answers; the agent's own look at the engine (2 s)
// and a long list lie within it.
const callTimeout = 20 * time.Second

// Client asks the agent behind one socket. Safe for concurrent use.
type Client struct {
	socket string
	http   *http.Client
	// Warn is told what the agent has to say beside its answers.
	Warn func(text string)
}

// NewClient returns a client of the agent that listens on the socket. It does
// not connect yet.
func NewClient(socket string) *Client {
	return &Client{
		socket: socket,
		Warn:   func(string) {},
		http: &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true, // one command, one question
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return dial(ctx, socket)
			},
		}},
	}
}

// Pods returns all pods with their status.
func (c *Client) Pods(ctx context.Context) ([]v1.Pod, error) {
	var list v1.PodList
	err := c.get(ctx, "/pods", nil, &list)
	return list.Items, err
}

// KnownPods returns all pods as the agent knows them, without a look at the
// engine: for who has just made it look.
func (c *Client) KnownPods(ctx context.Context) ([]v1.Pod, error) {
	var list v1.PodList
	err := c.get(ctx, "/pods", url.Values{"known": {"true"}}, &list)
	return list.Items, err
}

// WatchPods calls each with every pod and then with every change, until ctx
// ends, the agent ends, or each returns an error.
func (c *Client) WatchPods(ctx context.Context, each func(Change[v1.Pod]) error) error {
	return follow(ctx, c, "/pods", url.Values{}, each)
}

// FollowPods calls each with all pods, and again whenever something has changed,
// as WatchPods.
func (c *Client) FollowPods(ctx context.Context, each func([]v1.Pod) error) error {
	return followAll(ctx, c, "/pods", func(p *v1.Pod) string { return string(p.UID) }, each)
}

// FollowSources is FollowPods for sources.
func (c *Client) FollowSources(ctx context.Context, each func([]Source) error) error {
	return followAll(ctx, c, "/podstead/v1/sources", func(s *Source) string { return s.Name }, each)
}

// Events returns the events that the filter selects, oldest first.
func (c *Client) Events(ctx context.Context, filter EventFilter) ([]v1.Event, error) {
	var list v1.EventList
	err := c.get(ctx, "/podstead/v1/events", filter.query(), &list)
	return list.Items, err
}

// WatchEvents is WatchPods for events.
func (c *Client) WatchEvents(ctx context.Context, filter EventFilter, each func(Change[v1.Event]) error) error {
	return follow(ctx, c, "/podstead/v1/events", filter.query(), each)
}

// Sources returns the sources in their order of precedence.
func (c *Client) Sources(ctx context.Context) ([]Source, error) {
	var list SourceList
	err := c.get(ctx, "/podstead/v1/sources", nil, &list)
	return list.Items, err
}

// Sync makes one source look now, or all of them with "", and returns what
// became of each within the limit.
func (c *Client) Sync(ctx context.Context, req SyncRequest, limit time.Duration) ([]SyncResult, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+callTimeout)
	defer cancel()
	path := "/podstead/v1/sources/sync"
	if req.Source != "" {
		path = "/podstead/v1/sources/" + url.PathEscape(req.Source) + "/sync"
	}
	q := url.Values{"timeout": {limit.String()}}
	if req.AllowRemoval {
		q.Set("allowRemoval", "true")
	}
	body, _, err := c.open(ctx, http.MethodPost, path, q)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var list SyncList
	if err := json.NewDecoder(body).Decode(&list); err != nil {
		return nil, fmt.Errorf("read the agent's answer of %s: %w", path, err)
	}
	return list.Items, nil
}

// Status returns what the agent says of itself.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var status Status
	err := c.get(ctx, "/podstead/v1/status", nil, &status)
	return status, err
}

// Version returns the agent's version.
func (c *Client) Version(ctx context.Context) (Version, error) {
	var version Version
	err := c.get(ctx, "/podstead/v1/version", nil, &version)
	return version, err
}

// Logs copies a container's log to out; with Follow until the container or ctx ends.
func (c *Client) Logs(ctx context.Context, req LogRequest, out io.Writer) error {
	path := "/containerLogs/" + url.PathEscape(req.Namespace) + "/" + url.PathEscape(req.Pod) + "/" + url.PathEscape(req.Container)
	body, trailer, err := c.open(ctx, http.MethodGet, path, req.query())
	if err != nil {
		return err
	}
	defer body.Close()
	if _, err := io.Copy(out, body); err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	if text, err := strconv.Unquote(trailer.Get(errorTrailer)); err == nil {
		return errors.New(text)
	}
	return nil
}

// get asks for one whole JSON answer.
func (c *Client) get(ctx context.Context, path string, q url.Values, into any) error {
	return c.do(ctx, http.MethodGet, path, q, into)
}

// do is get by another method.
func (c *Client) do(ctx context.Context, method, path string, q url.Values, into any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	body, _, err := c.open(ctx, method, path, q)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fmt.Errorf("read the agent's answer of %s: %w", path, err)
	}
	return nil
}

// follow reads a watch line by line.
func follow[T any](ctx context.Context, c *Client, path string, q url.Values, each func(Change[T]) error) error {
	q.Set("watch", "1")
	body, _, err := c.open(ctx, http.MethodGet, path, q)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := json.NewDecoder(bufio.NewReader(body))
	for {
		var change Change[T]
		switch err := lines.Decode(&change); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("the agent has ended the watch: %w", ErrNotRunning)
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("watch %s: %w", path, err)
		}
		if err := each(change); err != nil {
			return err
		}
	}
}

// followAll keeps the whole of what a watch tells, in the order in which it came.
func followAll[T any](ctx context.Context, c *Client, path string, id func(*T) string, each func([]T) error) error {
	var all []T
	place := func(item *T) int {
		return slices.IndexFunc(all, func(known T) bool { return id(&known) == id(item) })
	}
	return follow(ctx, c, path, url.Values{"allowWatchBookmarks": {"true"}}, func(change Change[T]) error {
		switch at := place(&change.Object); {
		case change.Type == apiwatch.Bookmark:
			return each(slices.Clone(all))
		case change.Type == apiwatch.Deleted:
			all = slices.DeleteFunc(all, func(known T) bool { return id(&known) == id(&change.Object) })
		case at >= 0:
			all[at] = change.Object
		default:
			all = append(all, change.Object)
		}
		return nil
	})
}

// open sends the request and returns the body of a good answer. The trailer is
// filled once the body has been read to its end.
func (c *Client) open(ctx context.Context, method, path string, q url.Values) (io.ReadCloser, http.Header, error) {
	return c.openWith(ctx, method, path, q, nil)
}

// openWith is open with a body.
func (c *Client) openWith(ctx context.Context, method, path string, q url.Values, content io.Reader) (io.ReadCloser, http.Header, error) {
	target := url.URL{Scheme: "http", Host: "podstead", Opaque: "//podstead" + path, RawQuery: q.Encode()}
	req, err := http.NewRequestWithContext(ctx, method, target.String(), content)
	if err != nil {
		return nil, nil, fmt.Errorf("ask the agent: %w", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, c.explain(err)
	}
	for _, line := range resp.Header.Values("Warning") {
		if text, err := strconv.Unquote(strings.TrimPrefix(line, "299 - ")); err == nil {
			c.Warn(text)
		}
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what came of it is told
		_ = resp.Body.Close()
		return nil, nil, &AnswerError{Code: resp.StatusCode, Text: strings.TrimSpace(string(text))}
	}
	return resp.Body, resp.Trailer, nil
}

// AnswerError is an answer of the agent that is not 200.
type AnswerError struct {
	Code int
	Text string
}

// Error is the agent's text.
func (e *AnswerError) Error() string { return e.Text }

// explain turns a failed connection into what the user can do about it.
func (c *Client) explain(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w (nobody listens on %s); start it with `podstead run`, or name its --root-dir or --socket", ErrNotRunning, c.socket)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("open %s: permission denied; the agent's socket is root's alone, try again with sudo", c.socket)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the agent on %s does not answer; see its log: %w", c.socket, err)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the URL in it is made up
	}
	return fmt.Errorf("ask the agent on %s: %w", c.socket, err)
}

func (f EventFilter) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"kind": f.Kind, "namespace": f.Namespace, "name": f.Name, "uid": f.UID} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

func (r LogRequest) query() url.Values {
	q := url.Values{}
	for name, on := range map[string]bool{"follow": r.Follow, "previous": r.Previous, "timestamps": r.Timestamps} {
		if on {
			q.Set(name, "true")
		}
	}
	if r.Tail != nil {
		q.Set("tailLines", strconv.FormatInt(*r.Tail, 10))
	}
	if r.LimitBytes != nil {
		q.Set("limitBytes", strconv.FormatInt(*r.LimitBytes, 10))
	}
	if r.Since != nil {
		q.Set("sinceTime", r.Since.UTC().Format(time.RFC3339Nano))
	}
	return q
}
