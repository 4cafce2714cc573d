package status

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/runtime"
)

func TestPhase(t *testing.T) {
	const always, onFailure, never = v1.RestartPolicyAlways, v1.RestartPolicyOnFailure, v1.RestartPolicyNever
	crash := map[string]plan.Waiting{
		"a": {Reason: "CrashLoopBackOff"}, "b": {Reason: "CrashLoopBackOff"}, "init": {Reason: "CrashLoopBackOff"},
	}
	tests := []struct {
		name     string
		policy   v1.RestartPolicy
		init     bool
		observed []runtime.Container
		waiting  map[string]plan.Waiting
		finished *plan.Finished
		api      bool
		ending   bool
		want     v1.PodPhase
	}{
		{name: "nothing", policy: always, want: v1.PodPending},
		{name: "one of two waits", policy: always, observed: []runtime.Container{running("a", 0)}, want: v1.PodPending},
		{name: "both run", policy: always, observed: []runtime.Container{running("a", 0), running("b", 0)}, want: v1.PodRunning},
		{name: "one runs, one crashed", policy: never, observed: []runtime.Container{running("a", 0), exited("b", 0, 1)}, want: v1.PodRunning},
		{name: "CrashLoopBackOff is Running", policy: always, waiting: crash, observed: []runtime.Container{exited("a", 1, 1), exited("b", 1, 1)}, want: v1.PodRunning},
		{name: "all ended, Always", policy: always, observed: []runtime.Container{exited("a", 0, 0), exited("b", 0, 0)}, want: v1.PodRunning},
		{name: "all completed, Never", policy: never, observed: []runtime.Container{exited("a", 0, 0), exited("b", 0, 0)}, want: v1.PodSucceeded},
		{name: "one failed, Never", policy: never, observed: []runtime.Container{exited("a", 0, 0), exited("b", 0, 1)}, want: v1.PodFailed},
		{name: "all completed, OnFailure", policy: onFailure, observed: []runtime.Container{exited("a", 0, 0), exited("b", 0, 0)}, want: v1.PodSucceeded},
		{name: "one failed, OnFailure", policy: onFailure, observed: []runtime.Container{exited("a", 0, 0), exited("b", 0, 1)}, want: v1.PodRunning},
		{name: "init runs", policy: always, init: true, observed: []runtime.Container{running("init", 0)}, want: v1.PodPending},
		{name: "init failed, Never", policy: never, init: true, observed: []runtime.Container{exited("init", 0, 1)}, want: v1.PodFailed},
		{name: "init failed, Always", policy: always, init: true, waiting: crash, observed: []runtime.Container{exited("init", 0, 1)}, want: v1.PodPending},
		{name: "init runs again after the pod ran", policy: always, init: true, observed: []runtime.Container{running("init", 1), exited("a", 0, 1), exited("b", 0, 1)}, want: v1.PodPending},
		{name: "init done, all run", policy: always, init: true, observed: []runtime.Container{exited("init", 0, 0), running("a", 0), running("b", 0)}, want: v1.PodRunning},
		{name: "static pod ending stays Running", policy: always, ending: true, observed: []runtime.Container{exited("a", 0, 0), exited("b", 0, 137)}, want: v1.PodRunning},
		{name: "API pod ending has failed", policy: always, ending: true, api: true, observed: []runtime.Container{exited("a", 0, 0), exited("b", 0, 137)}, want: v1.PodFailed},
		{name: "API pod ending has succeeded", policy: always, ending: true, api: true, observed: []runtime.Container{exited("a", 0, 0), exited("b", 0, 0)}, want: v1.PodSucceeded},
		{
			name: "the pod's end wins", policy: always, finished: &plan.Finished{Phase: v1.PodFailed, Reason: "DeadlineExceeded"},
			observed: []runtime.Container{running("a", 0), running("b", 0)}, want: v1.PodFailed,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := podWith(test.policy, container("a", ""), container("b", ""))
			if test.init {
				pod.Spec.InitContainers = []v1.Container{container("init", "")}
			}
			if test.api {
				pod.Annotations = map[string]string{"kubernetes.io/config.source": "api"}
			}
			s := Generate(Input{
				Pod: pod, Observed: runtime.Pod{Containers: test.observed}, Waiting: test.waiting,
				Finished: test.finished, Terminating: test.ending,
			})
			if s.Phase != test.want {
				t.Errorf("phase %s, want %s", s.Phase, test.want)
			}
		})
	}
}

func TestPhaseOfSidecars(t *testing.T) {
	always := v1.ContainerRestartPolicyAlways
	tests := []struct {
		name     string
		observed []runtime.Container
		want     v1.PodPhase
	}{
		{name: "not started", want: v1.PodPending},
		{name: "started, the pod not", observed: []runtime.Container{running("side", 0)}, want: v1.PodPending},
		{name: "ended ones do not count", observed: []runtime.Container{exited("side", 0, 137), exited("a", 0, 0)}, want: v1.PodSucceeded},
		{name: "running on is not the end", observed: []runtime.Container{running("side", 0), exited("a", 0, 0)}, want: v1.PodRunning},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := podWith(v1.RestartPolicyNever, container("a", ""))
			pod.Spec.InitContainers = []v1.Container{{Name: "side", RestartPolicy: &always}}
			s := Generate(Input{Pod: pod, Observed: runtime.Pod{Containers: test.observed}})
			if s.Phase != test.want {
				t.Errorf("phase %s, want %s", s.Phase, test.want)
			}
		})
	}
}

// A phase never leaves Succeeded and Failed, and keeps its reason while it stays.
func TestPhaseIsKept(t *testing.T) {
	failed := v1.PodStatus{Phase: v1.PodFailed, Reason: "Evicted", Message: "low on memory"}
	pending := v1.PodStatus{Phase: v1.PodPending, Reason: "Held", Message: "waits"}
	tests := []struct {
		name     string
		previous v1.PodStatus
		finished *plan.Finished
		observed []runtime.Container
		want     v1.PodStatus // phase, reason, message
	}{
		{name: "Failed stays", previous: failed, observed: []runtime.Container{running("a", 0)}, want: failed},
		{name: "Failed stays over another end", previous: failed, finished: &plan.Finished{Phase: v1.PodSucceeded}, want: failed},
		{name: "reason stays with the phase", previous: pending, want: pending},
		{name: "reason goes with the phase", previous: pending, observed: []runtime.Container{running("a", 0)}, want: v1.PodStatus{Phase: v1.PodRunning}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := Generate(Input{
				Pod: podWith(v1.RestartPolicyAlways, container("a", "")), Observed: runtime.Pod{Containers: test.observed},
				Finished: test.finished, Previous: test.previous,
			})
			if s.Phase != test.want.Phase || s.Reason != test.want.Reason || s.Message != test.want.Message {
				t.Errorf("%s %s %q; want %s %s %q", s.Phase, s.Reason, s.Message, test.want.Phase, test.want.Reason, test.want.Message)
			}
		})
	}
}

func TestRefusedPodShowsOnlyWhy(t *testing.T) {
	s := Generate(Input{
		Pod: podWith(v1.RestartPolicyAlways, container("a", "")), HostIPs: []string{"10.0.0.1"},
		Finished: &plan.Finished{Phase: v1.PodFailed, Reason: "NodePorts", Message: "Pod was rejected: …"},
	})
	if s.Phase != v1.PodFailed || s.Reason != "NodePorts" || s.ContainerStatuses != nil || s.Conditions != nil {
		t.Errorf("got %+v", s)
	}
}

func TestAContainerThatIsRestartedIsNotDone(t *testing.T) {
	restart := &plan.Restart{Attempt: 0, Message: "ConfigMap default/x changed"}
	tests := []struct {
		name     string
		observed []runtime.Container
		ending   bool
		want     v1.PodPhase
		waits    bool
	}{
		{name: "stopped", observed: []runtime.Container{exited("a", 0, 0)}, want: v1.PodRunning, waits: true},
		{name: "the next is made", observed: []runtime.Container{inState(runtime.StateCreated, "a", 1), exited("a", 0, 0)}, want: v1.PodRunning, waits: true},
		{name: "the pod ends", observed: []runtime.Container{exited("a", 0, 0)}, ending: true, want: v1.PodSucceeded},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := Generate(Input{
				Pod:      podWith(v1.RestartPolicyNever, container("a", "")),
				Observed: runtime.Pod{Containers: test.observed}, Terminating: test.ending,
				History: history("a", plan.ContainerHistory{Ended: ended("a", 0, 0, ""), Restart: restart}),
				Waiting: map[string]plan.Waiting{"a": {Reason: reasonCreating}},
			})
			state := s.ContainerStatuses[0]
			if s.Phase != test.want || (state.State.Waiting != nil) != test.waits {
				t.Errorf("phase %s, container %+v", s.Phase, state)
			}
			if test.waits && state.LastTerminationState.Terminated == nil {
				t.Errorf("its last end is not shown: %+v", state)
			}
		})
	}
}
