package status

import (
	"cmp"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Reason is what kubectl get pods prints of a pod: the word of the STATUS
// column, ready and total containers, restarts and when the last of them was
// (zero for never). A pod that is to go shows as Terminating by its
// deletionTimestamp.
func Reason(pod *v1.Pod) (status string, ready, total, restarts int, lastRestart time.Time) {
	row := printed{pod: pod, total: len(pod.Spec.Containers)}
	row.reason = cmp.Or(pod.Status.Reason, string(pod.Status.Phase))
	if initializing := row.initContainers(); !initializing || conditionTrue(pod, v1.PodInitialized) {
		row.restarts, row.last = row.sidecarRestarts, row.sidecarLast
		row.containers()
	}
	if pod.DeletionTimestamp != nil && !terminal(pod.Status.Phase) {
		row.reason = "Terminating"
	}
	return row.reason, row.ready, row.total, row.restarts, row.last
}

// printed is a row in the making. Restarts of init containers count only until
// the pod is initialized, those of sidecars always.
type printed struct {
	pod             *v1.Pod
	reason          string
	ready, total    int
	restarts        int
	last            time.Time
	sidecarRestarts int
	sidecarLast     time.Time
}

// initContainers reads the init containers up to the first that is not done and
// reports whether there was one.
func (p *printed) initContainers() bool {
	sidecars := map[string]bool{}
	for i := range p.pod.Spec.InitContainers {
		if c := &p.pod.Spec.InitContainers[i]; sidecar(c) {
			sidecars[c.Name] = true
			p.total++
		}
	}
	for i := range p.pod.Status.InitContainerStatuses {
		s := &p.pod.Status.InitContainerStatuses[i]
		p.restarts += int(s.RestartCount)
		p.last = later(p.last, s)
		if sidecars[s.Name] {
			p.sidecarRestarts += int(s.RestartCount)
			p.sidecarLast = later(p.sidecarLast, s)
		}
		switch {
		case s.State.Terminated != nil && s.State.Terminated.ExitCode == 0:
		case sidecars[s.Name] && s.Started != nil && *s.Started:
			if s.Ready {
				p.ready++
			}
		default:
			p.reason = "Init:" + initReason(s, i, len(p.pod.Spec.InitContainers))
			return true
		}
	}
	return false
}

// initReason says how far an init container that is not done is.
func initReason(s *v1.ContainerStatus, done, of int) string {
	switch {
	case s.State.Terminated != nil:
		return endReason(s.State.Terminated)
	case s.State.Waiting != nil && s.State.Waiting.Reason != "" && s.State.Waiting.Reason != reasonInitializing:
		return s.State.Waiting.Reason
	}
	return fmt.Sprintf("%d/%d", done, of)
}

// containers reads the regular containers: the first that waits or has ended
// gives the word, unless all of those completed and others run on.
func (p *printed) containers() {
	running, failure := false, ""
	for i := len(p.pod.Status.ContainerStatuses) - 1; i >= 0; i-- {
		s := &p.pod.Status.ContainerStatuses[i]
		p.restarts += int(s.RestartCount)
		p.last = later(p.last, s)
		switch {
		case s.State.Waiting != nil && s.State.Waiting.Reason != "":
			p.reason = s.State.Waiting.Reason
		case s.State.Terminated != nil:
			p.reason = endReason(s.State.Terminated)
			if s.State.Terminated.ExitCode != 0 {
				failure = p.reason
			}
		case s.Ready && s.State.Running != nil:
			running = true
			p.ready++
		}
	}
	if p.reason != "Completed" {
		return
	}
	switch {
	case running && conditionTrue(p.pod, v1.PodReady):
		p.reason = "Running"
	case failure != "":
		p.reason = failure
	case running:
		p.reason = "NotReady"
	}
}

// endReason is a container's end in one word.
func endReason(t *v1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

// later is the later of t and the end before the container's newest start.
func later(t time.Time, s *v1.ContainerStatus) time.Time {
	if end := s.LastTerminationState.Terminated; end != nil && end.FinishedAt.After(t) {
		return end.FinishedAt.Time
	}
	return t
}

func conditionTrue(pod *v1.Pod, t v1.PodConditionType) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == t {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}
