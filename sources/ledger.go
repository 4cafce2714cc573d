package sources

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// ledger is what the Merger knows: what each source said last, and what of it
// the receiver has been told. It is pure bookkeeping; Merger owns one and moves
// it from a single goroutine.
type ledger struct {
	members []Member        // the configured sources, the first wins
	retired []Member        // configured no more; their pods stay for a while, and lose to all others
	newest  map[string]said // what each source said last
	told    map[string]said // what the receiver knows of each
	states  map[string]SourceState
	good    map[string]time.Time // when each place last answered without a fault of its own
	due     []string             // sources with something untold, the longest waiting first; reread for the configuration

	running []Pod    // the winners as told
	lost    []claim  // the losers as told
	order   []string // as told
	offer   *offer   // what to tell next; nil when it must be worked out
}

// reread stands among the due for a configuration that was read again: its
// update names no source.
const reread = ""

// said is what a source said at one time, as it counts.
type said struct {
	Snapshot
	shelf   shelf
	remarks []remark
	// answered is true when it has been live since it runs under its Key; Live
	// stays true over a new Key.
	answered bool
}

// offer is an update that has not been taken yet, and the state after it.
type offer struct {
	update  PodUpdate
	source  string
	running []Pod
	lost    []claim
	leaves  bool // the retired sources go with it
}

// tidings are what a person should hear of when an update was taken.
type tidings struct {
	lost []claim  // conflicts that are new
	left []string // sources that were retired, and are gone with their pods
}

func newLedger(members []Member) *ledger {
	return &ledger{
		members: slices.Clone(members),
		newest:  map[string]said{},
		told:    map[string]said{},
		states:  map[string]SourceState{},
		good:    map[string]time.Time{},
		order:   names(members),
	}
}

// take notes what a source says now and returns the remarks that are new with
// it. What it said before and nobody was told is forgotten; what a source says
// that is not configured waits for its configuration.
func (l *ledger) take(s Snapshot) []remark {
	before := l.newest[s.Source]
	now := said{answered: s.Live || before.answered && before.Key == s.Key}
	if before.Live && !s.Live {
		// It was started anew and has not heard from its place: what its disk holds
		// is no newer than what it said.
		s.Pods, s.Objects, s.Units, s.Revision = before.Pods, before.Objects, before.Units, before.Revision
		s.Taken, s.Heard = before.Taken, before.Heard
	}
	s = s.keeping(before.Snapshot)
	s.Live = s.Live || before.Live
	s.Attempted = s.Attempted || before.Attempted
	now.Snapshot = s
	now.shelf, now.remarks = stock(s.Objects, before.shelf)
	l.newest[s.Source] = now
	if !s.Heard.IsZero() {
		l.good[s.Source] = s.Heard
	}
	if l.knows(s.Source) {
		l.owe(s.Source)
	}
	return slices.DeleteFunc(slices.Clone(now.remarks), func(r remark) bool { return slices.Contains(before.remarks, r) })
}

// keeping is a snapshot with what its source said before of units that are at
// fault now and have no version in force: by the settings with which it was
// started anew not even their last good version is good. What runs of them runs
// on, as when the agent itself starts anew.
func (s Snapshot) keeping(before Snapshot) Snapshot {
	lost := map[string]bool{}
	for _, u := range s.Units {
		if u.Revision == "" && (len(u.Faults) > 0 || s.Held != "") {
			lost[u.Name] = true
		}
	}
	if len(lost) == 0 || len(before.Pods)+len(before.Objects) == 0 {
		return s
	}
	// A URL or a repository is one unit, wherever it was before.
	stays := func(o Origin) bool { return lost[o.Unit] || s.Kind != KindFile }
	s.Pods = append(slices.Clip(s.Pods), slices.DeleteFunc(slices.Clone(before.Pods), func(p Pod) bool { return !stays(p.Origin) })...)
	s.Objects = append(slices.Clip(s.Objects), slices.DeleteFunc(slices.Clone(before.Objects), func(o Object) bool { return !stays(o.Origin) })...)
	slices.SortStableFunc(s.Pods, func(a, b Pod) int { return strings.Compare(a.Origin.Unit, b.Origin.Unit) })
	slices.SortStableFunc(s.Objects, func(a, b Object) int { return strings.Compare(a.Origin.Unit, b.Origin.Unit) })
	return s
}

func (l *ledger) knows(source string) bool {
	return member(l.members, source) != nil || member(l.retired, source) != nil
}

// owe notes that something of a source is to be told.
func (l *ledger) owe(source string) {
	if !slices.Contains(l.due, source) {
		l.due = append(l.due, source)
	}
	l.offer = nil
}

// next is the update to send now: that of the source which has waited longest,
// against what was really sent. It returns nil when there is nothing to tell;
// the tidings are of snapshots that needed no update.
func (l *ledger) next() (*offer, tidings) {
	var all tidings
	for l.offer == nil && len(l.due) > 0 {
		o := l.work(l.due[0])
		if l.worthTelling(o) {
			l.offer = o
			break
		}
		n := l.settle(o)
		all.lost, all.left = append(all.lost, n.lost...), append(all.left, n.left...)
	}
	return l.offer, all
}

func (l *ledger) work(source string) *offer {
	world := maps.Clone(l.told)
	if source != reread {
		world[source] = l.newest[source]
	}
	o := &offer{source: source, leaves: len(l.retired) > 0 && l.complete(world)}
	order := slices.Concat(l.members, l.retired)
	if o.leaves {
		order = l.members
		maps.DeleteFunc(world, func(source string, _ said) bool { return member(order, source) == nil })
	}
	o.running, o.lost = winners(order, world)
	resolve(o.running, order, world)
	o.update = PodUpdate{Changes: diff(l.running, o.running), Order: names(l.members)}
	if source != reread {
		o.update.Source = stateOf(l.newest[source].Snapshot)
	}
	return o
}

// complete is true of a world in which every configured source has answered as
// it is configured now.
func (l *ledger) complete(world map[string]said) bool { return len(l.unanswered(world)) == 0 }

// unanswered names the configured sources that have not answered so.
func (l *ledger) unanswered(world map[string]said) (names []string) {
	for _, m := range l.members {
		if s := world[m.Name]; !s.answered || s.Key != m.Key {
			names = append(names, m.Name)
		}
	}
	return names
}

// settled is true once the receiver knows what every configured source answers,
// and nothing of any other is left.
func (l *ledger) settled() bool {
	return len(l.members) > 0 && len(l.retired) == 0 && l.complete(l.told)
}

func (l *ledger) worthTelling(o *offer) bool {
	switch before, spoke := l.states[o.source]; {
	case len(o.update.Changes) > 0:
		return true
	case o.source == reread:
		return !slices.Equal(l.order, o.update.Order)
	default:
		return !spoke || !before.same(o.update.Source)
	}
}

// settle notes that the offer was taken (or had nothing to tell) and returns
// what is new with it.
func (l *ledger) settle(o *offer) tidings {
	n := tidings{lost: fresh(l.lost, o.lost)}
	if o.source != reread {
		l.told[o.source] = l.newest[o.source]
		l.states[o.source] = o.update.Source
	}
	l.running, l.lost, l.order = o.running, o.lost, o.update.Order
	l.due = slices.DeleteFunc(l.due, func(s string) bool { return s == o.source })
	l.offer = nil
	if o.leaves {
		n.left = names(l.retired)
		l.forget(n.left)
		l.retired = nil
	}
	return n
}

// forget drops all that is known of sources.
func (l *ledger) forget(sources []string) {
	for _, source := range sources {
		delete(l.newest, source)
		delete(l.told, source)
		delete(l.states, source)
		delete(l.good, source)
	}
	l.due = slices.DeleteFunc(l.due, func(s string) bool { return slices.Contains(sources, s) })
}

// statuses shows every source in order, those that have not spoken included and
// those that are retired last.
func (l *ledger) statuses(now time.Time) []Status {
	order := slices.Concat(l.members, l.retired)
	_, lost := winners(order, l.newest)
	all := make([]Status, 0, len(order))
	for i, m := range order {
		newest := l.newest[m.Name]
		s := Status{Snapshot: newest.Snapshot, LastSuccess: l.good[m.Name], Retired: i >= len(l.members)}
		if s.Retired {
			s.WaitsFor = l.unanswered(l.newest)
		}
		if s.Kind == KindFile && newest.answered && len(s.Faults) == 0 && !s.Retired && s.Suspended == nil {
			s.Taken, s.LastSuccess = now, now // it tells at once when that is no longer so
		}
		s.Source, s.Units = m.Name, remarked(newest.Units, newest.remarks)
		for _, c := range lost {
			if c.loser.Source == m.Name {
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
	if len(s.Faults) > 0 || s.Held != "" && s.Revision == "" {
		faulty[""] = true // held against a set of which only the names are known
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
