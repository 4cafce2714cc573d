package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podstead/podstead/runtime"
)

// shelf is a stateful view that a test changes while clients read it.
type shelf struct {
	mu      sync.Mutex
	pods    []*v1.Pod
	changed chan struct{}
}

func newShelf() *shelf { return &shelf{changed: make(chan struct{})} }

func (s *shelf) set(pods ...*v1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pods = pods
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *shelf) list(context.Context) ([]*v1.Pod, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pods, nil
}

func (s *shelf) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func pod(name, uid, version string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(uid), ResourceVersion: version}}
}

// serve runs a server until the test ends and returns a client of it.
func serve(t *testing.T, h Handlers) *Client {
	t.Helper()
	c, stop := serveAt(t, filepath.Join(t.TempDir(), "podstead.sock"), h)
	t.Cleanup(stop)
	return c
}

func serveAt(t *testing.T, socket string, h Handlers) (*Client, func()) {
	t.Helper()
	s, err := New(Config{Socket: socket, Handlers: h, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	waitUntilServed(t, socket, ended)
	return NewClient(socket), func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

// waitUntilServed tries to connect until the socket answers.
func waitUntilServed(t *testing.T, socket string, ended <-chan error) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if conn, err := dial(t.Context(), socket); err == nil {
			_ = conn.Close()
			return
		}
		select {
		case err := <-ended:
			t.Fatalf("Run ended early: %v", err)
		case <-tick.C:
		}
	}
}

func TestViewsTravelUnchanged(t *testing.T) {
	shelf := newShelf()
	shelf.set(pod("web-n1", "u1", "1"), pod("db-n1", "u2", "2"))
	c := serve(t, Handlers{
		Pods:        shelf.list,
		PodsChanged: shelf.next,
		Sources: func(context.Context) ([]Source, error) {
			return []Source{{Name: "file", State: SourceError, Faults: []Fault{{Place: "/m", Message: "gone"}}}}, nil
		},
		Status:  func(context.Context) (Status, error) { return Status{Node: "n1", PID: 7}, nil },
		Version: func() Version { return Version{Version: "v1"} },
		Events: func(f EventFilter) []v1.Event {
			return []v1.Event{{Reason: "Started", InvolvedObject: v1.ObjectReference{Name: f.Name}}}
		},
	})
	pods, err := c.Pods(t.Context())
	if err != nil || len(pods) != 2 || pods[0].Name != "web-n1" {
		t.Errorf("Pods: %v, %v", pods, err)
	}
	sources, err := c.Sources(t.Context())
	if err != nil || len(sources) != 1 || sources[0].APIVersion != APIVersion || sources[0].Problems()[0].String() != "/m: gone" {
		t.Errorf("Sources: %+v, %v", sources, err)
	}
	if status, err := c.Status(t.Context()); err != nil || status.Node != "n1" || status.PID != 7 {
		t.Errorf("Status: %+v, %v", status, err)
	}
	if version, err := c.Version(t.Context()); err != nil || version.Version != "v1" {
		t.Errorf("Version: %+v, %v", version, err)
	}
	events, err := c.Events(t.Context(), EventFilter{Name: "web-n1"})
	if err != nil || len(events) != 1 || events[0].InvolvedObject.Name != "web-n1" {
		t.Errorf("Events: %+v, %v", events, err)
	}
}

func TestAbsentViewsAnswer501(t *testing.T) {
	c := serve(t, Handlers{})
	for _, path := range []string{"/pods", "/runningpods/", "/metrics", "/containerLogs/a/b/c",
		"/podstead/v1/status", "/podstead/v1/sources", "/podstead/v1/events", "/podstead/v1/version"} {
		_, _, err := c.open(t.Context(), http.MethodGet, path, nil)
		var answer *AnswerError
		if !errors.As(err, &answer) || answer.Code != http.StatusNotImplemented {
			t.Errorf("%s: %v, want 501", path, err)
		}
	}
	var absent *AnswerError
	if _, err := c.Sync(t.Context(), SyncRequest{}, time.Second); !errors.As(err, &absent) || absent.Code != http.StatusNotImplemented {
		t.Errorf("sync: %v, want 501", err)
	}
	body, _, err := c.open(t.Context(), http.MethodGet, "/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if text, _ := io.ReadAll(body); string(text) != "ok" {
		t.Errorf("healthz: %q", text)
	}
}

func TestErrorsBecomeStatuses(t *testing.T) {
	cases := []struct {
		name string
		err  error
		want int
	}{
		{"bad request", fmt.Errorf("%w: tailLines", ErrBadRequest), 400},
		{"unknown pod", fmt.Errorf("log of a/b: %w", runtime.ErrNotFound), 404},
		{"a Kubernetes error keeps its own", fmt.Errorf("log: %w", apierrors.NewBadRequest("container is waiting to start")), 400},
		{"engine away", fmt.Errorf("list: %w", runtime.ErrUnavailable), 503},
		{"agent ending", context.Canceled, 503},
		{"engine slow", fmt.Errorf("list: %w", context.DeadlineExceeded), 504},
		{"anything else", errors.New("odd"), 500},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := statusOf(c.err); got != c.want {
				t.Errorf("statusOf(%v) = %d, want %d", c.err, got, c.want)
			}
		})
	}
}

func TestAHungEngineIsAWarningBesideTheAnswer(t *testing.T) {
	shelf := newShelf()
	shelf.set(pod("web-n1", "u1", "1"))
	c := serve(t, Handlers{Pods: shelf.list, Fresh: func(context.Context) error { return errors.New("no \"answer\"\nat all") }})
	var told []string
	c.Warn = func(text string) { told = append(told, text) }
	pods, err := c.Pods(t.Context())
	if err != nil || len(pods) != 1 {
		t.Fatalf("Pods: %v, %v", pods, err)
	}
	if len(told) != 1 || !strings.Contains(told[0], "no \"answer\"") {
		t.Errorf("warnings: %q", told)
	}
}

func TestAWatchTellsEachChangeAndEndsWithTheServer(t *testing.T) {
	shelf := newShelf()
	shelf.set(pod("web-n1", "u1", "1"))
	c, stop := serveAt(t, filepath.Join(t.TempDir(), "s"), Handlers{Pods: shelf.list, PodsChanged: shelf.next})
	steps := []func(){
		func() { shelf.set(pod("web-n1", "u1", "2")) },
		func() { shelf.set(pod("web-n1", "u9", "3")) },
		func() {},
		func() { go stop() },
	}
	var seen []string
	err := c.WatchPods(t.Context(), func(ch Change[v1.Pod]) error {
		seen = append(seen, fmt.Sprintf("%s %s", ch.Type, ch.Object.UID))
		steps[len(seen)-1]()
		return nil
	})
	if !errors.Is(err, ErrNotRunning) {
		t.Errorf("watch ended with %v", err)
	}
	want := "ADDED u1, MODIFIED u1, DELETED u1, ADDED u9"
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("saw %s, want %s", got, want)
	}
}

func TestWhatIsKnownIsAnsweredWithoutALook(t *testing.T) {
	shelf := newShelf()
	c := serve(t, Handlers{Pods: shelf.list, Fresh: func(context.Context) error { t.Error("looks"); return nil }})
	if _, err := c.KnownPods(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOnlyGetIsServed(t *testing.T) {
	c := serve(t, Handlers{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://podstead/pods", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST /pods: %d", resp.StatusCode)
	}
}
