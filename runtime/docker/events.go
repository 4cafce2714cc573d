package docker

import (
	"context"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/podstead/podstead/runtime"
)

// Delays between attempts to reach the engine. A refused socket costs next to
// nothing and a booting machine waits for its pods, so the last is short; each is
// halved to whole by chance, so that the agents of one engine do not come back
// together.
const (
	firstDelay = 100 * time.Millisecond
	lastDelay  = 250 * time.Millisecond
)

// overlap is how far back a new stream begins: the engine answers before it
// has begun to listen for events.
const overlap = 2 * time.Second

// Run follows the engine's events of this node's containers until ctx ends,
// then returns nil. It sends runtime.EventResync whenever a stream has come up
// (the first one too) or broken off, reconnects with growing delays, and tells
// of an engine that does not answer once, not at each attempt.
func (m *Manager) Run(ctx context.Context, out chan<- runtime.Event) error {
	delay, away := firstDelay, false
	for ctx.Err() == nil {
		up, err := m.follow(ctx, out, away)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // whatever broke off a stream that is not wanted any more
		}
		if up {
			delay, away = firstDelay, false
			send(ctx, out, runtime.Event{Kind: runtime.EventResync})
		}
		if !away {
			away = true
			m.log.Warn("the engine is away; reconnecting", "endpoint", m.engine.endpoint, "err", err)
		}
		if wait(ctx, jitter(delay)) == nil {
			m.forgetEngine()
		}
		delay = min(2*delay, lastDelay)
	}
	return nil
}

// forgetEngine drops what was learned of the engine: another one may answer.
func (m *Manager) forgetEngine() {
	if err := m.engine.renew(); err != nil {
		m.log.Error("engine client cannot be made anew", "err", err)
	}
	m.facts.drop(nil)
	m.network.drop(nil)
}

// follow reads one stream to its end and reports whether it ever stood.
func (m *Manager) follow(ctx context.Context, out chan<- runtime.Event, again bool) (up bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if _, err := m.engine.ping(ctx); err != nil {
		return false, err
	}
	messages, errs := m.engine.current().Events(ctx, m.eventOptions(time.Now()))
	select {
	case err := <-errs:
		return false, m.engine.classify(ctx, call{name: "events"}, err)
	default:
	}
	if again {
		m.log.Info("the engine is back")
	}
	m.watched(true)
	defer m.watched(false)
	send(ctx, out, runtime.Event{Kind: runtime.EventResync})
	for {
		select {
		case msg := <-messages:
			if event, ok := eventFrom(msg); ok {
				m.details.forget(event.ID)
				if event.Kind == runtime.EventStarted {
					m.members.started(event.UID, event.ID)
				}
				send(ctx, out, event)
			}
		case err := <-errs:
			return true, m.engine.classify(ctx, call{name: "events"}, err)
		}
	}
}

// watched says whether the event stream is up from now on.
func (m *Manager) watched(live bool) {
	m.details.watched(live)
	m.members.watched(live)
}

func (m *Manager) eventOptions(now time.Time) events.ListOptions {
	args := filters.NewArgs(
		filters.Arg("type", string(events.ContainerEventType)),
		filters.Arg("label", labelNodeID+"="+m.cfg.NodeID),
	)
	for _, action := range []events.Action{events.ActionStart, events.ActionDie, events.ActionDestroy, events.ActionOOM} {
		args.Add("event", string(action))
	}
	return events.ListOptions{Filters: args, Since: strconv.FormatInt(now.Add(-overlap).Unix(), 10)}
}

// eventFrom translates an event; the engine sends a container's labels along.
func eventFrom(msg events.Message) (runtime.Event, bool) {
	event := runtime.Event{
		UID:       msg.Actor.Attributes[labelUID],
		ID:        msg.Actor.ID,
		Container: msg.Actor.Attributes[labelContainer],
	}
	if event.Container == sandboxContainer {
		event.Container = ""
	}
	switch msg.Action {
	case events.ActionStart:
		event.Kind = runtime.EventStarted
	case events.ActionDie:
		event.Kind = runtime.EventDied
	case events.ActionDestroy:
		event.Kind = runtime.EventRemoved
	case events.ActionOOM:
		event.Kind = runtime.EventOOM
	default:
		return runtime.Event{}, false
	}
	return event, true
}

func send(ctx context.Context, out chan<- runtime.Event, event runtime.Event) {
	select {
	case out <- event:
	case <-ctx.Done():
	}
}

// jitter spreads a delay over its upper half.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }
