package agent

import (
	"testing"
	"time"

	"github.com/podstead/podstead/sources"
)

func TestIsOrphan(t *testing.T) {
	live := sources.SourceState{Live: true, Attempted: true}
	faulty := func(unit string) sources.SourceState {
		return sources.SourceState{Live: true, Attempted: true, Faulty: map[string]bool{unit: true}}
	}
	of := func(source, unit string) *sources.Origin { return &sources.Origin{Source: source, Unit: unit} }
	cases := []struct {
		name    string
		origin  *sources.Origin
		states  map[string]sources.SourceState
		running time.Duration
		want    bool
	}{
		{name: "nobody has spoken", origin: of("file", "a.yaml"), want: false},
		{name: "its source has spoken, the other has tried", origin: of("file", "a.yaml"),
			states: map[string]sources.SourceState{"file": live, "http": {Attempted: true}}, want: true},
		{name: "the other has not yet tried", origin: of("file", "a.yaml"),
			states: map[string]sources.SourceState{"file": live}, running: 29 * time.Second, want: false},
		{name: "the other never answers (B13)", origin: of("file", "a.yaml"),
			states: map[string]sources.SourceState{"file": live}, running: 30 * time.Second, want: true},
		{name: "its source spoke from disk only", origin: of("http", "u"), running: time.Hour,
			states: map[string]sources.SourceState{"file": live, "http": {Attempted: true}}, want: false},
		{name: "its unit is at fault", origin: of("file", "a.yaml"), running: time.Hour,
			states: map[string]sources.SourceState{"file": faulty("a.yaml"), "http": live}, want: false},
		{name: "another unit is at fault", origin: of("file", "a.yaml"),
			states: map[string]sources.SourceState{"file": faulty("b.yaml"), "http": live}, want: true},
		{name: "its folder is at fault", origin: of("file", "a.yaml"), running: time.Hour,
			states: map[string]sources.SourceState{"file": faulty(""), "http": live}, want: false},
		{name: "its source is not configured any more, all have spoken", origin: of("git", "u"),
			states: map[string]sources.SourceState{"file": live, "http": live}, want: true},
		{name: "its source is not configured any more, one is silent", origin: of("git", "u"), running: time.Hour,
			states: map[string]sources.SourceState{"file": live, "http": {Attempted: true}}, want: false},
		{name: "no record, all have spoken",
			states: map[string]sources.SourceState{"file": live, "http": live}, want: true},
		{name: "no record, one is silent", running: time.Hour,
			states: map[string]sources.SourceState{"file": live}, want: false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			view := sourcesView{configured: []string{"file", "http"}, states: c.states, running: c.running}
			if got := isOrphan(c.origin, view); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
