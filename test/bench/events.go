package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// watch is an engine's event stream. Both sides of every pair are timed by
// what arrives here.
type watch struct {
	mu       sync.Mutex
	expected map[*expectation]struct{}
	last     time.Time // when anything last arrived
	done     <-chan struct{}
}

// expectation is met when enough matching events have arrived.
type expectation struct {
	match func(rig.Event) bool
	need  int
	met   chan time.Time
}

// watchEvents opens the stream, from since on if that is not zero; it ends with
// ctx, and wait returns after it.
func watchEvents(ctx context.Context, e *rig.Engine, since time.Time) (w *watch, err error) {
	w = &watch{expected: map[*expectation]struct{}{}, last: time.Now()}
	w.done, err = e.Follow(ctx, "", since, w.arrived)
	return w, err
}

func (w *watch) arrived(ev rig.Event) {
	now := time.Now()
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
func (w *watch) expect(need int, match func(rig.Event) bool) *expectation {
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
func started(pod, name string) func(rig.Event) bool {
	return func(e rig.Event) bool {
		return e.Action == "start" && e.Pod == pod && e.Container == name
	}
}

// died matches the end of the named container of a pod.
func died(pod, name string) func(rig.Event) bool {
	return func(e rig.Event) bool {
		return e.Action == "die" && e.Pod == pod && e.Container == name
	}
}

// named matches one action of one container by its name on the engine.
func named(action, name string) func(rig.Event) bool {
	return func(e rig.Event) bool { return e.Action == action && e.Name == name }
}
