package main

import (
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/sources"
)

// plight is what keeps a source's newest state from being in force.
type plight struct {
	fault string // "" for none
	held  string
}

// plightOf looks at a snapshot.
func plightOf(s sources.Snapshot) plight {
	var all []string
	for _, f := range s.Faults {
		all = append(all, f.Error())
	}
	for _, u := range s.Units {
		for _, f := range u.Problems() {
			all = append(all, f.Error())
		}
	}
	return plight{fault: strings.Join(all, "; "), held: s.Held}
}

// sourceEvent is one event about a source.
type sourceEvent struct {
	kind, reason, message string
}

// since are the events that tell how p came to differ from what was before.
// revision is the one in force, "" for none.
func (p plight) since(before plight, revision string) []sourceEvent {
	var news []sourceEvent
	if p.fault != "" && p.fault != before.fault {
		text := "What was in force stays: "
		if revision == "" {
			text = "Nothing of it is known from before: "
		}
		news = append(news, sourceEvent{v1.EventTypeWarning, events.SourceFault, text + p.fault})
	}
	if p.held != "" && p.held != before.held {
		news = append(news, sourceEvent{v1.EventTypeWarning, events.RemovalHeld, p.held})
	}
	if p == (plight{}) && before != p {
		text := "Its newest state is in force"
		if revision != "" {
			text += ": " + revision
		}
		news = append(news, sourceEvent{v1.EventTypeNormal, events.SourceRecovered, text})
	}
	return news
}

// plights tells by events, once per change, what is wrong with sources, which log
// it themselves. One goroutine uses it: the merger's.
type plights struct {
	recorder *events.Recorder
	known    map[string]plight
}

// hear compares a source's newest snapshot with the one before. One that is
// without fault since its place has not been asked yet tells nothing.
func (p *plights) hear(s sources.Snapshot) {
	now := plightOf(s)
	if now == (plight{}) && !s.Live {
		return
	}
	for _, e := range now.since(p.known[s.Source], s.Revision) {
		p.recorder.Note(events.Source(s.Source), e.kind, e.reason, e.message)
	}
	p.known[s.Source] = now
}
