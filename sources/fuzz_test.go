package sources

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// choices are those of a story, from the bytes of a fuzz test: zeros when they
// are used up.
type choices struct{ data []byte }

func (s *choices) next() int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b)
}

// pick is a number below n.
func (s *choices) pick(n int) int { return s.next() % n }

// randomly calls live with so many random stories, the same every time.
func randomly(t *testing.T, stories int, live func(t *testing.T, data []byte)) {
	t.Helper()
	const longest = 120
	random := rand.New(rand.NewPCG(1, 2))
	for range stories {
		data := make([]byte, random.IntN(longest))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		if live(t, data); t.Failed() {
			t.Fatalf("the story: %q", data)
		}
	}
}

// FuzzMerger: whatever sources say, in whatever order they are configured and
// however slow the receiver is, applying the updates gives the pods that are wanted.
func FuzzMerger(f *testing.F) {
	f.Add([]byte{0, 0, 2, 0, 1, 1, 0, 2, 0, 1, 1, 0, 0, 3, 2, 0, 0, 0})
	f.Add([]byte{0, 0, 1, 0, 3, 1, 0, 0, 2, 3, 2, 3, 0, 1, 1, 0, 3, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		const longest = 400
		if len(data) <= longest {
			merge(t, data)
		}
	})
}

func TestAnyUpdatesLeadToWhatIsWanted(t *testing.T) { randomly(t, 1000, merge) }

func merge(t *testing.T, data []byte) {
	t.Helper()
	s := &choices{data}
	all := []string{"file", "http", "git"}
	m := &mergers{t: t, ledger: newLedger(members(all)), listed: all, said: map[string]Snapshot{}, answered: map[string]bool{}, has: map[types.UID]Pod{}}
	for len(s.data) > 0 {
		switch s.pick(4) {
		case 0, 1:
			m.speak(s, all[s.pick(len(all))])
		case 2:
			m.receive()
		case 3:
			m.configure(s, all)
		}
	}
	for m.receive() {
	}
	m.check()
}

// mergers are a ledger, its receiver, and what both should know.
type mergers struct {
	t      *testing.T
	ledger *ledger

	listed, retired []string
	said            map[string]Snapshot
	answered        map[string]bool // live at some time
	has             map[types.UID]Pod
}

// speak makes a source say a set of pods; one that has not heard from its place
// says what its disk holds.
func (m *mergers) speak(s *choices, source string) {
	words := []string{}
	for range s.pick(4) {
		name := []string{"a", "b", "c", "d"}[s.pick(4)]
		version := []string{"=1", "=2", "=1@x.yaml"}[s.pick(3)]
		if !slices.ContainsFunc(words, func(w string) bool { return w[:3] == name+version[:2] }) {
			words = append(words, name+version)
		}
	}
	now := wants(source, words...)
	now.Live = s.pick(4) > 0
	m.ledger.take(now)
	if before := m.said[source]; before.Live && !now.Live {
		now.Pods, now.Live = before.Pods, true
	}
	m.said[source] = now
	m.answered[source] = m.answered[source] || now.Live
}

// configure lists some of the sources, in some order.
func (m *mergers) configure(s *choices, all []string) {
	listed := []string{}
	for range 1 + s.pick(len(all)) {
		if name := all[s.pick(len(all))]; !slices.Contains(listed, name) {
			listed = append(listed, name)
		}
	}
	m.ledger.configure(members(listed))
	before := slices.Concat(m.listed, m.retired)
	m.listed, m.retired = listed, nil
	for name := range m.said {
		if !slices.Contains(listed, name) && !slices.Contains(before, name) {
			m.forget(name)
		}
	}
	for _, name := range before {
		if _, spoke := m.said[name]; spoke && !slices.Contains(listed, name) {
			m.retired = append(m.retired, name)
		}
	}
}

func (m *mergers) forget(name string) {
	delete(m.said, name)
	delete(m.answered, name)
}

// receive takes the next update, if there is one.
func (m *mergers) receive() bool {
	o, told := m.ledger.next()
	m.gone(told)
	if o == nil {
		return false
	}
	last := REMOVE
	rank := map[Op]int{REMOVE: 0, ADD: 1, UPDATE: 2, DELETE: 3, RECONCILE: 4}
	for _, c := range o.update.Changes {
		if rank[c.Op] < rank[last] {
			m.t.Fatalf("%s behind %s", c.Op, last)
		}
		last = c.Op
		m.apply(c)
	}
	m.gone(m.ledger.settle(o))
	return true
}

func (m *mergers) gone(told tidings) {
	for _, name := range told.left {
		m.forget(name)
	}
	if len(told.left) > 0 {
		m.retired = nil
	}
}

func (m *mergers) apply(c Change) {
	if _, there := m.has[c.Pod.UID]; there == (c.Op == ADD) {
		m.t.Fatalf("%s of %s, which is there: %v", c.Op, c.Pod.UID, there)
	}
	if c.Op == REMOVE {
		delete(m.has, c.Pod.UID)
		return
	}
	m.has[c.Pod.UID] = c.Pod
}

// check compares what the receiver has with what is wanted, when all is told.
func (m *mergers) check() {
	want := map[types.UID]Origin{}
	taken := map[string]bool{}
	order := m.listed
	if slices.ContainsFunc(m.listed, func(name string) bool { return !m.answered[name] }) {
		order = slices.Concat(m.listed, m.retired)
	}
	for _, source := range order {
		for _, p := range m.said[source].Pods {
			if !taken[p.Name] {
				want[p.UID] = p.Origin
			}
			taken[p.Name] = true
		}
	}
	got := map[types.UID]Origin{}
	for uid, p := range m.has {
		got[uid] = p.Origin
	}
	if !maps.Equal(got, want) {
		m.t.Fatalf("the receiver has %v, wanted is %v", got, want)
	}
}

// FuzzFilter: a pod is for this node when a reading of its own, by the letter of
// Kubernetes' documentation, says so.
func FuzzFilter(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 1, 1, 0, 0, 1, 0})
	f.Add([]byte{1, 0, 2, 1, 2, 3, 2, 1, 1, 4, 1})
	f.Fuzz(func(t *testing.T, data []byte) { filter(t, data) })
}

func TestAnyPodIsForTheNodesItNames(t *testing.T) { randomly(t, 2000, filter) }

func filter(t *testing.T, data []byte) {
	t.Helper()
	s := &choices{data}
	node := nodeObject(testNode) // zone=a, kubernetes.io/os=linux
	pod := &v1.Pod{}
	pod.Spec.NodeName = []string{"", "", "n1", "N1", "n2"}[s.pick(5)]
	for range s.pick(3) {
		if pod.Spec.NodeSelector == nil {
			pod.Spec.NodeSelector = map[string]string{}
		}
		pod.Spec.NodeSelector[someKey(s)] = someValue(s)
	}
	if s.pick(2) > 0 {
		pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: someAffinity(s)}}
	}
	reason, err := elsewhere(pod, node)
	if err != nil {
		return // a selector that cannot be read, which validation refuses
	}
	if want := belongs(pod, node); want != (reason == "") {
		t.Fatalf("reason %q, but that it belongs here is %v: %+v", reason, want, pod.Spec)
	}
}

func someKey(s *choices) string   { return []string{"zone", "kubernetes.io/os", "disk", "n"}[s.pick(4)] }
func someValue(s *choices) string { return []string{"a", "b", "linux", "1", "3", ""}[s.pick(6)] }

func someAffinity(s *choices) *v1.NodeSelector {
	selector := &v1.NodeSelector{}
	for range 1 + s.pick(2) {
		term := v1.NodeSelectorTerm{}
		for range s.pick(3) {
			op := []v1.NodeSelectorOperator{v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn, v1.NodeSelectorOpExists, v1.NodeSelectorOpDoesNotExist}[s.pick(4)]
			e := v1.NodeSelectorRequirement{Key: someKey(s), Operator: op}
			for range 2 {
				if op == v1.NodeSelectorOpIn || op == v1.NodeSelectorOpNotIn {
					e.Values = append(e.Values, someValue(s))
				}
			}
			term.MatchExpressions = append(term.MatchExpressions, e)
		}
		if s.pick(4) == 0 {
			term.MatchFields = []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{[]string{"n1", "n2"}[s.pick(2)]}}}
		}
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
	}
	return selector
}

func belongs(pod *v1.Pod, node *v1.Node) bool {
	if name := pod.Spec.NodeName; name != "" && name != "n1" && name != "N1" {
		return false
	}
	for key, value := range pod.Spec.NodeSelector {
		if have, ok := node.Labels[key]; !ok || have != value {
			return false
		}
	}
	if pod.Spec.Affinity == nil {
		return true
	}
	return slices.ContainsFunc(pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(term v1.NodeSelectorTerm) bool {
		return len(term.MatchExpressions)+len(term.MatchFields) > 0 && !slices.ContainsFunc(term.MatchExpressions, func(e v1.NodeSelectorRequirement) bool {
			return !satisfied(e, node.Labels)
		}) && !slices.ContainsFunc(term.MatchFields, func(e v1.NodeSelectorRequirement) bool { return e.Values[0] != node.Name })
	})
}

func satisfied(e v1.NodeSelectorRequirement, labels map[string]string) bool {
	have, ok := labels[e.Key]
	switch e.Operator {
	case v1.NodeSelectorOpIn:
		return ok && slices.Contains(e.Values, have)
	case v1.NodeSelectorOpNotIn:
		return !ok || !slices.Contains(e.Values, have)
	case v1.NodeSelectorOpExists:
		return ok
	}
	return !ok
}

// FuzzLastGood: whatever lies in place of a last good set, it is left out with a
// reason or read; what is read is the same when it is saved and read again.
func FuzzLastGood(f *testing.F) {
	unit := newGoodUnit("a.yaml", []byte(manifest("lamp", "x")))
	f.Add([]byte(`{"format":1,"place":"/m","folder":{"device":1,"inode":2},"units":[{"name":"a.yaml","revision":"` + unit.sum.full() + `"}]}`))
	f.Add([]byte(`{"format":2,"place":"u","folder":{},"revision":"abc","mark":{"etag":"x"},"pods":["default/a-n1"],"taken":"2026-01-02T03:04:05Z","units":[]}`))
	f.Add([]byte(`{"format":3}`))
	f.Add([]byte(`{"format":1,"units":[{"name":"../x","revision":"sha256:../../../../etc/passwd"},{"name":"b","revision":"sha256:00"}]}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, index []byte) {
		store := newGoodStore(dir)
		store.write = func(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }
		if err := os.RemoveAll(store.root); err != nil {
			t.Fatal(err)
		}
		if err := store.prepare(); err != nil {
			t.Fatal(err)
		}
		for path, data := range map[string][]byte{store.index(): index, store.unit(unit.sum): unit.Data} {
			if err := store.write(path, data); err != nil {
				t.Fatal(err)
			}
		}
		set, errs := store.load()
		for _, u := range set.Units {
			if u.sum != unit.sum {
				t.Fatalf("%s is read from what is not there", u.Name)
			}
		}
		if len(errs) > 0 && store.aside && len(set.Units) > 0 {
			t.Fatalf("a set that is not known here has units: %v", errs)
		}
		if err := store.save(t.Context(), set); err != nil {
			t.Fatal(err)
		}
		again, errs := store.load()
		if len(errs) > 0 || !again.same(set) || !slices.Equal(again.Pods, set.Pods) || !again.Taken.Equal(set.Taken) {
			t.Fatalf("%+v, then %+v, %v", set, again, errs)
		}
	})
}
