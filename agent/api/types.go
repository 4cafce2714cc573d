package api

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// APIVersion is that of the kinds of this package.
const APIVersion = "podstead/v1alpha1"

// SourceState is one word for how a source is.
type SourceState string

// The states of a source, from good to bad.
const (
	SourceReady    SourceState = "Ready"    // its newest state is in force
	SourceWaiting  SourceState = "Waiting"  // it has not been tried yet
	SourceLastGood SourceState = "LastGood" // nothing heard yet: what ran before is in force
	SourceHeld     SourceState = "Held"     // a removal waits to be allowed
	SourceError    SourceState = "Error"    // its place or one of its units is at fault
	SourceRetired  SourceState = "Retired"  // not configured any more; its pods stay until all others have answered
	// SourceSuspended is one that is not looked at until it is resumed; what was in
	// force stays so.
	SourceSuspended SourceState = "Suspended"
)

// Source is one source as `podstead get sources` shows it.
type Source struct {
	metav1.TypeMeta `json:",inline"`

	Name     string      `json:"name"`
	Kind     string      `json:"sourceKind"` // file, http, git
	Place    string      `json:"place"`      // path or URL without credentials
	Revision string      `json:"revision,omitempty"`
	State    SourceState `json:"state"`
	Pods     int         `json:"pods"` // wanted on this node

	Live        bool      `json:"live"` // the place itself has been heard
	Attempted   bool      `json:"attempted"`
	Taken       time.Time `json:"taken,omitzero"`       // when this state was learned
	LastSuccess time.Time `json:"lastSuccess,omitzero"` // when the place was last read without a fault
	NextPoll    time.Time `json:"nextPoll,omitzero"`

	// LastGood is true when what is in force is the last good state from disk: the
	// place has not been heard since the start. It may be so in any State.
	LastGood bool `json:"lastGood,omitempty"`
	// Retired is true of a source that is not configured any more.
	Retired bool `json:"retired,omitempty"`
	// WaitsFor are the sources that have not answered yet, and until then the pods
	// of a retired one stay.
	WaitsFor []string `json:"waitsFor,omitempty"`
	// Suspended says since when it is not looked at, and who asked for that; nil when
	// it is looked at.
	Suspended *Suspension `json:"suspended,omitempty"`
	// Held says why a newer state is not in force: it removes too much.
	Held string `json:"held,omitempty"`

	Objects []Object `json:"objects,omitempty"` // without their contents; of two of one name the first counts
	Faults  []Fault  `json:"faults,omitempty"`  // of the place itself
	Units   []Unit   `json:"units,omitempty"`
	Losers  []Loser  `json:"losers,omitempty"`
}

// Object is a ConfigMap or a Secret that a source holds; what is in it is not shown.
type Object struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"` // namespace/name
	Place string `json:"place"`
}

// Unit is what fails as a whole: a file, a body, a commit.
type Unit struct {
	Name     string    `json:"name"`
	Revision string    `json:"revision,omitempty"` // in force; empty when none is
	Faults   []Fault   `json:"faults,omitempty"`
	Warnings []Fault   `json:"warnings,omitempty"`
	Skipped  []Skipped `json:"skipped,omitempty"`
}

// Fault is one thing wrong, and where.
type Fault struct {
	Place   string `json:"place"` // unit:line:column as far as known
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// String is place, field path and message on one line.
func (f Fault) String() string {
	if f.Field == "" {
		return f.Place + ": " + f.Message
	}
	return f.Place + ": " + f.Field + ": " + f.Message
}

// Skipped is a document that is not for this node.
type Skipped struct {
	Place  string `json:"place"`
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Loser is a pod that does not run because an earlier place holds its full name.
type Loser struct {
	Name   string `json:"name"`   // namespace/name
	Place  string `json:"place"`  // its own
	Winner string `json:"winner"` // source and place of the one that runs
}

// Problems are all faults of the source, its place's first, then its units'.
func (s Source) Problems() []Fault {
	all := append([]Fault(nil), s.Faults...)
	for _, u := range s.Units {
		all = append(all, u.Faults...)
	}
	return all
}

// SourceList is the answer of /podstead/v1/sources.
type SourceList struct {
	metav1.TypeMeta `json:",inline"`
	Items           []Source `json:"items"`
}

// SyncRequest asks sources to look at their places now.
type SyncRequest struct {
	Source       string // "" for all
	AllowRemoval bool
}

// SyncResult is what became of one source's look.
type SyncResult struct {
	Source   string      `json:"source"`
	Revision string      `json:"revision,omitempty"` // in force now
	State    SourceState `json:"state,omitempty"`
	Error    string      `json:"error,omitempty"` // why its newest state is not in force
}

// SyncList is the answer of a sync, in the sources' order.
type SyncList struct {
	metav1.TypeMeta `json:",inline"`
	Items           []SyncResult `json:"items"`
}

// Configuration is the configuration file as the agent has it.
type Configuration struct {
	File  string    `json:"file,omitempty"` // empty when none is used
	Taken time.Time `json:"taken"`          // when it was last taken over
	// Error says what is wrong with its newest version, which then has no effect.
	Error string `json:"error,omitempty"`
	// Pending are settings whose new values take effect at the next start.
	Pending []string `json:"pending,omitempty"`
}

// Webhook is the listener for pushes.
type Webhook struct {
	Address string `json:"address,omitempty"` // that is listened on
	Error   string `json:"error,omitempty"`   // why none is, or why pushes are not believed
}

// Engine is the container engine as the agent reaches it.
type Engine struct {
	Endpoint   string `json:"endpoint"`
	Name       string `json:"name,omitempty"`
	Version    string `json:"version,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
	Error      string `json:"error,omitempty"` // why it cannot be reached; empty when it can
}

// Status is the agent itself.
type Status struct {
	metav1.TypeMeta `json:",inline"`

	Node    string    `json:"node"`
	NodeID  string    `json:"nodeID"`
	Version string    `json:"version"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	RootDir string    `json:"rootDir"`
	Engine  Engine    `json:"engine"`

	// Drained is nil when pods may run.
	Drained *Drain `json:"drained,omitempty"`

	Configuration Configuration `json:"configuration"`
	Webhook       *Webhook      `json:"webhook,omitempty"` // nil when it is off
}

// Version is the answer of /podstead/v1/version.
type Version struct {
	Version   string `json:"version"`
	Revision  string `json:"revision,omitempty"` // commit it was built from
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"` // os/arch
	// Kubernetes is the release whose defaulting and validation are built in.
	Kubernetes string `json:"kubernetes,omitempty"`
}
