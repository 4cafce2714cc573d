package docker

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/podstead/podstead/runtime"
)

func TestEventFrom(t *testing.T) {
	for _, test := range []struct {
		action    events.Action
		container string
		want      runtime.Event
		ignored   bool
	}{
		{action: "start", container: "main", want: runtime.Event{Kind: runtime.EventStarted, UID: "u1", ID: "c1", Container: "main"}},
		{action: "die", container: "main", want: runtime.Event{Kind: runtime.EventDied, UID: "u1", ID: "c1", Container: "main"}},
		{action: "oom", container: "main", want: runtime.Event{Kind: runtime.EventOOM, UID: "u1", ID: "c1", Container: "main"}},
		{action: "destroy", container: sandboxContainer, want: runtime.Event{Kind: runtime.EventRemoved, UID: "u1", ID: "c1"}},
		{action: "exec_start: sh", ignored: true},
	} {
		got, ok := eventFrom(events.Message{Action: test.action, Actor: events.Actor{ID: "c1", Attributes: map[string]string{labelUID: "u1", labelContainer: test.container}}})
		if got != test.want || ok == test.ignored {
			t.Errorf("%s: got %+v, %v", test.action, got, ok)
		}
	}
}

// The engine comes up late, sends an event, breaks off and comes back: every
// stream that stands and every one that breaks off asks for a look at all.
func TestRunReconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := time.Now().Add(time.Minute)
		streams := 0
		var asked events.ListOptions
		fake := &fakeAPI{
			pingFn: func(context.Context) error {
				if time.Now().Before(up) {
					return io.ErrUnexpectedEOF
				}
				return nil
			},
			eventsFn: func(ctx context.Context, opts events.ListOptions) (<-chan events.Message, <-chan error) {
				streams++
				asked = opts
				messages, errs := make(chan events.Message), make(chan error, 1)
				go func() {
					select {
					case messages <- events.Message{Action: "die", Actor: events.Actor{ID: "c1"}}:
					case <-ctx.Done():
					}
					if streams == 1 {
						errs <- io.EOF
						return
					}
					<-ctx.Done()
					errs <- ctx.Err()
				}()
				return messages, errs
			},
		}
		m := newTestManager(t, fake)
		m.facts.value = &facts{}
		ctx, cancel := context.WithCancel(t.Context())
		out, done := make(chan runtime.Event), make(chan error, 1)
		go func() { done <- m.Run(ctx, out) }()
		for i, want := range []runtime.EventKind{runtime.EventResync, runtime.EventDied, runtime.EventResync, runtime.EventResync, runtime.EventDied} {
			if got := <-out; got.Kind != want {
				t.Errorf("event %d is %s, want %s", i, got.Kind, want)
			}
			if i == 0 && time.Since(up) > lastDelay {
				t.Errorf("the engine was found %v late", time.Since(up))
			}
		}
		if m.facts.value != nil {
			t.Error("what was known of the engine before is still believed")
		}
		if !asked.Filters.ExactMatch("label", labelNodeID+"=node-1") || asked.Since == "" {
			t.Errorf("asked for %+v", asked)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// An agent that stops while nobody takes its events stops all the same.
func TestRunEndsWhileNobodyListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeAPI{
			pingFn: func(context.Context) error { return nil },
			eventsFn: func(ctx context.Context, _ events.ListOptions) (<-chan events.Message, <-chan error) {
				errs := make(chan error, 1)
				go func() { <-ctx.Done(); errs <- ctx.Err() }()
				return make(chan events.Message), errs
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- newTestManager(t, fake).Run(ctx, make(chan runtime.Event)) }()
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestEventStreamThatIsRefused(t *testing.T) {
	fake := &fakeAPI{
		pingFn: func(context.Context) error { return nil },
		eventsFn: func(context.Context, events.ListOptions) (<-chan events.Message, <-chan error) {
			errs := make(chan error, 1)
			errs <- errors.New("no")
			return make(chan events.Message), errs
		},
	}
	up, err := newTestManager(t, fake).follow(t.Context(), make(chan runtime.Event), false)
	if up || err == nil {
		t.Errorf("up %v, err %v", up, err)
	}
}

func TestEventOptionsFilterOnTheEngine(t *testing.T) {
	got := newTestManager(t, nil).eventOptions(time.Unix(100, 0))
	want := filters.NewArgs(filters.Arg("type", "container"), filters.Arg("label", "podstead.node-id=node-1"),
		filters.Arg("event", "start"), filters.Arg("event", "die"), filters.Arg("event", "destroy"), filters.Arg("event", "oom"))
	for _, key := range want.Keys() {
		for _, value := range want.Get(key) {
			if !got.Filters.ExactMatch(key, value) {
				t.Errorf("no %s=%s", key, value)
			}
		}
	}
	if got.Since != "98" {
		t.Errorf("since %s", got.Since)
	}
}
