package main

import "sync"

// turnstile tells those who wait that something may have changed. Safe for
// concurrent use.
type turnstile struct {
	mu      sync.Mutex
	changed chan struct{} // closed at the next turn; nil while nobody waits
}

// next returns a channel that is closed at the next turn. Take it before looking,
// and no change is missed.
func (t *turnstile) next() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return t.changed
}

func (t *turnstile) turn() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}
