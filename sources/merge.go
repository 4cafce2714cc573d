package sources

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// MergerConfig is what a Merger needs.
type MergerConfig struct {
	// Sources are the configured sources; of pods of one full name, the one of
	// the source named first runs.
	Sources []Member
	// Heard is told each snapshot when it is taken, by Run's goroutine; nil for
	// nobody. It must not block.
	Heard func(Snapshot)
	// Settled is told once for each configuration, by Run's goroutine, when every
	// source has answered and nothing is left of any other; nil for nobody. It
	// must not block.
	Settled func()
	Logger  *slog.Logger
}

// Merger turns the snapshots of all sources into one stream of PodUpdates. One
// goroutine, that of Run, owns all it knows.
type Merger struct {
	members []Member
	heard   func(Snapshot)
	settled func()
	log     *slog.Logger
	asks    chan chan<- []Status
	configs chan reconfiguration
	stopped chan struct{}
}

// reconfiguration is one call of Configure on its way to Run's goroutine.
type reconfiguration struct {
	members []Member
	done    chan<- struct{} // closed when it is in force
}

// NewMerger returns a Merger that does nothing until Run.
func NewMerger(cfg MergerConfig) *Merger {
	if cfg.Heard == nil {
		cfg.Heard = func(Snapshot) {}
	}
	if cfg.Settled == nil {
		cfg.Settled = func() {}
	}
	return &Merger{
		members: cfg.Sources,
		heard:   cfg.Heard,
		settled: cfg.Settled,
		log:     cfg.Logger,
		asks:    make(chan chan<- []Status),
		configs: make(chan reconfiguration),
		stopped: make(chan struct{}),
	}
}

// Run merges until ctx ends, or until in is closed and all is told; it is called
// once and closes out when it returns. Sources never wait for the receiver of
// out: while it is busy their newest snapshots replace what has not been sent,
// and the update that it gets in the end tells the way from what it got before.
func (m *Merger) Run(ctx context.Context, in <-chan Snapshot, out chan<- PodUpdate) error {
	defer close(m.stopped)
	defer close(out)
	known := newLedger(m.members)
	settled := false
	for {
		offer, told := known.next()
		m.report(told)
		if !settled && known.settled() {
			settled = true
			m.settled()
		}
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
			m.heard(snapshot)
			m.reportRemarks(snapshot.Source, known.take(snapshot))
		case send <- update:
			m.report(known.settle(offer))
		case reply := <-m.asks:
			reply <- known.statuses(time.Now())
		case c := <-m.configs:
			known.configure(c.members)
			settled = false
			m.log.Info("sources are configured anew", "order", names(known.members), "retired", names(known.retired))
			close(c.done)
		}
	}
}

// report names pods that do not run because another has their name: once, when
// the conflict arises. And it names sources whose pods go with them.
func (m *Merger) report(t tidings) {
	for _, source := range t.left {
		m.log.Info("source is gone, and its pods with it: every configured source has answered", "source", source)
	}
	for _, c := range t.lost {
		m.log.Warn("pod is not run: its name is taken", "pod", c.name,
			"source", c.loser.Source, "place", c.loser.where(),
			"winner", c.winner.Source, "winnerPlace", c.winner.where())
	}
}

func (m *Merger) reportRemarks(source string, remarks []remark) {
	for _, r := range remarks {
		m.log.Warn("object is not in force", "source", source, "place", r.fault.Place.String(), "err", r.fault.Message)
	}
}

// errMergerStopped is what is returned to those who ask once Run has ended.
var errMergerStopped = errors.New("the merger has stopped")

// Configure puts a new list of sources, their order and what objects they see in
// force. It returns when that has happened, which the PodUpdates show from then
// on, or with an error, and then nothing has changed. It can be called before or
// after the sources themselves are exchanged: of one that is not configured yet
// nothing is told.
//
// A source that is no longer listed is retired: its pods stay as they are, with
// the objects that they see, behind those of all other sources, until every
// listed source has answered as it is configured now. Then those that no other
// source wants are removed. So a source that is renamed restarts nothing.
func (m *Merger) Configure(ctx context.Context, members []Member) error {
	if err := checkMembers(members); err != nil {
		return fmt.Errorf("configure sources: %w", err)
	}
	done := make(chan struct{})
	select {
	case m.configs <- reconfiguration{members, done}:
		<-done
		return nil
	case <-m.stopped:
		return fmt.Errorf("configure sources: %w", errMergerStopped)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Statuses returns every source's state in source order, sources that have not
// spoken yet included. It is answered by Run's goroutine, and waits for it until
// ctx ends.
func (m *Merger) Statuses(ctx context.Context) ([]Status, error) {
	reply := make(chan []Status, 1)
	select {
	case m.asks <- reply:
		return <-reply, nil
	case <-m.stopped:
		return nil, fmt.Errorf("get source statuses: %w", errMergerStopped)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
