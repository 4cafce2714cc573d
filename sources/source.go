// Package sources gathers manifests and merges them. Each Source sends whole
// snapshots of what it wants on this node; the Merger compares each source's
// newest snapshot with what it passed on before and emits PodUpdates, the only
// thing the agent reads. cmd/podstead runs each Source and the Merger in a
// goroutine of its own.
package sources

import (
	"context"
	"time"

	"github.com/podstead/podstead/manifests"
)

// Source delivers the pods of one place: a folder, a URL, a repository.
//
// Run blocks until ctx ends and owns all it starts. It sends a Snapshot at once
// (from its last good set on disk, marked not Live, if it has not yet heard
// from its place) and then whenever something changed: always the whole set. A
// failing source sends its last set together with its faults; a truly empty one
// an empty set. It never closes the channel. A returned error other than
// ctx.Err() means that the source can never work and is fatal for the agent.
type Source interface {
	Name() string // unique among the configured sources
	Kind() Kind
	Run(ctx context.Context, out chan<- Snapshot) error
	// Sync makes the running source look at its place now. It returns when that
	// look, one that began after the call, is through and its Snapshot has been
	// taken: nil when the place's newest state is in force, otherwise an error
	// that says why it is not. Calls at the same time share a look. Safe for
	// concurrent use; ends with ctx.
	Sync(ctx context.Context, req SyncRequest) error
	// Recall returns what its last good set on disk says, without a look at its
	// place: the first Snapshot of Run. It is not called while Run runs.
	Recall() Snapshot
}

// SyncRequest is what a look that was asked for may do.
type SyncRequest struct {
	// AllowRemoval lets the state found now through, however much it removes.
	AllowRemoval bool
}

// Kind is the kubelet's source word, as in annotation kubernetes.io/config.source.
type Kind string

// The kinds of sources.
const (
	KindFile Kind = "file"
	KindHTTP Kind = "http"
	KindGit  Kind = "git"
	KindAPI  Kind = "api"
)

// Snapshot is all that a source wants on this node, and how well it knows.
type Snapshot struct {
	Source string
	// Key is that of the Spec under which the source runs; the Gatherer fills it in.
	Key  string
	Kind Kind
	// Place is what the source reads, as shown to users: a path or a URL without credentials.
	Place string
	// Revision names this state: a content hash, an ETag, a commit.
	Revision string
	// Live is false while the set comes from the last good set on disk alone,
	// because the place itself has not answered yet.
	Live bool
	// Attempted is true once the source has tried its place, well or badly.
	Attempted bool
	// Suspended is why the source is not looked at, by the Gatherer's word; nil when
	// it is.
	Suspended *Suspension
	// Pods in order of (unit, document). Two of one full name are both here:
	// the Merger decides.
	Pods []Pod
	// Objects in order of (unit, document). Of two of one name the first counts.
	Objects []Object
	// Held says why a newer state, seen and faultless, is not in force: it removes
	// too much (RemovalHeld). "" when nothing is held.
	Held string
	// Units that the source has read, with the revision of each that is in force.
	Units []Unit
	// Faults of the place itself (folder gone, server refused); a unit's own are in it.
	Faults []manifests.Fault
	// Taken is when the place last confirmed the state in force, by an answer that
	// says the same too; of a set that is not Live, when it was put in force. Zero
	// when that is not known.
	Taken time.Time
	// Heard is when the place last answered without a fault of its own, whatever it
	// said; of a set that is not Live as Taken.
	Heard time.Time
	// NextPoll is when the source will look again by itself.
	NextPoll time.Time
}

// Unit is what fails as a whole: a file, a body, a commit.
type Unit struct {
	Name string // path or URL as shown to users
	// Revision is the content hash (sha256:<12 hex>) or commit of the version in force.
	Revision string
	// Newest is the revision of the newest version, of which the faults are. Only
	// units that are a source's whole set have it.
	Newest string
	// Faults of the newest version. When there are any, the version in force is
	// the last good one (Revision names it; "" if there is none).
	Faults []manifests.Fault
	// Warnings of the newest version: kinds that are not run, uid ignored, faults
	// in other nodes' documents.
	Warnings []manifests.Fault
	// Skipped documents: of another node, with the reason.
	Skipped []Skipped
}

// Skipped is a document that is not for this node.
type Skipped struct {
	Place  manifests.Place
	Kind   string
	Name   string // namespace/name as written
	Reason string
}

// Pod is a pod with where it comes from.
type Pod struct {
	manifests.Pod
	Origin Origin
	// Objects are those of Refs that are there, in its own source or in one that
	// this lets it see. A source leaves it empty; the Merger fills it in.
	Objects manifests.Objects
}

// Object is an object with where it comes from.
type Object struct {
	*manifests.Object
	Origin Origin
}

// Origin says who wants a pod. It is told in every reason and kept in the pod record.
type Origin struct {
	Source   string `json:"source"`
	Kind     Kind   `json:"kind"`
	Unit     string `json:"unit"`           // what failed or held as one
	File     string `json:"file,omitempty"` // within the unit, where that is a commit
	Document int    `json:"document"`
	Line     int    `json:"line,omitempty"`
	Revision string `json:"revision"`
	// NodeControl: the source may have its pods mount what rules the node.
	NodeControl bool `json:"nodeControl,omitempty"`
}

// FullName is namespace/name with the node suffix: of all pods with one full
// name, one may run.
func (p Pod) FullName() string { return p.Namespace + "/" + p.Name }
