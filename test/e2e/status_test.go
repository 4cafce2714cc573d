//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

func ready(p v1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.PodReady && c.Status == v1.ConditionTrue
	})
}

func inPhase(phase v1.PodPhase) func(v1.Pod) bool {
	return func(p v1.Pod) bool { return p.Status.Phase == phase }
}

// status is that of one container, of either kind.
func status(p v1.Pod, container string) v1.ContainerStatus {
	for _, s := range statuses(p) {
		if s.Name == container {
			return s
		}
	}
	return v1.ContainerStatus{}
}

func statuses(p v1.Pod) []v1.ContainerStatus {
	return slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
}

// waits reports that a container waits with this reason and these words.
func waits(container, reason, words string) func(v1.Pod) bool {
	return func(p v1.Pod) bool {
		w := status(p, container).State.Waiting
		return w != nil && (reason == "" || w.Reason == reason) && strings.Contains(w.Message, words)
	}
}

// containerID is the engine's id of a container, as the status shows it.
func containerID(s v1.ContainerStatus) string { return strings.TrimPrefix(s.ContainerID, "docker://") }

// describe says on one line how a pod is.
func describe(p v1.Pod) string {
	text := fmt.Sprintf("%s %s %s", p.Status.Phase, p.Status.Reason, p.Status.Message)
	for _, s := range statuses(p) {
		switch {
		case s.State.Running != nil:
			text += fmt.Sprintf("; %s#%d runs", s.Name, s.RestartCount)
		case s.State.Waiting != nil:
			text += fmt.Sprintf("; %s#%d waits: %s %s", s.Name, s.RestartCount, s.State.Waiting.Reason, s.State.Waiting.Message)
		case s.State.Terminated != nil:
			text += fmt.Sprintf("; %s#%d ended: %s %d", s.Name, s.RestartCount, s.State.Terminated.Reason, s.State.Terminated.ExitCode)
		}
	}
	return text
}
