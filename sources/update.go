package sources

import "time"

// Op is what happened to a pod between two merges. The numbers and words are
// the kubelet's (pkg/kubelet/types.PodOperation).
type Op int

// The operations. SET is never sent: snapshots are compared before.
const (
	SET       Op = iota // the whole set, the kubelet's word for a Snapshot
	ADD                 // a UID that was not wanted before
	DELETE              // API pods: deletionTimestamp was set; the object still exists
	REMOVE              // the UID is no longer wanted
	UPDATE              // same UID; metadata, origin or deletion fields differ
	RECONCILE           // same pod; its objects or its status at the source differ
)

// String is the word for logs.
func (o Op) String() string {
	switch o {
	case SET:
		return "SET"
	case ADD:
		return "ADD"
	case DELETE:
		return "DELETE"
	case REMOVE:
		return "REMOVE"
	case UPDATE:
		return "UPDATE"
	case RECONCILE:
		return "RECONCILE"
	}
	return "UNKNOWN"
}

// PodUpdate is what changed by one snapshot of one source, or by a configuration
// that was read again, to be taken as one: a name whose pod is removed and added
// in the same update is a replacement, and a removed pod whose host port another
// added pod of its unit claims is its predecessor. An update without changes
// tells that a source has spoken, or that Order is another one.
type PodUpdate struct {
	// Changes in the order REMOVE, ADD, UPDATE, DELETE, RECONCILE.
	Changes []Change
	// Order names the configured sources, the first wins: all of them, those that
	// have not spoken too. Every update has it, and it differs from the one before
	// only when the configuration was read again. What was known of a source that
	// is gone from it is to be forgotten: if it comes back, its state is told again.
	// Such a source may still have pods, with Origins that name it: they are wanted
	// until a REMOVE says otherwise, which comes when every source in Order has
	// answered as it is configured now.
	Order []string
	// Source is the state of the source whose snapshot caused this update. Its
	// Name is "" when none did: the configuration was read again, and there is no
	// state to note. It may name a source that is not in Order, whose end is under
	// way. A change may concern a pod of another source: the loser of a name
	// conflict that takes over, or a pod that sees this source's objects.
	Source SourceState
}

// Change is one operation on one pod. The pod is as it is now, its Objects
// included, but for REMOVE: then it is as it was told last, with the objects that
// it had then.
type Change struct {
	Op  Op
	Pod Pod
}

// SourceState is what the agent must know of a source to judge orphans. A source
// that is started anew under its name keeps what it once was: it has been live.
// It has a state from when it first speaks; one in Order that has none has
// neither been live nor attempted anything.
type SourceState struct {
	Name      string
	Live      bool            // has delivered at least one live snapshot
	Attempted bool            // its first attempt has ended, well or badly
	Faulty    map[string]bool // units at fault now; key "" when the place itself is
	Taken     time.Time
}

// Status is one source as `podstead get sources` shows it. Objects that are not
// in force, since an earlier place has their name or since they were immutable
// and have changed, are named in the warnings of their units.
type Status struct {
	Snapshot
	// LastSuccess is when the source last delivered a live snapshot without faults of its own place.
	LastSuccess time.Time
	// Losers are pods of this source whose full name another source or an earlier place holds.
	Losers []Loser
	// Retired is true of a source that is not configured any more and whose pods
	// stay until every configured source has answered.
	Retired bool
	// WaitsFor are those that a retired source waits for.
	WaitsFor []string
}

// Loser is a pod that is not run because an earlier place holds its full name.
type Loser struct {
	Pod    Origin
	Name   string // full name
	Winner Origin
}
