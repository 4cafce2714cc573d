package runtimetest

import (
	"context"

	"github.com/podstead/podstead/runtime"
)

// stream is one event stream: what has yet to be handed over, and a bell.
type stream struct {
	queue []runtime.Event
	bell  chan struct{} // one slot: rung is rung
}

// Run hands events over until ctx ends, then returns nil. It begins with EventResync: what
// happened before is not told.
func (f *Fake) Run(ctx context.Context, out chan<- runtime.Event) error {
	s := &stream{bell: make(chan struct{}, 1)}
	f.mu.Lock()
	f.streams[s] = struct{}{}
	s.push(runtime.Event{Kind: runtime.EventResync})
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.streams, s)
	}()
	for {
		select {
		case <-s.bell:
		case <-ctx.Done():
			return nil
		}
		for _, e := range f.takeEvents(s) {
			select {
			case out <- e:
			case <-ctx.Done():
				return nil
			}
		}
	}
}

func (f *Fake) takeEvents(s *stream) []runtime.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := s.queue
	s.queue = nil
	return events
}

func (s *stream) push(e runtime.Event) {
	s.queue = append(s.queue, e)
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// emit tells what happened to an object, unless nobody can hear it.
func (f *Fake) emit(kind runtime.EventKind, o *object) {
	if f.down || f.broken || f.muted || f.frozen != nil {
		return
	}
	e := runtime.Event{Kind: kind, UID: o.uid, ID: o.id}
	if o.cfg != nil {
		e.Container = o.cfg.Name
	}
	for s := range f.streams {
		s.push(e)
	}
}

func (f *Fake) resync() {
	for s := range f.streams {
		s.push(runtime.Event{Kind: runtime.EventResync})
	}
}

// BreakStream interrupts the event stream: what happens until ResumeStream is
// not told, only that something may have been missed.
func (f *Fake) BreakStream() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = true
	f.resync()
}

// ResumeStream brings the event stream back.
func (f *Fake) ResumeStream() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = false
	f.resync()
}

// Mute loses all events from now on without a word, as a stream does whose other
// end is gone and nobody noticed.
func (f *Fake) Mute() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.muted = true
}

// Unmute ends Mute.
func (f *Fake) Unmute() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.muted = false
}
