package agent

import "fmt"

// Phase is where a worker is in its pod's life. It only goes forward.
type Phase int

// The phases.
const (
	// Preparing: a predecessor or a holder of something it needs still stands in
	// its way; nothing of its own runs.
	Preparing Phase = iota
	// Syncing: containers are started and kept running.
	Syncing
	// Terminating: the pod is to end; nothing is started any more.
	Terminating
	// Terminated: nothing of it runs. A pod that finished stays here, for its
	// logs and its status, until its manifest goes.
	Terminated
)

// String is the word for logs.
func (p Phase) String() string {
	switch p {
	case Preparing:
		return "Preparing"
	case Syncing:
		return "Syncing"
	case Terminating:
		return "Terminating"
	case Terminated:
		return "Terminated"
	}
	return fmt.Sprintf("Phase(%d)", int(p))
}

// Advance returns next, or an error when that would go backwards. Staying is no
// step and always right; a pod may be terminated from anywhere.
func (p Phase) Advance(next Phase) (Phase, error) {
	if next < p {
		return p, fmt.Errorf("advance pod from %s to %s: a pod's life only goes forward", p, next)
	}
	return next, nil
}
