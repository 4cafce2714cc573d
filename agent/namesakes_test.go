package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/runtime"
)

// A lost root-dir gives the node another id: what ran under the old one runs on
// beside what is made anew, and that is told.
func TestPodsOfALostRootDirAreTold(t *testing.T) {
	inWorld(t, func(w *world) {
		w.kill()
		old := runtime.Namesake{NodeID: "0123456789abcdef", Pods: []runtime.PodRef{{UID: "u1", Namespace: "default", Name: "a-n1"}, {UID: "u2", Namespace: "default", Name: "b-n1"}}}
		w.engine.SetNamesakes(old)
		w.engine.ForgetCalls()
		w.start()
		w.advance(20 * time.Minute)
		told := w.nodeEvents(events.NodeNameShared)
		if len(told) != 1 || !strings.Contains(told[0], "Pods: 2 (") || !strings.Contains(told[0], old.NodeID) || !strings.Contains(told[0], "default/b-n1") || !strings.Contains(told[0], "root-dir") {
			t.Errorf("told %q", told)
		}
		if n := w.engine.Count("Namesakes"); n != 1 {
			t.Errorf("%d calls in 20 minutes, want one at the start", n)
		}

		// An engine that was away may hold others.
		w.engine.Down()
		w.advance(20 * time.Minute)
		w.engine.SetNamesakes(runtime.Namesake{NodeID: old.NodeID, Pods: old.Pods[:1]})
		w.engine.Up()
		w.advance(20 * time.Minute)
		if told := w.nodeEvents(events.NodeNameShared); len(told) != 2 || !slices.ContainsFunc(told, func(m string) bool { return strings.HasSuffix(m, "Pods: 1 (default/a-n1)") }) {
			t.Errorf("told %q", told)
		}
	})
}

func (w *world) nodeEvents(reason string) (messages []string) {
	for _, e := range w.agent.Events().List(events.Filter{Kind: events.KindNode}) {
		if e.Reason == reason {
			messages = append(messages, e.Message)
		}
	}
	return messages
}
