// Package status turns what is known of a pod into what is shown of it: the
// kubelet's phase, condition and container-state rules over the pod, what the
// engine shows and what is remembered; and it keeps the newest of each pod for
// everything that shows pods. Generate is pure; Store is safe for concurrent
// use; nothing here runs by itself.
package status

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/runtime"
)

// Input is all that a pod's status depends on.
type Input struct {
	Pod      *v1.Pod // defaulted and identified
	Observed runtime.Pod
	History  plan.History
	// Waiting says, by container name, why a container that is not running is
	// not: the planner's words.
	Waiting map[string]plan.Waiting
	// Finished is set when the pod ran to its end or was refused.
	Finished *plan.Finished
	// Started becomes status.startTime; zero for not yet.
	Started time.Time
	// HostIPs of the node, its primary family first.
	HostIPs []string
	// Previous is the status generated before, for transition times and because
	// a phase never leaves Succeeded and Failed.
	Previous v1.PodStatus
	Now      time.Time
	// Terminating is true once the pod is to go or has run to its end: a
	// container that is not running then stays as it is.
	Terminating bool
}

// Generate returns the pod's status.
func Generate(in Input) v1.PodStatus {
	return v1.PodStatus{Phase: v1.PodPending}
}
