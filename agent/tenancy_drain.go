package agent

import (
	"maps"
	"slices"

	"github.com/podstead/podstead/agent/plan"
)

// drain lets nothing run, and everything again with nil.
// What was prepared behind a gate is undone, and says anew when it is ready. A
// pod that nobody wants any more serves nobody until its heir comes.
func (t *tenancy) drain(why *Drained) {
	if t.drained == why {
		return
	}
	t.drained = why
	for _, uid := range slices.Sorted(maps.Keys(t.byUID)) {
		tn := t.byUID[uid]
		if tn.going() {
			continue
		}
		if tn.heir != "" && why != nil {
			tn.heir = ""
		}
		next := tn.order
		if next.drained = why; next.gate != plan.GateRun {
			next.turn++
			tn.progress = progressNone
		}
		t.tell(tn, next)
	}
	t.settle(maps.Clone(t.slots))
}

// shelve is fill on a drained node: the wanted pod stays if it is there, and is
// shown if not. Any other of its name serves nobody, and goes.
func (t *tenancy) shelve(s *slot) {
	wanted := t.byUID[string(s.want.pod.UID)]
	for _, tn := range s.living() {
		if tn.claimed = true; tn != wanted {
			t.end(tn, endReplaced, "replaced by "+showOrigin(s.want.pod.Origin)+" while the node is drained")
		}
	}
	switch {
	case wanted == nil:
		t.commands = append(t.commands, command{shelve: &s.want.pod, order: order{drained: t.drained}})
	case !wanted.going():
		t.claim(wanted, *s.want)
	}
}
