package main

import (
	"strings"
	"testing"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/sources"
)

// heardEvents are the reasons and texts of what a line of snapshots leads to.
func heardEvents(t *testing.T, snapshots ...sources.Snapshot) []string {
	recorder := events.New(events.Config{Node: "n1", Logger: newBench(t).out.logger})
	told := &plights{recorder: recorder, known: map[string]plight{}}
	for _, s := range snapshots {
		told.hear(s)
	}
	var all []string
	for _, e := range recorder.List(events.Filter{}) {
		all = append(all, e.Reason+": "+e.Message)
	}
	return all
}

// A source in error that gets other settings has not recovered before its place
// was asked; and of one that never had anything nothing stays.
func TestEventsOfASourceThatIsStartedAnew(t *testing.T) {
	refused := sources.Snapshot{Source: "fleet", Attempted: true, Faults: []manifests.Fault{{Message: "refused"}}}
	anew := sources.Snapshot{Source: "fleet"}
	good := sources.Snapshot{Source: "fleet", Live: true, Attempted: true, Revision: "c1"}
	had := refused
	had.Revision = "c0"
	for _, c := range []struct {
		name      string
		snapshots []sources.Snapshot
		want      []string
	}{
		{"never good", []sources.Snapshot{anew, refused, anew, refused}, []string{"SourceFault: Nothing of it is known from before: "}},
		{"good before", []sources.Snapshot{anew, had}, []string{"SourceFault: What was in force stays: "}},
		{"recovers", []sources.Snapshot{refused, anew, good}, []string{"SourceFault: ", "SourceRecovered: Its newest state is in force: c1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := heardEvents(t, c.snapshots...)
			if len(got) != len(c.want) {
				t.Fatalf("%q, want %q", got, c.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], c.want[i]) {
					t.Errorf("%q, want %q", got[i], c.want[i])
				}
			}
		})
	}
}
