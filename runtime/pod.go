// Package runtime is the vocabulary between the agent and a container engine:
// what an engine is asked for (SandboxConfig, ContainerConfig, ImageRequest),
// what it shows (Pod, Sandbox, Container, Image, Event) and the errors both
// sides agree on. It holds no behaviour and declares no interface: the agent
// declares the verbs it needs, package docker implements them.
package runtime

import "time"

// PodRef names one pod on the engine. The UID is what identifies it; namespace
// and name are carried for names, labels and messages.
type PodRef struct {
	UID       string
	Namespace string
	Name      string // the full name, node suffix included
}

// String returns namespace/name, as kubectl users write a pod.
func (r PodRef) String() string { return r.Namespace + "/" + r.Name }

// State is the life of a sandbox or container as the engine tells it.
type State string

// The states of the CRI, which are what Kubernetes' status rules speak of.
const (
	StateCreated State = "created" // made, never started (or its start failed before a process existed)
	StateRunning State = "running"
	StateExited  State = "exited"
	StateUnknown State = "unknown" // the engine is removing it, or cannot say
)

// Pod is everything the engine shows of one pod of this node. Sandboxes and
// Containers are sorted newest first (by attempt, then by creation).
type Pod struct {
	PodRef
	Sandboxes  []Sandbox
	Containers []Container
}

// Sandbox is one pause container.
type Sandbox struct {
	ID          string
	Attempt     int
	State       State
	CreatedAt   time.Time
	StartedAt   time.Time
	FinishedAt  time.Time // of a running one: set when somebody started it again after it had ended
	IPs         []string  // the node's primary family first; empty for host network
	HostNetwork bool
}

// StartedSandbox is what starting a sandbox brought. ID differs from the one
// asked for when the engine made it necessary to create the sandbox anew (its
// network was pruned, its oom score refused): containers created for the old
// one are then useless.
type StartedSandbox struct {
	ID    string
	IPs   []string // as in Sandbox
	Notes []Degraded
}

// Container is one instance of a container of a pod.
//
// A container whose start failed (no such command, for one) is StateExited
// with Reason ContainerCannotRun, the engine's exit code (127, 128) and
// CreatedAt for both times, as cri-dockerd reports it.
type Container struct {
	ID          string
	Name        string
	Attempt     int
	SandboxID   string // the sandbox it was created for
	Image       string // the reference it was created with
	ImageID     string // docker-pullable://<digest> or docker://<id>, as the kubelet shows it
	State       State
	CreatedAt   time.Time
	StartedAt   time.Time
	FinishedAt  time.Time
	ExitCode    int
	Reason      string // OOMKilled, Completed, Error, ContainerCannotRun; empty unless exited
	Message     string // the engine's own error text, if any
	StopSignal  string // of its configuration or image; empty for SIGTERM
	MessagePath string // host file of the termination message; empty for none
	LogPath     string // host file of its log; empty before its start, with a driver that has none, and in lists
}

// Newest returns the newest instance of the named container.
func (p Pod) Newest(name string) (Container, bool) {
	for _, c := range p.Containers {
		if c.Name == name {
			return c, true
		}
	}
	return Container{}, false
}

// Sandbox returns the newest sandbox.
func (p Pod) Sandbox() (Sandbox, bool) {
	if len(p.Sandboxes) == 0 {
		return Sandbox{}, false
	}
	return p.Sandboxes[0], true
}

// Running reports whether any sandbox or container of the pod runs.
func (p Pod) Running() bool {
	for _, s := range p.Sandboxes {
		if s.State == StateRunning {
			return true
		}
	}
	for _, c := range p.Containers {
		if c.State == StateRunning {
			return true
		}
	}
	return false
}

// Namesake is another agent's part of the engine under this node's name, and the
// pods that it has there.
type Namesake struct {
	NodeID string
	Pods   []PodRef
}

// Image is a local image, as far as starting a container needs it.
type Image struct {
	ID      string // as in Container.ImageID
	Ref     string // the reference asked for
	Size    int64  // bytes
	User    string // USER of the image: "", number, name, or either with :group
	Volumes []string
	Claims  []string // its labels by which another program would take its containers for its own
}

// EventKind says what happened to a container or sandbox.
type EventKind string

// The engine events that can change what a pod needs.
const (
	EventStarted EventKind = "started"
	EventDied    EventKind = "died"
	EventRemoved EventKind = "removed"
	EventOOM     EventKind = "oom"
	// EventResync is sent without a pod when the stream was interrupted and
	// events may have been missed, and when it is up again: look at all pods.
	EventResync EventKind = "resync"
)

// Event wakes a pod's worker; it never carries state to act on.
type Event struct {
	Kind      EventKind
	UID       string
	ID        string
	Container string // "" for a sandbox
}

// Engine is what the engine says of itself.
type Engine struct {
	Name         string // "docker"
	Version      string
	APIVersion   string
	OS           string // linux
	Architecture string // as Go spells it: amd64, arm64, arm
	CPUs         int
	Memory       int64 // bytes
	CgroupV2     bool
	CgroupDriver string // cgroupfs, systemd
	AppArmor     bool
	LiveRestore  bool
	RootDir      string
}
