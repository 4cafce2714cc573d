package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/sources"
)

func TestSourcesMayBeConfiguredAnew(t *testing.T) {
	inWorld(t, func(w *world) {
		gone, stays := pod("gone", "1"), pod("stays", "1")
		gone.Origin.Source = "site"
		w.apply(stays)
		w.send(add(gone))
		w.advance(time.Second)
		w.silent()
		say := func(order []string, state sources.SourceState) {
			w.updates <- sources.PodUpdate{Order: order, Source: state}
		}
		// Both are configured, one speaks: the other's pod stays.
		say([]string{"file", "site"}, sources.SourceState{})
		w.speak(stays)
		w.advance(time.Minute)
		w.wantRunning("gone.1/POD", "gone.1/c", "stays.1/POD", "stays.1/c")
		// Now it is configured no more, and all others have spoken.
		say([]string{"file"}, sources.SourceState{})
		w.advance(time.Minute)
		w.wantRunning("stays.1/POD", "stays.1/c")
	})
}

func TestPodsOfASourceConfiguredNoMoreEndWithThatReason(t *testing.T) {
	site := pod("shop", "1")
	site.Origin = sources.Origin{Source: "site", Unit: "https://git.example/site", File: "nodes/shop.yaml", Line: 1}
	retire := func(w *world, changes ...sources.Change) {
		w.updates <- sources.PodUpdate{
			Order: []string{"file"}, Changes: changes, Source: sources.SourceState{Name: "file", Live: true, Attempted: true},
		}
		w.advance(time.Minute)
	}
	check := func(w *world) {
		w.Helper()
		w.wantRunning()
		w.wantEvent(events.ContainerKilling, "source site is no longer configured; it came from nodes/shop.yaml:1")
		for _, e := range w.agent.Events().List(events.Filter{}) {
			if strings.Contains(e.Message, "manifest was removed") || strings.Contains(e.Message, "no manifest wants it") {
				w.Errorf("nobody removed a manifest: %s", e.Message)
			}
		}
	}
	begin := func(w *world) {
		w.updates <- sources.PodUpdate{Order: []string{"file", "site"}}
		w.send(add(site))
		w.advance(time.Minute)
		w.wantRunning("shop.1/POD", "shop.1/c")
	}
	t.Run("while the agent runs", func(t *testing.T) {
		inWorld(t, func(w *world) {
			begin(w)
			retire(w, remove(site))
			check(w)
		})
	})
	t.Run("while the agent was away", func(t *testing.T) {
		inWorld(t, func(w *world) {
			begin(w)
			w.restart()
			retire(w)
			check(w)
		})
	})
}

func TestOrigins(t *testing.T) {
	commit := strings.Repeat("1a2b3c4d5e", 4)
	tests := []struct {
		name   string
		origin sources.Origin
		want   string
	}{
		{name: "file", origin: sources.Origin{Source: "file", Unit: "web.yaml", Line: 3, Revision: "sha256:1"}, want: "web.yaml (source file)"},
		{name: "git", origin: sources.Origin{Source: "fleet", Unit: "https://git.example/fleet", File: "pods/web.yaml", Line: 3, Revision: commit}, want: "pods/web.yaml:3 at 1a2b3c4 (source fleet)"},
		{name: "nothing known", origin: sources.Origin{Source: "site"}, want: "source site"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := showOrigin(test.origin); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
