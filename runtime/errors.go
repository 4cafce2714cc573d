package runtime

import (
	"errors"
	"fmt"
)

// Sentinels that every verb wraps, so that the agent can tell what to do
// without knowing the engine.
var (
	// ErrNotFound: the container, sandbox or image does not exist. Verbs that
	// stop or remove treat it as success and never return it.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable: the engine did not answer (no socket, refused, timed out,
	// shutting down). Nothing is known about the call's effect.
	ErrUnavailable = errors.New("engine unavailable")
	// ErrBusy: the engine has more urgent work, and nothing was done.
	ErrBusy = errors.New("engine busy")
	// ErrPortInUse: a host port could not be bound.
	ErrPortInUse = errors.New("host port in use")
	// ErrCannotRun: the engine could not run the container's process (no such
	// command, no permission): the attempt counts as made and failed.
	ErrCannotRun = errors.New("cannot run")
	// ErrNotRunning: the container does not run, or no longer.
	ErrNotRunning = errors.New("container is not running")
	// ErrSandboxGone: a container was to join a sandbox that is not running.
	ErrSandboxGone = errors.New("sandbox is not running")
	// ErrRefused: nothing listens on the port.
	ErrRefused = errors.New("connection refused")
	// ErrReadOnly: the place in a container cannot be written to.
	ErrReadOnly = errors.New("read-only file system")
	// ErrNoSpace: the engine's disk is full.
	ErrNoSpace = errors.New("no space left")
	// ErrInvalidImageName: the image reference cannot be parsed.
	ErrInvalidImageName = errors.New("invalid image name")
	// ErrRegistryUnavailable: the registry answered 502, 503 or 504, or not at all.
	ErrRegistryUnavailable = errors.New("registry unavailable")
	// ErrNetworkFull: the bridge carries as many sandboxes as it can.
	ErrNetworkFull = errors.New("pod network is full")
)

// Degraded is a note, not a failure: the engine refused something that is best
// effort (the sandbox's oom score on a kernel that withholds it) and the verb
// went on without it. The agent tells it as a Warning event of the pod.
type Degraded struct {
	Reason  string // CamelCase event reason
	Message string
}

// Error makes Degraded usable where only an error can travel.
func (d Degraded) Error() string { return fmt.Sprintf("%s: %s", d.Reason, d.Message) }
