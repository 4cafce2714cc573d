package sources

import (
	"maps"
	"slices"
	"time"
)

// ledger is what the Merger knows: what each source said last, and what of it
// the receiver has been told. It is pure bookkeeping; Merger owns one and moves
// it from a single goroutine.
type ledger struct {
	order  []string            // source names, the first wins
	newest map[string]Snapshot // what each source said last
	told   map[string]Snapshot // what the receiver knows of each
	states map[string]SourceState
	good   map[string]time.Time // when each last delivered without a fault of its place
	due    []string             // sources with something untold, the longest waiting first

	running []Pod   // the winners as told
	lost    []claim // the losers as told
	offer   *offer  // what to tell next; nil when it must be worked out
}

// offer is an update that has not been taken yet, and the state after it.
type offer struct {
	update  PodUpdate
	source  string
	running []Pod
	lost    []claim
}

func newLedger(order []string) *ledger {
	return &ledger{
		order:  slices.Clone(order),
		newest: map[string]Snapshot{},
		told:   map[string]Snapshot{},
		states: map[string]SourceState{},
		good:   map[string]time.Time{},
	}
}

// take notes what a source says now. What it said before and nobody was told is
// forgotten; a source that is not in the order comes last.
func (l *ledger) take(s Snapshot) {
	if !slices.Contains(l.order, s.Source) {
		l.order = append(l.order, s.Source)
	}
	before := l.newest[s.Source]
	s.Live = s.Live || before.Live
	s.Attempted = s.Attempted || before.Attempted
	l.newest[s.Source] = s
	if s.Live && len(s.Faults) == 0 {
		l.good[s.Source] = s.Taken
	}
	if !slices.Contains(l.due, s.Source) {
		l.due = append(l.due, s.Source)
	}
	l.offer = nil
}

// next is the update to send now: that of the source which has waited longest,
// against what was really sent. It returns nil when there is nothing to tell;
// news are conflicts to report of snapshots that needed no update.
func (l *ledger) next() (o *offer, news []claim) {
	for l.offer == nil && len(l.due) > 0 {
		o := l.work(l.due[0])
		if l.worthTelling(o) {
			l.offer = o
			break
		}
		news = append(news, l.settle(o)...)
	}
	return l.offer, news
}

func (l *ledger) work(source string) *offer {
	world := maps.Clone(l.told)
	world[source] = l.newest[source]
	running, lost := winners(l.order, world)
	return &offer{
		source:  source,
		running: running,
		lost:    lost,
		update: PodUpdate{
			Changes: diff(l.running, running),
			Order:   l.order,
			Source:  stateOf(l.newest[source]),
		},
	}
}

func (l *ledger) worthTelling(o *offer) bool {
	before, spoke := l.states[o.source]
	return !spoke || len(o.update.Changes) > 0 || !before.same(o.update.Source)
}

// settle notes that the offer was taken (or had nothing to tell) and returns
// the conflicts that are new with it.
func (l *ledger) settle(o *offer) []claim {
	news := fresh(l.lost, o.lost)
	l.told[o.source] = l.newest[o.source]
	l.states[o.source] = o.update.Source
	l.running, l.lost = o.running, o.lost
	l.due = slices.DeleteFunc(l.due, func(s string) bool { return s == o.source })
	l.offer = nil
	return news
}

// statuses shows every source in order, those that have not spoken included.
func (l *ledger) statuses() []Status {
	_, lost := winners(l.order, l.newest)
	all := make([]Status, 0, len(l.order))
	for _, source := range l.order {
		s := Status{Snapshot: l.newest[source], LastSuccess: l.good[source]}
		s.Source = source
		for _, c := range lost {
			if c.loser.Source == source {
				s.Losers = append(s.Losers, Loser{Pod: c.loser, Name: c.name, Winner: c.winner})
			}
		}
		all = append(all, s)
	}
	return all
}

// stateOf is what the agent must know of a snapshot's source.
func stateOf(s Snapshot) SourceState {
	faulty := map[string]bool{}
	if len(s.Faults) > 0 {
		faulty[""] = true
	}
	for _, u := range s.Units {
		if len(u.Faults) > 0 {
			faulty[u.Name] = true
		}
	}
	return SourceState{Name: s.Source, Live: s.Live, Attempted: s.Attempted, Faulty: faulty, Taken: s.Taken}
}

// same leaves out Taken: time alone is no news.
func (s SourceState) same(o SourceState) bool {
	return s.Live == o.Live && s.Attempted == o.Attempted && maps.Equal(s.Faulty, o.Faulty)
}
