package sources

import (
	"maps"
	"slices"
	"time"
)

// When a changed set is sent.
const (
	// quiet is how long a change waits for the next one of the same burst.
	quiet = 2 * time.Millisecond
	// spacing is the most that a change waits, and the time after a send in which
	// another change counts as the same burst.
	spacing = 50 * time.Millisecond
)

// pace says when a set that changed is to be sent: a single change at once, the
// changes of a burst together, and none later than spacing after it was seen.
type pace struct {
	sent        time.Time // the last send
	first, last time.Time // changes since; zero for none
}

func (p *pace) change(now time.Time) {
	if p.first.IsZero() {
		p.first = now
	}
	p.last = now
}

func (p *pace) send(now time.Time) { *p = pace{sent: now} }

// due is when to send; ok is false when nothing changed.
func (p *pace) due() (at time.Time, ok bool) {
	switch {
	case p.first.IsZero():
		return time.Time{}, false
	case p.first.Sub(p.sent) >= spacing:
		return p.first, true
	}
	return earlier(p.last.Add(quiet), p.first.Add(spacing)), true
}

// agenda is which file is to be looked at, and when.
type agenda map[string]time.Time

// due lists the names whose time has come, sorted.
func (a agenda) due(now time.Time) []string {
	var names []string
	for name, at := range a {
		if !at.After(now) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// next is the earliest time on the agenda; ok is false when it is empty.
func (a agenda) next() (at time.Time, ok bool) {
	for t := range maps.Values(a) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	return at, ok
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
