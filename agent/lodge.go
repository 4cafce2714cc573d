package agent

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/sources"
)

// lodge takes over a pod of an earlier life, by its record or, without one, by
// what the engine lists of it. It runs on from there until a source claims it,
// replaces it, or the orphan rule ends it.
func (t *tenancy) lodge(rec *Record, listed runtime.Pod) {
	tn := &tenant{order: order{gate: plan.GateRun, drained: t.drained}, progress: progressServing}
	if rec != nil {
		tn.record, tn.pod, tn.since = rec, rec.pod(), rec.Started
		tn.claims = newWant(tn.pod).claims
		if rec.Stopping != nil && rec.Finished == nil {
			tn.order.end = &ending{reason: rec.Stopping.Reason, message: rec.Stopping.Message}
		}
	} else {
		tn.pod, tn.since = nameless(listed.PodRef), born(listed)
	}
	tn.uid, tn.name, tn.order.pod = string(tn.pod.UID), tn.pod.FullName(), tn.pod
	if t.byUID[tn.uid] != nil {
		return
	}
	t.enter(tn)
	t.commands = append(t.commands, command{tenant: tn, hire: true, order: tn.order})
}

// nameless is the pod of which only its names are known. It has no containers,
// so that nothing of it is ever started.
func nameless(ref runtime.PodRef) sources.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name, UID: types.UID(ref.UID)}}
	return sources.Pod{Pod: manifests.Pod{Pod: pod}}
}

// born is when the oldest thing of a pod was made, in whole seconds.
func born(pod runtime.Pod) time.Time {
	var first time.Time
	earlier := func(t time.Time) {
		if first.IsZero() || t.Before(first) {
			first = t
		}
	}
	for _, s := range pod.Sandboxes {
		earlier(s.CreatedAt)
	}
	for _, c := range pod.Containers {
		earlier(c.CreatedAt)
	}
	return first.Truncate(time.Second)
}

// byAge puts the older tenant first. Of one second it is the one with a record:
// without one nothing is started.
func byAge(a, b *tenant) int {
	unrecorded := func(tn *tenant) int {
		if tn.record == nil {
			return 1
		}
		return 0
	}
	return cmp.Or(
		a.since.Truncate(time.Second).Compare(b.since.Truncate(time.Second)),
		cmp.Compare(unrecorded(a), unrecorded(b)),
		a.since.Compare(b.since),
	)
}

// unlock lets workers be hired from now on, for all that is wanted. Of several
// pods of one name the oldest serves; a younger one was being prepared when the
// agent ended and goes back behind its gate.
func (t *tenancy) unlock() {
	t.open, t.dirty = true, true
	touched := map[string]*slot{}
	for name, s := range t.slots {
		touched[name] = s
		slices.SortStableFunc(s.tenants, byAge)
		for i, tn := range s.tenants {
			if i > 0 && !tn.going() {
				tn.order.gate, tn.progress = plan.GateCreate, progressNone
				t.waiting[name] = s
			}
		}
	}
	for i, c := range t.commands {
		t.commands[i].order = c.tenant.order
	}
	t.settle(touched)
}

// endOrphans ends what runs and nobody wants, as far as the sources have spoken.
func (t *tenancy) endOrphans(view sourcesView) {
	if !t.open {
		return
	}
	touched := map[string]*slot{}
	for _, tn := range t.byUID {
		s := t.slots[tn.name]
		if !tn.claimed && s.want == nil && isOrphan(tn.origin(), view) {
			t.endUnwanted(tn, endOrphaned, "no manifest wants it any more; it came from "+showOrigin(tn.pod.Origin))
			touched[s.name] = s
		}
	}
	if len(touched) > 0 {
		t.settle(touched)
	}
}
