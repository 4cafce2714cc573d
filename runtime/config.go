package runtime

import "time"

// SandboxConfig is all an engine needs to create a pod's sandbox.
type SandboxConfig struct {
	Pod         PodRef
	Attempt     int
	Hostname    string            // empty with HostNetwork
	Labels      map[string]string // the pod's own labels
	Ports       []PortMapping     // published ports; empty with HostNetwork
	Names       []string          // names under which the engine's DNS answers for the pod
	HostNetwork bool
	HostPID     bool
	HostIPC     bool
	SharePID    bool   // containers join the sandbox's PID namespace
	User        string // uid[:gid] of the pause process; "" for its image's
	Seccomp     string // as in Security
}

// PortMapping publishes one container port on the host.
type PortMapping struct {
	Protocol      string // TCP, UDP, SCTP
	HostIP        string // "" for every address
	HostPort      int32
	ContainerPort int32
}

// ContainerConfig is all an engine needs to create one container, fully
// resolved: no reference is left to look up.
type ContainerConfig struct {
	Pod       PodRef
	Name      string
	Attempt   int
	SandboxID string

	Image      string   // reference as written, or an image ID
	Disowned   []string // labels of the image that its container must not have
	Command    []string // nil: the image's entrypoint
	Args       []string // nil: the image's cmd, unless Command is set
	WorkingDir string   // "": the image's
	Env        []string // NAME=value, in the order written; the image's come first
	Mounts     []Mount

	Resources Resources
	Security  Security

	HostNetwork bool // the UTS namespace is the host's too
	HostPID     bool
	SharePID    bool

	StopSignal  string        // "": the image's
	StopTimeout time.Duration // the grace period, for the engine's own shutdown
	MessagePath string        // host file of the termination message, kept as a label; its mount is in Mounts
}

// Mount binds a host path into a container.
type Mount struct {
	HostPath      string
	ContainerPath string
	ReadOnly      bool
}

// Resources are the limits of one container in the engine's units.
type Resources struct {
	CPUShares int64 // 2..262144; see the kubelet's MilliCPUToShares
	CPUPeriod int64 // microseconds; 0 with no quota
	CPUQuota  int64 // microseconds per period; 0 for none
	Memory    int64 // bytes; 0 for none. Swap is off: the engine gets the same figure for both
}

// Security is the merged security context of one container.
type Security struct {
	User            string   // uid[:gid]; "" for the image's
	Groups          []string // supplemental groups, numeric
	Privileged      bool
	AddCaps         []string // without CAP_; ALL is understood
	DropCaps        []string
	ReadOnlyRoot    bool
	NoNewPrivileges bool
	Seccomp         string // "" the engine's default, "unconfined", or a profile's JSON
}

// ImageRequest asks for an image to be pulled.
type ImageRequest struct {
	Ref string
	// Logins are the contents of .dockerconfigjson pull secrets, the first first.
	// All logins that fit the reference are tried, the node's own after them.
	Logins   [][]byte
	Progress func(Progress) // called from the pulling goroutine; may be nil
}

// Progress is how far a pull has come. Bytes cover the layers seen so far.
type Progress struct {
	Status  string // the engine's word: Downloading, Extracting, …
	Current int64
	Total   int64
}

// LogOptions select from a container's log as the kubelet's /containerLogs does.
type LogOptions struct {
	Follow     bool
	Timestamps bool
	Tail       *int64     // lines from the end; nil for all
	Since      *time.Time // nil for all
	LimitBytes *int64     // nil for no limit
}
