package status

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// messageBudget is how many bytes of termination messages one pod may show.
const messageBudget = 12 << 10

// normalize cuts times to whole seconds, as they are in JSON, and shares the
// budget of termination messages evenly among the containers.
func normalize(pod *v1.Pod, s *v1.PodStatus) {
	if s.StartTime != nil {
		wholeSeconds(s.StartTime)
	}
	for i := range s.Conditions {
		wholeSeconds(&s.Conditions[i].LastProbeTime)
		wholeSeconds(&s.Conditions[i].LastTransitionTime)
	}
	budget := messageBudget / max(1, len(pod.Spec.Containers)+len(pod.Spec.InitContainers)+len(pod.Spec.EphemeralContainers))
	for _, statuses := range [][]v1.ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses} {
		for i := range statuses {
			normalizeState(&statuses[i].State, budget)
			normalizeState(&statuses[i].LastTerminationState, budget)
		}
	}
}

func normalizeState(s *v1.ContainerState, budget int) {
	if s.Running != nil {
		wholeSeconds(&s.Running.StartedAt)
	}
	if t := s.Terminated; t != nil {
		wholeSeconds(&t.StartedAt)
		wholeSeconds(&t.FinishedAt)
		if len(t.Message) > budget {
			t.Message = strings.ToValidUTF8(t.Message[:budget], "")
		}
	}
}

func wholeSeconds(t *metav1.Time) { *t = t.Rfc3339Copy() }
