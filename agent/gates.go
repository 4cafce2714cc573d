package agent

import (
	"maps"
	"slices"
	"strings"

	"github.com/podstead/podstead/agent/plan"
)

// holdsPorts: from its sandbox's start on, a pod has its host ports.
func (t *tenant) holdsPorts() bool { return t.order.gate >= plan.GateSandbox }

// settleGates looks at everybody behind a gate and lets those through whose
// turn it is. Its work is bounded by the number of replacements under way.
func (t *tenancy) settleGates() {
	t.settleHeirs()
	var waiters []waiter
	for _, name := range slices.Sorted(maps.Keys(t.waiting)) {
		behind := false
		for _, tn := range t.waiting[name].tenants {
			if tn.order.gate != plan.GateRun && !tn.going() {
				waiters = append(waiters, t.waiter(tn))
				behind = true
			}
			behind = behind || tn.heir != ""
		}
		if !behind {
			delete(t.waiting, name)
		}
	}
	verdicts := release(waiters)
	for _, w := range waiters {
		t.pass(w, verdicts[w.uid])
	}
}

func (t *tenancy) pass(w waiter, v verdict) {
	tn := t.byUID[w.uid]
	next := tn.order
	switch v {
	case verdictRun:
		next.gate, next.why = plan.GateRun, ""
	case verdictWarm:
		next.gate, next.why = plan.GateSandbox, t.why(tn.name, w)
	case verdictRelease:
		for _, b := range w.blockers {
			if old := t.byUID[b.uid]; b.own && !old.going() {
				t.end(old, endReplaced, "replaced by "+showOrigin(tn.pod.Origin))
			}
		}
		next.why = t.why(tn.name, w)
	case verdictWait:
		next.why = t.why(tn.name, w)
	}
	if next.gate != tn.order.gate || next.why != tn.order.why {
		t.tell(tn, next)
	}
}

// waiter describes a tenant behind its gate: who of its name was there before,
// and who has a host port that it needs.
func (t *tenancy) waiter(tn *tenant) waiter {
	w := waiter{uid: tn.uid, progress: tn.progress}
	for _, older := range t.slot(tn.name).tenants {
		if older == tn {
			break
		}
		_, port := collision(tn.claims.Ports, older.claims.Ports)
		if older.stopped() && (!port || older.progress >= progressReleased) {
			continue
		}
		w.blockers = append(w.blockers, blocker{uid: older.uid, own: true, port: port, going: older.going()})
	}
	seen := map[*tenant]bool{}
	for _, p := range tn.claims.Ports {
		for _, other := range t.ports[keyOf(p)] {
			if other.name == tn.name || seen[other] || !other.holdsPorts() || other.progress >= progressReleased && other.going() {
				continue
			}
			if _, collide := collision(tn.claims.Ports, other.claims.Ports); collide {
				seen[other] = true
				w.blockers = append(w.blockers, blocker{uid: other.uid, own: other.heir == tn.name, port: true, going: other.going()})
			}
		}
	}
	return w
}

// settleHeirs ends the pods whose heir will not come.
func (t *tenancy) settleHeirs() {
	for _, s := range t.waiting {
		for _, tn := range s.tenants {
			if tn.heir == "" {
				continue
			}
			heir := t.slots[tn.heir]
			_, refused := t.refused[tn.heir]
			if heir == nil || heir.want == nil || refused {
				tn.heir = ""
				t.clear(s)
			}
		}
	}
}

// why says for people what a pod behind its gate waits for.
func (t *tenancy) why(name string, w waiter) string {
	var awaited []string
	for _, b := range w.blockers {
		other := t.byUID[b.uid]
		switch {
		case b.own && b.going && other.name == name:
			awaited = append(awaited, "the version before it to end")
		case b.own && !b.going:
			awaited = append(awaited, "its preparation to finish; pod "+other.name+" serves until then")
		case b.port:
			awaited = append(awaited, "a host port of pod "+other.name)
		default:
			awaited = append(awaited, "pod "+other.name)
		}
	}
	return "waiting for " + strings.Join(awaited, ", ")
}
