package docker

import (
	"context"
	"sync"
	"time"

	"github.com/podstead/podstead/runtime"
)

// rank orders those who wait for a slot: what brings a pod to its end comes
// before what begins one, so that of many pods the first ones run early and not
// all of them at last.
type rank int

const (
	rankShort     rank = iota // looking and signalling: quick, and others wait for it
	rankStart                 // starting a container
	rankCreate                // creating one
	rankSandbox               // starting a sandbox
	rankBeginning             // creating one
	rankTidy                  // removing what is dead: nobody waits for it
	ranks
)

// tidyPatience is how long the removal of what is dead waits for a slot. Who
// wants it may have something to do by then that cannot wait.
const tidyPatience = time.Second

// slots bounds how many short engine calls are under way. Within a rank the
// first to come is the first to go.
type slots struct {
	mu      sync.Mutex
	free    int
	waiting [ranks][]chan struct{} // closed when the slot is handed over
}

func newSlots(n int) *slots { return &slots{free: n} }

// take waits for a slot. The error is ctx's, or runtime.ErrBusy for who tidies and
// has waited long enough; no slot is held then.
func (s *slots) take(ctx context.Context, r rank) error {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	s.waiting[r] = append(s.waiting[r], turn)
	s.mu.Unlock()
	var patience <-chan time.Time
	if r == rankTidy {
		timer := time.NewTimer(tidyPatience)
		defer timer.Stop()
		patience = timer.C
	}
	select {
	case <-turn:
		return nil
	case <-patience:
		s.leave(r, turn)
		return runtime.ErrBusy
	case <-ctx.Done():
		s.leave(r, turn)
		return ctx.Err()
	}
}

// leave gives up waiting; a slot that was handed over meanwhile goes on.
func (s *slots) leave(r rank, turn chan struct{}) {
	s.mu.Lock()
	for i, other := range s.waiting[r] {
		if other == turn {
			s.waiting[r] = append(s.waiting[r][:i], s.waiting[r][i+1:]...)
			s.mu.Unlock()
			return
		}
	}
	s.mu.Unlock()
	s.give()
}

// give hands a slot to who comes next, or keeps it free.
func (s *slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.waiting {
		if queue := s.waiting[r]; len(queue) > 0 {
			s.waiting[r] = queue[1:]
			close(queue[0])
			return
		}
	}
	s.free++
}
