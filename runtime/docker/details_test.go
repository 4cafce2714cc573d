package docker

import (
	"testing"

	"github.com/podstead/podstead/runtime"
)

func TestDetailsAreKeptWhileNothingCanHaveChanged(t *testing.T) {
	running := detail{state: runtime.StateRunning, container: runtime.Container{ID: "c1"}}
	cases := []struct {
		name  string
		what  detail
		state runtime.State // that the list shows when it is asked for again
		// happens between the inspection and its being kept, and after that
		during, after func(d *details)
		offline       bool
		want          bool
	}{
		{name: "a running one", what: running, state: runtime.StateRunning, want: true},
		{name: "an ended one", what: detail{state: runtime.StateExited}, state: runtime.StateExited, want: true},
		{name: "a created one may fail to start without an event", what: detail{state: runtime.StateCreated}, state: runtime.StateCreated},
		{name: "the list shows another state", what: running, state: runtime.StateExited},
		{name: "no event stream", what: running, state: runtime.StateRunning, offline: true},
		{name: "an event of it", what: running, state: runtime.StateRunning, after: func(d *details) { d.forget("c1") }},
		{name: "an event of another", what: running, state: runtime.StateRunning, after: func(d *details) { d.forget("c2") }, want: true},
		{name: "an event during the inspection", what: running, state: runtime.StateRunning, during: func(d *details) { d.forget("c1") }},
		{name: "an event of another during the inspection", what: running, state: runtime.StateRunning, during: func(d *details) { d.forget("c2") }, want: true},
		{name: "the event stream broke during the inspection", what: running, state: runtime.StateRunning, during: func(d *details) {
			d.watched(false)
			d.watched(true)
		}},
		{name: "the event stream broke", what: running, state: runtime.StateRunning, after: func(d *details) { d.watched(false) }},
		{name: "the event stream broke and is back", what: running, state: runtime.StateRunning, after: func(d *details) {
			d.watched(false)
			d.watched(true)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := &details{}
			d.watched(!c.offline)
			_, _, mark := d.get("c1", c.what.state)
			if c.during != nil {
				c.during(d)
			}
			d.put("c1", c.what, mark)
			if c.after != nil {
				c.after(d)
			}
			if _, got, _ := d.get("c1", c.state); got != c.want {
				t.Errorf("kept: %v, want %v", got, c.want)
			}
		})
	}
}
