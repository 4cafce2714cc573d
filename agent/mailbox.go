package agent

import "sync"

// mailbox is how the loop reaches a worker: one slot for orders, in which the
// newest wins, and a bell. Putting and ringing never block.
type mailbox struct {
	mu    sync.Mutex
	order *order
	acks  []chan<- struct{}
	bell  chan struct{}
}

func newMailbox() *mailbox { return &mailbox{bell: make(chan struct{}, 1)} }

// put leaves an order, in place of one not yet taken.
func (m *mailbox) put(o order) {
	m.mu.Lock()
	m.order = &o
	m.mu.Unlock()
	m.ring(nil)
}

// ring asks the worker to look at its pod. A given ack is closed once it has.
func (m *mailbox) ring(ack chan<- struct{}) {
	if ack != nil {
		m.mu.Lock()
		m.acks = append(m.acks, ack)
		m.mu.Unlock()
	}
	select {
	case m.bell <- struct{}{}:
	default:
	}
}

// take empties the mailbox; the order is nil when there is no new one.
func (m *mailbox) take() (*order, []chan<- struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.bell:
	default:
	}
	o, acks := m.order, m.acks
	m.order, m.acks = nil, nil
	return o, acks
}

// hush silences the bell for who is about to look: what rang before is seen by
// that look. Whoever waits for an answer, or has left an order, goes on ringing.
func (m *mailbox) hush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.order != nil || len(m.acks) > 0 {
		return
	}
	select {
	case <-m.bell:
	default:
	}
}

// awaited reports whether somebody waits for the worker to look again: a newer
// order, which may end what is being done, or a client who asked how it stands.
func (m *mailbox) awaited() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.order != nil || len(m.acks) > 0
}
