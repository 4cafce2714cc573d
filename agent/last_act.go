package agent

import (
	"cmp"
	"fmt"
	"time"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/sources"
)

// Act is what was done to a pod last, and why, for people. It goes to disk with
// the record whenever that is written, and never is a reason to write it: after a
// power cut it may be the one before.
type Act struct {
	At        time.Time   `json:"at"`
	Verb      plan.Verb   `json:"verb"`
	Container string      `json:"container,omitempty"` // "" for the sandbox
	Attempt   int         `json:"attempt,omitempty"`
	Signal    string      `json:"signal,omitempty"`
	Reason    plan.Reason `json:"reason"`
	Message   string      `json:"message,omitempty"`
	Source    string      `json:"source,omitempty"` // and place, as they were then
}

// noteAct remembers a step that is about to be taken, before the record is saved
// for it. That what is dead and old is taken away is no news.
func (w *worker) noteAct(step []plan.Action) {
	for _, a := range step {
		if a.Verb == plan.Remove {
			continue
		}
		w.record.Act = &Act{
			At: w.now().Wall, Verb: a.Verb, Container: a.Container, Attempt: a.Attempt, Signal: a.Signal,
			Reason: a.Reason, Message: a.Message, Source: whence(w.record.Origin),
		}
	}
}

// whence is where a pod comes from, in a few words.
func whence(o sources.Origin) string {
	if o.Source == "" {
		return ""
	}
	return "source " + o.Source + ", " + manifests.Place{Unit: cmp.Or(o.File, o.Unit), Line: o.Line}.String()
}

// String is the time and then, in one sentence, what was done and why.
func (a Act) String() string {
	text := a.At.UTC().Format(time.RFC3339) + " " + string(a.Verb)
	if a.Container != "" {
		text += " " + a.Container
	}
	if a.Signal != "" {
		text += " with " + a.Signal
	}
	if a.Attempt > 0 {
		text += fmt.Sprintf(", attempt %d", a.Attempt)
	}
	text += ": " + string(a.Reason)
	if a.Message != "" {
		text += ": " + a.Message
	}
	if a.Source != "" {
		text += " (" + a.Source + ")"
	}
	return text
}
