// Package status turns what is known of a pod into what is shown of it: the
// kubelet's phase, condition and container-state rules over the pod, what the
// engine shows and what is remembered; and it keeps the newest of each pod for
// everything that shows pods. Generate is pure; Store is safe for concurrent
// use; nothing here runs by itself.
package status

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"

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
	// Drained is why nothing of the pod may run for now; "" when it may.
	Drained string
	// Terminating is true once the pod is to go or has run to its end: a
	// container that is not running then stays as it is.
	Terminating bool
}

// Generate returns the pod's status by the rules of the kubelet's
// generateAPIPodStatus, times cut to whole seconds.
func Generate(in Input) v1.PodStatus {
	s := v1.PodStatus{
		ObservedGeneration: in.Pod.Generation,
		QOSClass:           qos.GetPodQOS(in.Pod),
	}
	if refused(in) {
		s.Phase, s.Reason, s.Message = outcome(in, &s)
	} else {
		s.ContainerStatuses = regularStatuses(in)
		s.InitContainerStatuses = initStatuses(in)
		s.Phase, s.Reason, s.Message = outcome(in, &s)
		s.Conditions = conditions(in, &s)
		setAddresses(in, &s)
	}
	if !in.Started.IsZero() {
		s.StartTime = &metav1.Time{Time: in.Started}
	}
	normalize(in.Pod, &s)
	return s
}

// refused reports that the pod was found unfit: it ended before anything of it
// was made. Such a pod shows its reason and nothing else, as the kubelet's
// rejectPod leaves it.
func refused(in Input) bool {
	return in.Finished != nil &&
		len(in.Observed.Sandboxes)+len(in.Observed.Containers)+len(in.History.Containers) == 0
}

// outcome returns phase, reason and message. An end, once told, is final;
// reason and message stay while the phase does.
func outcome(in Input, s *v1.PodStatus) (v1.PodPhase, string, string) {
	before := in.Previous
	if terminal(before.Phase) {
		return before.Phase, before.Reason, before.Message
	}
	if in.Finished != nil {
		return in.Finished.Phase, in.Finished.Reason, in.Finished.Message
	}
	if in.Drained != "" && !in.Terminating {
		return drained(in, s)
	}
	now := phase(in, s)
	if now == before.Phase && !drainWord(before.Reason) {
		return now, before.Reason, before.Message
	}
	return now, "", ""
}

func terminal(p v1.PodPhase) bool { return p == v1.PodSucceeded || p == v1.PodFailed }
