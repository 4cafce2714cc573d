package sources

import (
	"context"
	"errors"
	"log/slog"
)

// MergerConfig is what a Merger needs.
type MergerConfig struct {
	// Sources are the configured sources; of pods of one full name, the one of
	// the source named first runs.
	Sources []Member
	Logger  *slog.Logger
}

// Member is a configured source as the Merger knows it.
type Member struct {
	Name string
	// ObjectsFrom names sources in which its pods' references are looked up, in
	// this order, after its own.
	ObjectsFrom []string
}

// Merger turns the snapshots of all sources into one stream of PodUpdates. One
// goroutine, that of Run, owns all it knows.
type Merger struct {
	order   []string
	log     *slog.Logger
	asks    chan chan<- []Status
	stopped chan struct{}
}

// NewMerger returns a Merger that does nothing until Run.
func NewMerger(cfg MergerConfig) *Merger {
	return &Merger{
		order:   names(cfg.Sources),
		log:     cfg.Logger,
		asks:    make(chan chan<- []Status),
		stopped: make(chan struct{}),
	}
}

func names(members []Member) []string {
	all := make([]string, len(members))
	for i, m := range members {
		all[i] = m.Name
	}
	return all
}

// Run merges until ctx ends, or until in is closed and all is told; it is called
// once and closes out when it returns. Sources never wait for the receiver of
// out: while it is busy their newest snapshots replace what has not been sent,
// and the update that it gets in the end tells the way from what it got before.
func (m *Merger) Run(ctx context.Context, in <-chan Snapshot, out chan<- PodUpdate) error {
	defer close(m.stopped)
	defer close(out)
	known := newLedger(m.order)
	for {
		offer, news := known.next()
		m.report(news)
		if offer == nil && in == nil {
			return nil
		}
		var update PodUpdate
		var send chan<- PodUpdate
		if offer != nil {
			send, update = out, offer.update
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case snapshot, open := <-in:
			if !open {
				in = nil
				continue
			}
			known.take(snapshot)
		case send <- update:
			m.report(known.settle(offer))
		case reply := <-m.asks:
			reply <- known.statuses()
		}
	}
}

// report names pods that do not run because another has their name: once, when
// the conflict arises.
func (m *Merger) report(news []claim) {
	for _, c := range news {
		m.log.Warn("pod is not run: its name is taken", "pod", c.name,
			"source", c.loser.Source, "place", c.loser.where(),
			"winner", c.winner.Source, "winnerPlace", c.winner.where())
	}
}

// errMergerStopped is what Statuses returns once Run has ended.
var errMergerStopped = errors.New("get source statuses: the merger has stopped")

// Statuses returns every source's state in source order, sources that have not
// spoken yet included. It is answered by Run's goroutine, and waits for it until
// ctx ends.
func (m *Merger) Statuses(ctx context.Context) ([]Status, error) {
	reply := make(chan []Status, 1)
	select {
	case m.asks <- reply:
		return <-reply, nil
	case <-m.stopped:
		return nil, errMergerStopped
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
