//go:build e2e

package e2e

import (
	"context"
	"sync"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// story is all that the engine did for one node, in order.
type story struct {
	mu   sync.Mutex
	acts []rig.Event
	stop func()
}

// follow begins the story; it ends with stop.
func follow(e engine, node string) (*story, error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &story{}
	ended, err := e.Follow(ctx, node, time.Time{}, s.add)
	if err != nil {
		cancel()
		return nil, err
	}
	s.stop = func() {
		cancel()
		<-ended
	}
	return s, nil
}

func (s *story) add(a rig.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acts = append(s.acts, a)
}

// of returns the acts of one kind on containers of one name, so far.
func (s *story) of(action, container string) []rig.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []rig.Event
	for _, a := range s.acts {
		if a.Action == action && a.Container == container {
			found = append(found, a)
		}
	}
	return found
}

// all returns everything so far.
func (s *story) all() []rig.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]rig.Event(nil), s.acts...)
}
