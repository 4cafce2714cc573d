package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/sources"
)

// house drives a tenancy as the loop and the workers would, and keeps what
// every worker was told last.
type house struct {
	*testing.T
	tenancy *tenancy
	hired   map[string]bool
	told    map[string]order
}

func newHouse(t *testing.T) *house {
	h := closedHouse(t)
	h.tenancy.unlock()
	return h
}

func closedHouse(t *testing.T) *house {
	node := NodeFacts{OS: "linux", MilliCPU: 4000, Memory: 1 << 30, MaxPods: 10}
	return &house{T: t, tenancy: newTenancy(node, []string{"file"}), hired: map[string]bool{}, told: map[string]order{}}
}

// makePod is a pod of one full name, in one version, with host ports.
func makePod(name, version string, ports ...int32) sources.Pod {
	container := v1.Container{Name: "c", Image: version}
	for _, p := range ports {
		container.Ports = append(container.Ports, v1.ContainerPort{ContainerPort: p, HostPort: p, Protocol: v1.ProtocolTCP})
	}
	return sources.Pod{
		Pod: manifests.Pod{Pod: &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name + "." + version)},
			Spec:       v1.PodSpec{Containers: []v1.Container{container}},
		}},
		Origin: sources.Origin{Source: "file", Kind: sources.KindFile, Unit: "all.yaml"},
	}
}

func (h *house) apply(changes ...sources.Change) {
	h.Helper()
	h.tenancy.apply(sources.PodUpdate{Changes: changes})
	h.collect()
}

func add(p sources.Pod) sources.Change    { return sources.Change{Op: sources.ADD, Pod: p} }
func remove(p sources.Pod) sources.Change { return sources.Change{Op: sources.REMOVE, Pod: p} }

func (h *house) collect() {
	h.Helper()
	for _, c := range h.tenancy.take() {
		if c.hire && h.hired[c.tenant.uid] {
			h.Fatalf("%s is hired twice", c.tenant.uid)
		}
		if c.hire {
			h.hired[c.tenant.uid] = true
		}
		h.told[c.tenant.uid] = c.order
	}
}

// serves lets pods come to life.
func (h *house) serves(uids ...string) {
	for _, uid := range uids {
		h.heard(uid, progressServing)
	}
}

func (h *house) heard(uid string, p progress) {
	turn := 0
	if tn := h.tenancy.byUID[uid]; tn != nil {
		turn = tn.order.turn
	}
	h.tenancy.heard(uid, p, turn)
	h.collect()
}

func (h *house) leave(uid string) {
	delete(h.hired, uid)
	delete(h.told, uid)
	h.tenancy.leave(uid)
	h.collect()
}

// is checks who has a worker and what each was told: run, create, sandbox or end.
func (h *house) is(want ...string) {
	h.Helper()
	var got []string
	for uid := range h.hired {
		word := map[plan.Gate]string{plan.GateCreate: "create", plan.GateSandbox: "sandbox", plan.GateRun: "run"}[h.told[uid].gate]
		if h.told[uid].end != nil {
			word = "end"
		}
		got = append(got, uid+"="+word)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		h.Fatalf("workers %s, want %s", strings.Join(got, " "), strings.Join(want, " "))
	}
}

func TestAPodComesAndGoes(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("a", "1")))
	h.is("a.1=run")
	h.apply(remove(makePod("a", "1")))
	h.is("a.1=end")
	h.leave("a.1")
	h.is()
	if n := len(h.tenancy.slots) + len(h.tenancy.byUID) + len(h.tenancy.ports) + len(h.tenancy.waiting); n != 0 {
		t.Errorf("%d things are left behind", n)
	}
}

func TestTheOldPodServesUntilTheNewOneCan(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("a", "1")))
	h.serves("a.1")
	h.apply(remove(makePod("a", "1")), add(makePod("a", "2")))
	h.is("a.1=run", "a.2=create")
	h.heard("a.2", progressCreated)
	h.is("a.1=run", "a.2=sandbox")
	h.heard("a.2", progressPrepared)
	h.is("a.1=end", "a.2=sandbox")
	h.leave("a.1")
	h.is("a.2=run")
}

func TestTheNewPodStartsWhenTheOldOnesProcessesAreGone(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("a", "1")))
	h.serves("a.1")
	h.apply(remove(makePod("a", "1")), add(makePod("a", "2")))
	h.heard("a.2", progressCreated)
	h.heard("a.2", progressPrepared)
	h.heard("a.1", progressStopped)
	h.is("a.1=end", "a.2=run")
	// While the first is being taken away, the second is edited in its turn.
	h.serves("a.2")
	h.apply(remove(makePod("a", "2")), add(makePod("a", "3")))
	h.is("a.1=end", "a.2=run", "a.3=create")
	// And the first comes back while it is still there.
	h.apply(remove(makePod("a", "3")), add(makePod("a", "1")))
	h.is("a.1=end", "a.2=run", "a.3=end")
	h.leave("a.3")
	h.leave("a.1")
	h.is("a.1=create", "a.2=run")
}

func TestASharedHostPortIsFreeWhenTheSandboxHasEnded(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("a", "1", 80)))
	h.serves("a.1")
	h.apply(remove(makePod("a", "1", 80)), add(makePod("a", "2", 80)))
	h.heard("a.2", progressCreated)
	h.heard("a.1", progressStopped)
	h.is("a.1=end", "a.2=create")
	h.heard("a.1", progressReleased)
	h.is("a.1=end", "a.2=run")
}

func TestASharedHostPortIsReleasedBeforeTheSandboxStarts(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("a", "1", 80)))
	h.serves("a.1")
	h.apply(remove(makePod("a", "1", 80)), add(makePod("a", "2", 80)))
	h.is("a.1=run", "a.2=create")
	h.heard("a.2", progressCreated)
	h.is("a.1=end", "a.2=create")
	h.leave("a.1")
	h.is("a.2=run")
}

func TestPodsThatSwapPortsAreReleasedTogether(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("a", "1", 80)), add(makePod("b", "1", 81)))
	h.serves("a.1", "b.1")
	h.apply(remove(makePod("a", "1", 80)), remove(makePod("b", "1", 81)), add(makePod("a", "2", 81)), add(makePod("b", "2", 80)))
	h.heard("a.2", progressCreated)
	h.is("a.1=run", "a.2=create", "b.1=run", "b.2=create")
	h.heard("b.2", progressCreated)
	h.is("a.1=end", "a.2=create", "b.1=end", "b.2=create")
	h.leave("a.1")
	h.is("a.2=create", "b.1=end", "b.2=sandbox")
	h.leave("b.1")
	h.is("a.2=run", "b.2=run")
}

func TestAVanishedPodServesUntilTheHeirOfItsPortIsReady(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("old", "1", 80)))
	h.apply(remove(makePod("old", "1", 80)), add(makePod("new", "1", 80)))
	h.is("new.1=create", "old.1=run")
	h.heard("new.1", progressCreated)
	h.is("new.1=create", "old.1=end")
	h.leave("old.1")
	h.is("new.1=run")
}

func TestAVanishedPodGoesWhenItsHeirDoes(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("old", "1", 80)))
	h.apply(remove(makePod("old", "1", 80)), add(makePod("new", "1", 80)))
	h.apply(remove(makePod("new", "1", 80)))
	h.is("new.1=end", "old.1=end")
}

func TestManyEditsPrepareOneAtATime(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("a", "1")))
	h.serves("a.1")
	for v := 2; v < 300; v++ {
		h.apply(remove(makePod("a", fmt.Sprint(v-1))), add(makePod("a", fmt.Sprint(v))))
	}
	h.is("a.1=run", "a.2=end")
	h.leave("a.2")
	h.is("a.1=run", "a.299=create")
}

func TestAPodThatNeverServedIsNotWaitedFor(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("a", "1")))
	h.apply(remove(makePod("a", "1")), add(makePod("a", "2")))
	h.is("a.1=end", "a.2=create")
	h.leave("a.1")
	h.is("a.2=run")
}

func TestAnEditTakenBackRestartsNothing(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("a", "1")))
	h.serves("a.1")
	h.apply(remove(makePod("a", "1")), add(makePod("a", "2")))
	h.apply(remove(makePod("a", "2")), add(makePod("a", "1")))
	h.is("a.1=run", "a.2=end")
	h.leave("a.2")
	h.is("a.1=run")
}

func TestDeletedAndPutBackWhileItStops(t *testing.T) { // B26
	h := newHouse(t)
	h.apply(add(makePod("a", "1")))
	h.apply(remove(makePod("a", "1")))
	h.apply(add(makePod("a", "1")))
	h.is("a.1=end")
	h.leave("a.1")
	h.is("a.1=run")
}

func TestAnotherVersionPutBackWhileTheOldOneStops(t *testing.T) { // B28
	h := newHouse(t)
	h.apply(add(makePod("a", "1", 80)))
	h.apply(remove(makePod("a", "1", 80)))
	h.apply(add(makePod("a", "2", 80)))
	h.is("a.1=end", "a.2=create")
	h.leave("a.1")
	h.is("a.2=run")
}

func TestRemovedWhileItsSuccessorIsPrepared(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("a", "1")))
	h.serves("a.1")
	h.apply(remove(makePod("a", "1")), add(makePod("a", "2")))
	h.apply(remove(makePod("a", "2")))
	h.is("a.1=end", "a.2=end")
}

func TestTheOlderPodKeepsItsPort(t *testing.T) { // B122
	h := newHouse(t)
	h.apply(add(makePod("b", "1", 80)))
	h.apply(add(makePod("a", "1", 80)))
	h.is("b.1=run")
	if got := h.tenancy.refused["default/a"]; got.Reason != "NodePorts" || !strings.Contains(got.Message, "default/b") {
		t.Errorf("refusal %+v does not name the older pod", got)
	}
	h.apply(remove(makePod("b", "1", 80)))
	h.is("a.1=create", "b.1=end")
	h.leave("b.1")
	h.is("a.1=run")
	if len(h.tenancy.refused) != 0 {
		t.Errorf("still refused: %v", h.tenancy.refused)
	}
}

func TestARefusedSuccessorLeavesThePredecessor(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("a", "1", 80)), add(makePod("b", "1", 81)))
	h.serves("a.1", "b.1")
	h.apply(remove(makePod("a", "1", 80)), add(makePod("a", "2", 81)))
	h.is("a.1=run", "b.1=run")
	// And what the predecessor has, nobody else gets.
	h.apply(add(makePod("c", "1", 80)))
	h.is("a.1=run", "b.1=run")
	h.apply(remove(makePod("a", "2", 81)))
	h.is("a.1=end", "b.1=run", "c.1=create")
}

func TestAnUpdateInPlaceReachesTheWorker(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("a", "1")))
	moved := makePod("a", "1")
	moved.Origin.Unit = "moved.yaml"
	h.apply(sources.Change{Op: sources.UPDATE, Pod: moved})
	h.is("a.1=run")
	if got := h.told["a.1"].pod.Origin.Unit; got != "moved.yaml" {
		t.Errorf("the worker knows unit %q", got)
	}
}

// record is what an earlier life left of a pod.
func record(p sources.Pod, started time.Time) *Record {
	return &Record{Pod: p.Pod.Pod, Origin: p.Origin, Started: started}
}

func TestAdoption(t *testing.T) {
	early, late := time.Unix(100, 5e8), time.Unix(200, 0)
	fileSpoke := sourcesView{configured: []string{"file"}, states: map[string]sources.SourceState{"file": {Live: true, Attempted: true}}}

	t.Run("a pod that is still wanted is claimed", func(t *testing.T) {
		h := closedHouse(t)
		h.apply(add(makePod("a", "1")))
		h.tenancy.lodge(record(makePod("a", "1"), early), runtime.Pod{})
		h.tenancy.unlock()
		h.collect()
		h.tenancy.endOrphans(fileSpoke)
		h.collect()
		h.is("a.1=run")
	})
	t.Run("a pod changed while the agent was down is replaced, not joined (B31)", func(t *testing.T) {
		h := closedHouse(t)
		h.apply(add(makePod("a", "2", 80)))
		h.tenancy.lodge(record(makePod("a", "1", 80), early), runtime.Pod{})
		h.tenancy.unlock()
		h.collect()
		h.is("a.1=run", "a.2=create")
	})
	t.Run("a pod that nobody wants runs on until its source has spoken", func(t *testing.T) {
		h := closedHouse(t)
		h.tenancy.lodge(record(makePod("a", "1"), early), runtime.Pod{})
		h.tenancy.lodge(nil, runtime.Pod{PodRef: runtime.PodRef{UID: "x.1", Namespace: "default", Name: "x"}})
		h.tenancy.unlock()
		h.collect()
		h.is("a.1=run", "x.1=run")
		h.tenancy.endOrphans(fileSpoke)
		h.collect()
		h.is("a.1=end", "x.1=end")
	})
	t.Run("killed in the middle of a replacement", func(t *testing.T) {
		h := closedHouse(t)
		h.tenancy.lodge(record(makePod("a", "2"), late), runtime.Pod{})
		h.tenancy.lodge(record(makePod("a", "1"), early), runtime.Pod{})
		h.tenancy.unlock()
		h.collect()
		h.is("a.1=run", "a.2=create")
		h.apply(add(makePod("a", "2")))
		h.heard("a.2", progressPrepared)
		h.is("a.1=end", "a.2=create")
		h.leave("a.1")
		h.is("a.2=run")
	})
	for _, made := range []time.Time{late, early.Truncate(time.Second)} {
		t.Run("killed before the successor had a record, made at "+made.UTC().Format(time.TimeOnly), func(t *testing.T) {
			h := closedHouse(t)
			h.apply(add(makePod("a", "2")))
			h.tenancy.lodge(record(makePod("a", "1"), early), runtime.Pod{})
			h.tenancy.lodge(nil, runtime.Pod{
				PodRef:    runtime.PodRef{UID: "a.2", Namespace: "default", Name: "a"},
				Sandboxes: []runtime.Sandbox{{ID: "s", State: runtime.StateCreated, CreatedAt: made}},
			})
			h.tenancy.unlock()
			h.collect()
			h.is("a.1=run", "a.2=create")
		})
	}
	t.Run("killed while it stopped", func(t *testing.T) {
		h := closedHouse(t)
		stopping := record(makePod("a", "1"), early)
		stopping.Stopping = &Stopping{Reason: endRemoved}
		h.tenancy.lodge(stopping, runtime.Pod{})
		h.tenancy.unlock()
		h.collect()
		h.is("a.1=end")
	})
}

// What was prepared with objects that have changed since does not release the
// pod before it, whenever its worker's word of it arrives.
func TestWhatWasPreparedWithOtherObjectsIsNotReady(t *testing.T) {
	h := newHouse(t)
	h.apply(add(makePod("a", "1")))
	h.serves("a.1")
	next := makePod("a", "2")
	h.apply(remove(makePod("a", "1")), add(seeing(next, configMap("conf", "one"))))
	h.heard("a.2", progressCreated)
	h.is("a.1=run", "a.2=sandbox")
	h.apply(sources.Change{Op: sources.RECONCILE, Pod: seeing(next, configMap("conf", "two"))})
	h.tenancy.heard("a.2", progressPrepared, 0) // on its way before the change was
	h.collect()
	h.is("a.1=run", "a.2=sandbox")
	h.heard("a.2", progressPrepared)
	h.is("a.1=end", "a.2=sandbox")
}
