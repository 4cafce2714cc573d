package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// event is a container's event as the engine tells it. Attributes hold the
// container's name and labels.
type event struct {
	Action string
	Actor  struct {
		ID         string
		Attributes map[string]string
	}
}

func (e event) name() string { return e.Actor.Attributes["name"] }

// pod is the full name of the pod that a container belongs to, and the
// container's name in it.
func (e event) pod() (pod, container string) {
	a := e.Actor.Attributes
	return a["io.kubernetes.pod.name"], a["io.kubernetes.container.name"]
}

// watch is an engine's event stream. Both sides of every pair are timed by
// what arrives here.
type watch struct {
	mu       sync.Mutex
	expected map[*expectation]struct{}
	last     time.Time // when anything last arrived
	done     chan struct{}
}

// expectation is met when enough matching events have arrived.
type expectation struct {
	match func(event) bool
	need  int
	met   chan time.Time
}

// watchEvents opens the stream, from since on if that is not zero, and reads
// it in a goroutine of its own that ends with ctx; wait returns after it.
func watchEvents(ctx context.Context, e *engine, since time.Time) (*watch, error) {
	query := url.Values{"filters": {`{"type":["container"]}`}}
	if !since.IsZero() {
		query.Set("since", strconv.FormatFloat(float64(since.UnixNano())/1e9, 'f', 9, 64))
	}
	stream, err := e.open(ctx, http.MethodGet, "/events?"+query.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("watch engine events: %w", err)
	}
	w := &watch{expected: map[*expectation]struct{}{}, last: time.Now(), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer stream.Close()
		for dec := json.NewDecoder(stream); ; {
			var ev event
			if dec.Decode(&ev) != nil {
				return
			}
			w.arrived(ev, time.Now())
		}
	}()
	return w, nil
}

func (w *watch) arrived(ev event, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = now
	for x := range w.expected {
		if !x.match(ev) {
			continue
		}
		if x.need--; x.need == 0 {
			delete(w.expected, x)
			x.met <- now
		}
	}
}

// expect begins to count events that match; call it before what causes them.
func (w *watch) expect(need int, match func(event) bool) *expectation {
	x := &expectation{match: match, need: need, met: make(chan time.Time, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expected[x] = struct{}{}
	return x
}

// wait returns when the last of the expected events arrived.
func (w *watch) wait(ctx context.Context, x *expectation) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	select {
	case at := <-x.met:
		return at, nil
	case <-w.done:
		return time.Time{}, fmt.Errorf("the event stream ended")
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.expected, x)
		return time.Time{}, fmt.Errorf("%d expected events did not come: %w", x.need, ctx.Err())
	}
}

// quiet waits until nothing has happened on the engine for a while.
func (w *watch) quiet(ctx context.Context, still time.Duration) error {
	for {
		w.mu.Lock()
		left := still - time.Since(w.last)
		w.mu.Unlock()
		if left <= 0 {
			return nil
		}
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// started matches the start of the named container of a pod.
func started(pod, name string) func(event) bool {
	return func(e event) bool {
		p, c := e.pod()
		return e.Action == "start" && p == pod && c == name
	}
}

// died matches the end of the named container of a pod.
func died(pod, name string) func(event) bool {
	return func(e event) bool {
		p, c := e.pod()
		return e.Action == "die" && p == pod && c == name
	}
}

// named matches one action of one container by its name on the engine.
func named(action, name string) func(event) bool {
	return func(e event) bool { return e.Action == action && e.name() == name }
}
