//go:build e2e

package engine

import (
	"context"
	"testing"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// client speaks to an engine without podstead between.
type client struct{ *rig.Engine }

func newClient(socket string) client {
	e := rig.NewEngine(socket)
	e.Transport.DisableKeepAlives = true // the engine comes and goes
	e.Limit = 20 * time.Second           // and hangs
	return client{e}
}

// ps lists a node's containers, the newest first.
func (c client) ps(node string) ([]rig.Box, error) { return c.PS(context.Background(), node) }

// failed reports whether the engine tried to start a container, and could not.
func (c client) failed(id string) bool {
	d, err := c.Inspect(context.Background(), id)
	return err == nil && d.State.Error != ""
}

func (c client) remove(id string) error { return c.Remove(context.Background(), id) }

// point is a moment of a pod's life, told by the engine's event.
type point func(rig.Event) bool

// at is the moment at which a container of any pod meets an action.
func at(action, container string) point {
	return func(e rig.Event) bool { return e.Action == action && e.Container == container }
}

// of narrows a point to pods of these UIDs, notOf to all others.
func (p point) of(uid string) point { return func(e rig.Event) bool { return p(e) && e.UID == uid } }

func (p point) notOf(uid string) point {
	return func(e rig.Event) bool { return p(e) && e.UID != uid }
}

// watch opens the event stream of a node. The returned function waits for a
// point that comes after the watch began.
func (c client) watch(t *testing.T, node string) (await func(what string, p point)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	events := make(chan rig.Event, 1000) // more than a test makes
	// The engine answers before it has begun to listen; since tells it from when.
	ended, err := c.Follow(ctx, node, time.Now(), func(e rig.Event) { events <- e })
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	go func() {
		defer close(events)
		<-ended
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
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
