package agent

import (
	"maps"
	"slices"
	"time"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/agent/podspec"
	"github.com/podstead/podstead/sources"
)

// order is all that the loop wants of a worker. Each one is complete, so that
// the newest replaces those not yet read.
type order struct {
	pod  sources.Pod
	gate plan.Gate
	why  string // what it waits for behind its gate
	// sourced: the pod is as its source has it, objects included; otherwise it is
	// as its record has it, and its view of objects is the one on disk.
	sourced bool
	turn    int      // raised when what was prepared behind the gate will not do any more
	drained *Drained // nothing of the pod may run; nil when it may
	end     *ending  // to end, and to leave nothing behind
}

// ending is why a pod ends.
type ending struct {
	reason  string // for the log: ManifestRemoved, SourceRemoved, Replaced, Orphaned, Obsolete
	message string
}

// The reasons for which the loop ends a pod.
const (
	endRemoved  = "ManifestRemoved"
	endSource   = "SourceRemoved" // its source is configured no more; its manifest may still be there
	endReplaced = "Replaced"
	endOrphaned = "Orphaned"
	endObsolete = "Obsolete" // a replacement that is itself replaced before it ran
)

// command is what the tenancy wants done: hire a worker for a tenant, give one a
// new order, or show a pod that gets none for now.
type command struct {
	shelve *sources.Pod // with order.drained as the reason
	tenant *tenant
	hire   bool
	order  order
	// replaces is the pod that a newcomer is to follow.
	replaces *sources.Pod
}

// tenant is one pod on the node, with a worker, as the loop sees it.
type tenant struct {
	uid      string
	name     string // full name
	pod      sources.Pod
	record   *Record // what the worker starts from; nil for a newcomer
	claims   Claims
	since    time.Time
	claimed  bool // some source wants it, or did since the agent started
	order    order
	progress progress
	heir     string // full name of the pod that takes over its host port
}

func (t *tenant) going() bool { return t.order.end != nil }

// stopped: it has been told to end, and no process of it is left. Its worker is
// still taking away what was made for it, which is in nobody's way.
func (t *tenant) stopped() bool { return t.going() && t.progress >= progressStopped }

// origin is where the pod's record says it came from; nil without a record.
func (t *tenant) origin() *sources.Origin {
	if t.pod.Origin.Source == "" {
		return nil
	}
	return &t.pod.Origin
}

// want is a pod that a source wants, with what it takes.
type want struct {
	pod    sources.Pod
	claims Claims
}

func newWant(pod sources.Pod) *want {
	return &want{pod: pod, claims: claimsOf(pod.Pod.Pod, podspec.HostPorts(pod.Pod.Pod))}
}

// slot is one full name: at most one pod of it runs, and at most one more is
// being prepared to follow it.
type slot struct {
	name    string
	want    *want
	tenants []*tenant // oldest first
}

// maxTenants bounds the workers of one name: one that serves, one that follows,
// and one that is being taken away.
const maxTenants = 3

// living are the tenants that have not stopped, oldest first.
func (s *slot) living() []*tenant {
	var all []*tenant
	for _, tn := range s.tenants {
		if !tn.stopped() {
			all = append(all, tn)
		}
	}
	return all
}

// tenancy is the loop's picture: who is wanted, who is there, who follows whom.
// It is a plain state machine without goroutines; what it decides is left in
// commands for the loop to carry out.
type tenancy struct {
	node     NodeFacts
	order    map[string]int // source name → place in the configuration
	slots    map[string]*slot
	byUID    map[string]*tenant
	ports    map[portKey][]*tenant
	refused  map[string]Refusal // by full name
	waiting  map[string]*slot   // slots in which somebody is behind a gate, or an heir is awaited
	dirty    bool               // the desired set's claims changed: admission must be asked again
	drained  *Drained           // nothing may run on this node; nil when pods may
	open     bool               // the engine has been seen: workers may be hired
	commands []command
}

func newTenancy(node NodeFacts, sourceOrder []string) *tenancy {
	t := &tenancy{
		node: node, slots: map[string]*slot{}, byUID: map[string]*tenant{},
		ports: map[portKey][]*tenant{}, refused: map[string]Refusal{}, waiting: map[string]*slot{},
	}
	t.rank(sourceOrder)
	return t
}

// rank takes over in which order the sources come.
func (t *tenancy) rank(sources []string) {
	t.order = map[string]int{}
	for i, name := range sources {
		t.order[name] = i
	}
	t.dirty = true
}

// take returns the commands decided since the last call.
func (t *tenancy) take() []command {
	commands := t.commands
	t.commands = nil
	return commands
}

// apply takes over one update: all of its changes, then decides once.
func (t *tenancy) apply(update sources.PodUpdate) {
	touched := map[string]*slot{}
	before := map[string]*want{}
	for _, change := range update.Changes {
		s := t.slot(change.Pod.FullName())
		if touched[s.name] == nil {
			touched[s.name], before[s.name] = s, s.want
		}
		s.change(change)
	}
	for name, s := range touched {
		t.dirty = t.dirty || !sameClaims(before[name], s.want)
	}
	if t.drained == nil {
		t.nameHeirs(update.Changes)
	}
	t.settle(touched)
}

func (s *slot) change(change sources.Change) {
	switch change.Op {
	case sources.ADD, sources.UPDATE, sources.RECONCILE:
		s.want = newWant(change.Pod)
	case sources.REMOVE, sources.DELETE:
		if s.want != nil && s.want.pod.UID == change.Pod.UID {
			s.want = nil
		}
	}
}

// sameClaims reports that admission has nothing new to judge.
func sameClaims(a, b *want) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.claims.MilliCPU == b.claims.MilliCPU && a.claims.Memory == b.claims.Memory &&
		slices.Equal(a.claims.Ports, b.claims.Ports)
}

// nameHeirs finds, for each pod that vanished, the new pod of the same unit
// that claims its host port: it counts as the successor.
func (t *tenancy) nameHeirs(changes []sources.Change) {
	for _, removed := range changes {
		if removed.Op != sources.REMOVE {
			continue
		}
		old := t.byUID[string(removed.Pod.UID)]
		if old == nil || t.slots[old.name].want != nil || len(old.claims.Ports) == 0 {
			continue
		}
		for _, added := range changes {
			if added.Op != sources.ADD || added.Pod.Origin.Source != removed.Pod.Origin.Source || added.Pod.Origin.Unit != removed.Pod.Origin.Unit {
				continue
			}
			if _, collide := collision(podspec.HostPorts(added.Pod.Pod.Pod), old.claims.Ports); collide {
				old.heir = added.Pod.FullName()
				t.waiting[old.name] = t.slots[old.name]
				break
			}
		}
	}
}

func (t *tenancy) slot(name string) *slot {
	s := t.slots[name]
	if s == nil {
		s = &slot{name: name}
		t.slots[name] = s
	}
	return s
}

// settle brings the touched slots, and those whose admission changed, to what
// is wanted; then it looks at everybody behind a gate.
func (t *tenancy) settle(touched map[string]*slot) {
	if !t.open {
		return
	}
	if t.dirty {
		for _, name := range t.admit() {
			touched[name] = t.slot(name)
		}
		t.dirty = false
	}
	for _, name := range slices.Sorted(maps.Keys(touched)) {
		t.settleSlot(touched[name])
	}
	t.settleGates()
	for name, s := range touched {
		if s.want == nil && len(s.tenants) == 0 {
			delete(t.slots, name)
		}
	}
}

// admit asks Admit again and returns the names whose verdict changed.
func (t *tenancy) admit() []string {
	var candidates []Candidate
	for _, s := range t.slots {
		if s.want != nil {
			candidates = append(candidates, s.candidate())
		}
	}
	refused := Admit(candidates, t.node, t.order)
	var changed []string
	for name, refusal := range refused {
		if t.refused[name] != refusal {
			changed = append(changed, name)
		}
	}
	for name := range t.refused {
		if _, still := refused[name]; !still {
			changed = append(changed, name)
		}
	}
	t.refused = refused
	return changed
}

func (s *slot) candidate() Candidate {
	c := Candidate{Pod: s.want.pod, Claims: s.want.claims}
	for _, tn := range s.tenants {
		if tn.going() {
			continue
		}
		c.Since = tn.since
		if tn.uid == string(s.want.pod.UID) {
			c.Runs = true
		} else if c.Holds == nil {
			c.Holds = &tn.claims
		}
	}
	return c
}

// settleSlot decides who of one full name stays, goes or comes.
func (t *tenancy) settleSlot(s *slot) {
	_, refused := t.refused[s.name]
	switch {
	case s.want == nil:
		t.clear(s)
	case refused:
		t.dropFollowers(s)
	case t.drained != nil:
		t.shelve(s)
	default:
		t.fill(s)
	}
}

// clear ends the pods of a name that nobody wants. Those that are unclaimed
// since the agent started are left to the orphan rule, and one whose host port
// has an heir goes when the heir is ready.
func (t *tenancy) clear(s *slot) {
	for _, tn := range s.tenants {
		if tn.claimed && tn.heir == "" {
			t.endUnwanted(tn, endRemoved, "its manifest was removed from "+showOrigin(tn.pod.Origin))
		}
	}
}

// endUnwanted ends a pod that nobody wants any more, for the reason given, unless
// the true one is that its source is configured no more.
func (t *tenancy) endUnwanted(tn *tenant, reason, message string) {
	origin := tn.origin()
	if origin == nil || t.isConfigured(origin.Source) {
		t.end(tn, reason, message)
		return
	}
	message = "source " + origin.Source + " is no longer configured"
	if place := showPlace(*origin); place != "" {
		message += "; it came from " + place
	}
	t.end(tn, endSource, message)
}

func (t *tenancy) isConfigured(source string) bool {
	_, configured := t.order[source]
	return configured
}

// dropFollowers ends what was being prepared; the predecessor serves on.
func (t *tenancy) dropFollowers(s *slot) {
	for i, tn := range s.living() {
		tn.claimed = true
		if i > 0 {
			t.end(tn, endObsolete, "the pod it was prepared for is refused")
		}
	}
}

// fill sees to it that the wanted pod is there or being prepared, and that at
// most one other of its name is: the oldest, which serves until then. One that
// serves nobody yet is not worth waiting for.
func (t *tenancy) fill(s *slot) {
	var wanted *tenant
	living := s.living()
	for i, tn := range living {
		tn.claimed = true
		switch {
		case tn.uid == string(s.want.pod.UID):
			wanted = tn
		case i > 0 || tn.progress < progressServing:
			t.end(tn, endObsolete, "a newer version was written before it ran")
		}
	}
	switch {
	case t.byUID[string(s.want.pod.UID)] != wanted:
		// That very pod is being taken away: it comes back when it is gone.
	case wanted == nil && len(living) < 2 && len(s.tenants) < maxTenants:
		t.hire(s)
	case wanted != nil && !wanted.going():
		t.claim(wanted, *s.want)
	}
}

// claim takes a running pod over for what is wanted now, which may have other
// labels or come from another place.
func (t *tenancy) claim(tn *tenant, w want) {
	if len(tn.pod.Spec.Containers) == 0 {
		// Only its names were known so far.
		tn.claims = w.claims
		t.listPorts(tn)
	}
	tn.pod, tn.heir = w.pod, ""
	next := tn.order
	next.pod, next.sourced = w.pod, true
	if next.gate != plan.GateRun && !w.pod.Objects.Same(tn.order.pod.Objects) {
		// Its containers were made with other objects: it is to say anew that it is ready.
		next.turn++
		tn.progress = progressNone
	}
	t.tell(tn, next)
}

func (t *tenancy) hire(s *slot) {
	tn := &tenant{
		uid: string(s.want.pod.UID), name: s.name, pod: s.want.pod, claims: s.want.claims, claimed: true,
		order: order{pod: s.want.pod, gate: plan.GateCreate, sourced: true},
	}
	if w := t.waiter(tn); len(w.blockers) == 0 {
		tn.order.gate = plan.GateRun
	} else {
		tn.order.why = t.why(s.name, w)
		t.waiting[s.name] = s
	}
	c := command{tenant: tn, hire: true, order: tn.order}
	if living := s.living(); len(living) > 0 {
		c.replaces = &living[0].pod
	}
	t.enter(tn)
	t.commands = append(t.commands, c)
}

// enter adds a tenant to the picture.
func (t *tenancy) enter(tn *tenant) {
	s := t.slot(tn.name)
	s.tenants = append(s.tenants, tn)
	t.byUID[tn.uid] = tn
	t.listPorts(tn)
}

func (t *tenancy) listPorts(tn *tenant) {
	for _, p := range tn.claims.Ports {
		t.ports[keyOf(p)] = append(t.ports[keyOf(p)], tn)
	}
}

// leave takes a tenant whose worker has ended out of the picture, and lets
// those come who waited for it.
func (t *tenancy) leave(uid string) {
	tn := t.byUID[uid]
	if tn == nil {
		return
	}
	delete(t.byUID, uid)
	s := t.slots[tn.name]
	s.tenants = slices.DeleteFunc(s.tenants, func(other *tenant) bool { return other == tn })
	for _, p := range tn.claims.Ports {
		k := keyOf(p)
		t.ports[k] = slices.DeleteFunc(t.ports[k], func(other *tenant) bool { return other == tn })
		if len(t.ports[k]) == 0 {
			delete(t.ports, k)
		}
	}
	t.dirty = t.dirty || len(t.refused) > 0
	t.settle(map[string]*slot{s.name: s})
}

// heard takes a worker's report of how far it has come. One from before its
// objects changed does not say that it is prepared.
func (t *tenancy) heard(uid string, p progress, turn int) {
	tn := t.byUID[uid]
	if tn == nil || p <= tn.progress || p <= progressPrepared && turn != tn.order.turn {
		return
	}
	tn.progress = p
	if tn.stopped() {
		t.settle(map[string]*slot{tn.name: t.slots[tn.name]})
		return
	}
	t.settleGates()
}

func (t *tenancy) end(tn *tenant, reason, message string) {
	if tn.going() {
		return
	}
	next := tn.order
	next.end = &ending{reason: reason, message: message}
	t.tell(tn, next)
}

func (t *tenancy) tell(tn *tenant, o order) {
	tn.order = o
	t.commands = append(t.commands, command{tenant: tn, order: o})
}
