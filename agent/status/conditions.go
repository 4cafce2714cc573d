package status

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/runtime"
)

// Reasons of conditions that are False, as the kubelet's.
const (
	reasonNotInitialized = "ContainersNotInitialized"
	reasonNotReady       = "ContainersNotReady"
	reasonGatesNotReady  = "ReadinessGatesNotReady"
	reasonCompleted      = "PodCompleted"
	reasonFailed         = "PodFailed"
)

// conditions are the pod's, those that others set first. Their transition time
// moves when their status does.
func conditions(in Input, s *v1.PodStatus) []v1.PodCondition {
	all := foreign(in)
	ready := containersReady(in, s)
	all = append(all,
		truth(v1.PodReadyToStartContainers, sandboxReady(in)),
		initialized(in, s),
		podReady(in, ready, all),
		ready,
		truth(v1.PodScheduled, true),
	)
	for i := range all {
		stamp(&all[i], in)
	}
	return all
}

func truth(t v1.PodConditionType, is bool) v1.PodCondition {
	c := v1.PodCondition{Type: t, Status: v1.ConditionFalse}
	if is {
		c.Status = v1.ConditionTrue
	}
	return c
}

func untrue(t v1.PodConditionType, reason, message string) v1.PodCondition {
	return v1.PodCondition{Type: t, Status: v1.ConditionFalse, Reason: reason, Message: message}
}

// foreign are the conditions that others set on the pod's object, and a
// disruption told before.
func foreign(in Input) []v1.PodCondition {
	var all []v1.PodCondition
	for _, c := range in.Pod.Status.Conditions {
		if !ours(c.Type) {
			all = append(all, c)
		}
	}
	for _, c := range in.Previous.Conditions {
		if c.Type == v1.DisruptionTarget {
			all = append(all, c)
		}
	}
	return all
}

func ours(t v1.PodConditionType) bool {
	switch t {
	case v1.PodReadyToStartContainers, v1.PodInitialized, v1.PodReady, v1.ContainersReady, v1.PodScheduled, v1.DisruptionTarget:
		return true
	}
	return false
}

// stamp gives a condition of ours its generation and the time of its last flip.
func stamp(c *v1.PodCondition, in Input) {
	if !ours(c.Type) || c.Type == v1.DisruptionTarget {
		return
	}
	c.ObservedGeneration = in.Pod.Generation
	c.LastTransitionTime = metav1.NewTime(in.Now)
	for _, before := range in.Previous.Conditions {
		if before.Type == c.Type && before.Status == c.Status {
			c.LastTransitionTime = before.LastTransitionTime
		}
	}
}

// sandboxReady reports that no new sandbox is needed: exactly one runs, the
// newest, in the right kind of network and with an address.
func sandboxReady(in Input) bool {
	newest, ok := in.Observed.Sandbox()
	if !ok || newest.State != runtime.StateRunning || newest.HostNetwork != in.Pod.Spec.HostNetwork {
		return false
	}
	older := func(s runtime.Sandbox) bool { return s.State == runtime.StateRunning }
	if slices.ContainsFunc(in.Observed.Sandboxes[1:], older) {
		return false
	}
	return newest.HostNetwork || len(newest.IPs) > 0
}

// initialized stays true once a regular container has started.
func initialized(in Input, s *v1.PodStatus) v1.PodCondition {
	if s.Phase == v1.PodSucceeded {
		return v1.PodCondition{Type: v1.PodInitialized, Status: v1.ConditionTrue, Reason: reasonCompleted}
	}
	begun := func(c v1.ContainerStatus) bool { return c.State.Running != nil || c.State.Terminated != nil }
	var missing []string
	for i := range in.Pod.Spec.InitContainers {
		c := &in.Pod.Spec.InitContainers[i]
		status := find(s.InitContainerStatuses, c.Name)
		if sidecar(c) && !*status.Started || !sidecar(c) && !status.Ready {
			missing = append(missing, c.Name)
		}
	}
	if len(missing) == 0 || slices.ContainsFunc(s.ContainerStatuses, begun) {
		return truth(v1.PodInitialized, true)
	}
	return untrue(v1.PodInitialized, reasonNotInitialized, fmt.Sprintf("containers with incomplete status: %s", missing))
}

// containersReady is true while every container that is to run on is ready.
func containersReady(in Input, s *v1.PodStatus) v1.PodCondition {
	switch s.Phase {
	case v1.PodSucceeded:
		return untrue(v1.ContainersReady, reasonCompleted, "")
	case v1.PodFailed:
		return untrue(v1.ContainersReady, reasonFailed, "")
	}
	var missing []string
	for i := range in.Pod.Spec.InitContainers {
		c := &in.Pod.Spec.InitContainers[i]
		if sidecar(c) && !find(s.InitContainerStatuses, c.Name).Ready {
			missing = append(missing, c.Name)
		}
	}
	for _, c := range in.Pod.Spec.Containers {
		if !find(s.ContainerStatuses, c.Name).Ready {
			missing = append(missing, c.Name)
		}
	}
	if len(missing) > 0 {
		return untrue(v1.ContainersReady, reasonNotReady, fmt.Sprintf("containers with unready status: %s", missing))
	}
	return truth(v1.ContainersReady, true)
}

// podReady is true while the containers are ready and every readiness gate is.
func podReady(in Input, containers v1.PodCondition, all []v1.PodCondition) v1.PodCondition {
	if containers.Status != v1.ConditionTrue {
		return untrue(v1.PodReady, containers.Reason, containers.Message)
	}
	var missing []string
	for _, gate := range in.Pod.Spec.ReadinessGates {
		i := slices.IndexFunc(all, func(c v1.PodCondition) bool { return c.Type == gate.ConditionType })
		switch {
		case i < 0:
			missing = append(missing, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType))
		case all[i].Status != v1.ConditionTrue:
			missing = append(missing, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %s", gate.ConditionType, all[i].Status))
		}
	}
	if len(missing) > 0 {
		return untrue(v1.PodReady, reasonGatesNotReady, strings.Join(missing, ", "))
	}
	return truth(v1.PodReady, true)
}
