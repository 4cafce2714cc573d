package status

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

// sourceAnnotation tells where a pod comes from; a pod of the API server says api.
const sourceAnnotation = "kubernetes.io/config.source"

// tally counts containers by what they mean for the phase.
type tally struct {
	initPending, initFailed int
	sidecarsPending         int
	running, waiting        int
	stopped, succeeded      int
}

// phase is the kubelet's getPhase. A container that waits but has run before
// counts as stopped, so a pod in CrashLoopBackOff is Running.
func phase(in Input, s *v1.PodStatus) v1.PodPhase {
	t := count(in, s)
	switch {
	case t.initFailed > 0 && in.Pod.Spec.RestartPolicy == v1.RestartPolicyNever:
		return v1.PodFailed
	case t.initPending > 0, t.sidecarsPending > 0 && !pastInit(in), t.waiting > 0:
		return v1.PodPending
	case t.running > 0:
		return v1.PodRunning
	case t.stopped == 0:
		return v1.PodPending
	}
	return stoppedPhase(in, t)
}

// stoppedPhase is the phase of a pod whose containers have all ended. A pod from
// the API server that is ending will not restart them, whatever its policy.
func stoppedPhase(in Input, t tally) v1.PodPhase {
	policy := in.Pod.Spec.RestartPolicy
	if in.Terminating && in.Pod.Annotations[sourceAnnotation] == "api" {
		policy = v1.RestartPolicyNever
	}
	switch {
	case policy == v1.RestartPolicyAlways, restarting(in):
		return v1.PodRunning
	case t.stopped == t.succeeded:
		return v1.PodSucceeded
	case policy == v1.RestartPolicyNever:
		return v1.PodFailed
	}
	return v1.PodRunning
}

// restarting reports that a container was stopped to be made again.
func restarting(in Input) bool {
	return !in.Terminating && slices.ContainsFunc(in.Pod.Spec.Containers, func(c v1.Container) bool {
		return in.History.Containers[c.Name].Restarting()
	})
}

func count(in Input, s *v1.PodStatus) tally {
	var t tally
	for i := range in.Pod.Spec.InitContainers {
		c := &in.Pod.Spec.InitContainers[i]
		if sidecar(c) {
			t.sidecar(find(s.InitContainerStatuses, c.Name))
		} else {
			t.init(find(s.InitContainerStatuses, c.Name))
		}
	}
	for i := range s.ContainerStatuses {
		t.regular(&s.ContainerStatuses[i])
	}
	return t
}

func (t *tally) init(s *v1.ContainerStatus) {
	end := end(s)
	switch {
	case end == nil:
		t.initPending++
	case end.ExitCode != 0:
		t.initFailed++
	}
}

func (t *tally) sidecar(s *v1.ContainerStatus) {
	switch {
	case s.State.Running != nil:
		t.running++
		if s.Started == nil || !*s.Started {
			t.sidecarsPending++
		}
	case end(s) == nil:
		t.sidecarsPending++
		t.waiting++
	}
}

func (t *tally) regular(s *v1.ContainerStatus) {
	end := end(s)
	switch {
	case s.State.Running != nil:
		t.running++
	case end == nil:
		t.waiting++
	default:
		t.stopped++
		if s.State.Terminated != nil && end.ExitCode == 0 {
			t.succeeded++
		}
	}
}

// end is how a container that does not run ended, nil if it never did.
func end(s *v1.ContainerStatus) *v1.ContainerStateTerminated {
	switch {
	case s.State.Terminated != nil:
		return s.State.Terminated
	case s.State.Waiting != nil:
		return s.LastTerminationState.Terminated
	}
	return nil
}
