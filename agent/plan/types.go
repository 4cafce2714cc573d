// Package plan decides what to do next for one pod. It is pure: a pod, what the
// engine shows of it, what happened to it before and the clock go in; ordered
// actions come out, each with its reason, together with why the containers
// that are not started wait, and when to look again. It knows nothing of how
// an action is carried out. The worker executes the steps, observes, and asks
// again: every decision stands on what is there, not on what was meant to be.
package plan

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// Gate says how far a pod may go. A pod whose predecessor still serves is
// prepared behind a gate (law: the old pod serves until the new one can).
type Gate int

// The gates, in the order in which a successor passes them.
const (
	GateCreate  Gate = iota // create the sandbox and the containers, start nothing
	GateSandbox             // start the sandbox too
	GateRun                 // no predecessor: start everything
)

// Input is all a decision depends on.
type Input struct {
	Pod      *v1.Pod // defaulted and identified
	Gate     Gate
	Observed runtime.Pod
	History  History
	// Images by container name. A container without a ready image waits.
	Images map[string]Image
	// Failures of the newest try to create a container (or to resolve what it
	// needs), by container name; gone once it was created.
	Failures map[string]Failure
	// Objects is what each container that refers to ConfigMaps or Secrets would see
	// of them if it were made now, by container name. Of one that is left out that
	// is not known, and changes nothing.
	Objects map[string]Objects
	// RestartOnChange asks for containers that run with something else to be
	// restarted in place.
	RestartOnChange bool
	// Prepared is true when what is created and not started was made in this life
	// of the agent, and not left over by one that was killed. It only changes the
	// reason told.
	Prepared bool
	// Stops under way, by container or sandbox ID.
	Stops map[string]Stop
	// MaxRestartPeriod is the longest crash back-off that is kept; 0 for the
	// kubelet's 5 min.
	MaxRestartPeriod time.Duration
	Now              Moment
}

// Image is how far a container's image is.
type Image struct {
	Ready   bool
	Waiting Waiting // why not
}

// Objects is what one container sees of ConfigMaps and Secrets.
type Objects struct {
	Digest string // of all that it uses; "" when it could not start for lack of something
	// Changed names what is not as it was when the newest instance was made, for
	// people; "" where that is not known.
	Changed string
}

// Waiting is a container's waiting state: reasons are the kubelet's.
type Waiting struct {
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// Failure is a create that did not work.
type Failure struct {
	Waiting Waiting
	Retry   Moment // not before
}

// Stop is a stop under way: when the newest signal was sent, and how long its
// receiver has. The worker notes one for every Signal action that worked, KILL
// too: Signalled is now, Grace the action's.
type Stop struct {
	Signalled Moment        `json:"signalled"`
	Grace     time.Duration `json:"grace"`
}

// Verb is what an action does, one idempotent call of the runtime.
type Verb string

// The verbs.
const (
	CreateSandbox   Verb = "create-sandbox"
	StartSandbox    Verb = "start-sandbox"
	CreateContainer Verb = "create-container"
	StartContainer  Verb = "start-container"
	Signal          Verb = "signal"
	Remove          Verb = "remove"
)

// Reason says why an action is taken; it is logged, told in events and counted,
// so the set is closed.
type Reason string

// The reasons.
const (
	ReasonNew             Reason = "New"             // nothing of it exists yet
	ReasonPrepare         Reason = "Prepare"         // behind a gate, for a replacement
	ReasonResume          Reason = "Resume"          // created before, never started (the agent was killed in between)
	ReasonSandboxLost     Reason = "SandboxLost"     // the sandbox is gone, died or lost its address
	ReasonSandboxStale    Reason = "SandboxStale"    // belongs to a dead or surplus sandbox
	ReasonContainerExited Reason = "ContainerExited" // restart policy says: again
	ReasonContainerLost   Reason = "ContainerLost"   // was running, its record vanished
	ReasonInitFailed      Reason = "InitFailed"      // init container failed and is tried again
	ReasonObjectsChanged  Reason = "ObjectsChanged"  // made with other contents of ConfigMaps or Secrets
	ReasonRestartAsked    Reason = "RestartAsked"    // somebody asked for a new instance
	ReasonDrained         Reason = "Drained"         // nothing runs on a drained node; what ended for that runs again later
	ReasonUnknownState    Reason = "UnknownState"
	ReasonFinished        Reason = "Finished"     // the pod has run to its end
	ReasonTerminating     Reason = "Terminating"  // the pod is to go
	ReasonGraceExpired    Reason = "GraceExpired" // still running when its grace was over
	ReasonDeadInstance    Reason = "DeadInstance" // older dead instance, beyond the one that is kept
)

// Restarts reports that what is signalled for this reason ends so that a new
// instance can take its place, whatever the restart policy.
func (r Reason) Restarts() bool {
	return r == ReasonObjectsChanged || r == ReasonRestartAsked || r == ReasonDrained
}

// Action is one call of one verb.
type Action struct {
	Verb      Verb
	Container string // name; "" for the sandbox
	Init      bool
	ID        string // Signal, Remove, StartContainer and StartSandbox of something that exists; "" for what this decision creates
	Attempt   int    // CreateSandbox, CreateContainer, StartContainer; Signal for a reason that restarts: of the instance to follow
	Signal    string // Signal: TERM (or the container's own), KILL
	Grace     time.Duration
	Reason    Reason
	Message   string // for people: exit code 1 after 3s, sandbox exited, …
}

// Decision is what to do now. The actions of one step may run side by side;
// steps run in order. When an action of a container fails, its later actions
// are left out and the other containers' go on; when one of the sandbox or of
// an init container fails, the rest is left out.
type Decision struct {
	Steps [][]Action
	// Waiting says for each container that is not running why it is not.
	Waiting map[string]Waiting
	// Wake is when to look again if nothing happens before; negative for never.
	Wake time.Duration
	// Ready is true when all that the gate allows has been done.
	Ready bool
	// Finished is set when the pod has run to its end (restartPolicy Never and
	// OnFailure): it is to be terminated with this phase.
	Finished *Finished
	// Gone is true (Terminate only) when nothing of the pod is left to stop (or,
	// with reclaim, to remove).
	Gone bool
}

// Finished is how a pod ended.
type Finished struct {
	Phase   v1.PodPhase `json:"phase"`
	Reason  string      `json:"reason,omitempty"`
	Message string      `json:"message,omitempty"`
}

// History is what is remembered of a pod's runs beyond what the engine shows:
// it lives in the pod record and survives prune, agent restart and reboot. The
// larger of its counts and the engine's wins.
type History struct {
	SandboxAttempt int                         `json:"sandboxAttempt"` // newest made; -1 for none
	Containers     map[string]ContainerHistory `json:"containers,omitempty"`
}

// ContainerHistory is what is remembered of one container.
type ContainerHistory struct {
	Attempt   int       `json:"attempt"`             // newest made; the restart count
	SandboxID string    `json:"sandboxID,omitempty"` // in which it was made
	Running   string    `json:"running,omitempty"`   // ID of the instance last seen running
	RunningAt time.Time `json:"runningAt,omitzero"`  // when that one started
	Ended     *Ended    `json:"ended,omitempty"`     // newest instance that ended
	Previous  *Ended    `json:"previous,omitempty"`  // the one before
	// BackOff is the delay the next restart keeps, counted from Ended.At; 0 for
	// a restart at once.
	BackOff time.Duration `json:"backOff,omitempty"`
	// Made is what an instance sees of objects. It is remembered before the
	// instance is made, which may then never come to be.
	Made Made `json:"made,omitzero"`
	// Restart is a restart that was decided. It is remembered before the first
	// signal, and carried out from then on.
	Restart *Restart `json:"restart,omitempty"`
}

// Made is with what one instance was made.
type Made struct {
	Attempt int    `json:"attempt"`
	Objects string `json:"objects"` // as Objects.Digest
}

// Restart is that an instance ends so that the next one can take its place,
// whatever the restart policy. It is never changed once made.
type Restart struct {
	Attempt int    `json:"attempt"` // of the instance that ends
	Message string `json:"message"`
	// Reason is why; "" for ReasonObjectsChanged, which was the only one once.
	Reason Reason `json:"reason,omitempty"`
}

func (r Restart) why() (Reason, string) {
	if r.Reason == "" {
		return ReasonObjectsChanged, r.Message
	}
	return r.Reason, r.Message
}

// Ended is how one instance of a container ended. It is never changed once made.
type Ended struct {
	Container  string    `json:"container"` // name
	ID         string    `json:"id"`
	Attempt    int       `json:"attempt"`
	SandboxID  string    `json:"sandboxID,omitempty"`
	StartedAt  time.Time `json:"startedAt"`
	FinishedAt time.Time `json:"finishedAt"`
	ExitCode   int       `json:"exitCode"`
	Reason     string    `json:"reason"`
	Message    string    `json:"message,omitempty"` // termination message
	At         Moment    `json:"at"`                // when it ended, on our clocks
}
