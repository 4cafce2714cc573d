package plan

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

func TestDrain(t *testing.T) {
	tests := []struct {
		name     string
		policy   v1.RestartPolicy
		observed runtime.Pod
		steps    []string
		finished v1.PodPhase
	}{
		{
			name: "what runs is signalled, what never ran goes", policy: v1.RestartPolicyAlways,
			observed: shows(box(0, isRunning), instance("a", 2, 0, isRunning), instance("b", 0, 0, isCreated)),
			steps:    []string{"remove b0: Drained | signal a2 TERM: Drained"},
		},
		{
			name: "an init container too", policy: v1.RestartPolicyNever,
			observed: shows(box(0, isRunning), instance("get", 0, 0, isRunning)),
			steps:    []string{"signal get0 TERM: Drained"},
		},
		{
			name: "the sandbox last", policy: v1.RestartPolicyAlways,
			observed: shows(box(0, isRunning), ended("a", 0, 0, 143, 0, time.Hour), ended("b", 0, 0, 0, 0, time.Hour)),
			steps:    []string{"signal box0 TERM: Drained"},
		},
		{
			name: "and what is dead stays, for its log", policy: v1.RestartPolicyAlways,
			observed: shows(box(0, isExited), ended("a", 0, 0, 143, 0, time.Hour), ended("b", 0, 0, 0, 0, time.Hour)),
		},
		{
			name: "a job that was done before has finished", policy: v1.RestartPolicyNever,
			observed: shows(box(0, isRunning), ended("a", 0, 0, 0, 0, time.Hour), ended("b", 0, 0, 0, 0, time.Hour)),
			finished: v1.PodSucceeded,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := Drain(input(aPod(test.policy, "init:get", "a", "b"), test.observed, at(time.Hour)), "drained")
			checkSteps(t, d, test.steps...)
			if got := d.Finished; got == nil && test.finished != "" || got != nil && got.Phase != test.finished {
				t.Errorf("finished: %+v, want %q", got, test.finished)
			}
		})
	}
}

// What was stopped goes on where it was, whatever the policy: only what had come
// to its end by itself has.
func TestADrainedPodRunsAgain(t *testing.T) {
	for _, policy := range []v1.RestartPolicy{v1.RestartPolicyAlways, v1.RestartPolicyOnFailure, v1.RestartPolicyNever} {
		t.Run(string(policy), func(t *testing.T) {
			in := input(aPod(policy, "init:get", "a", "b"), runtime.Pod{}, at(time.Hour))
			running := shows(box(0, isRunning), ended("get", 0, 0, 0, 0, 1), instance("a", 0, 0, isRunning), ended("b", 0, 0, 0, 0, time.Hour))
			in.History, _, _ = in.History.Observe(in.Pod, running, in.Now)
			in.History = in.History.WithRestart("a", Restart{Attempt: 0, Reason: ReasonDrained, Message: "the node was drained"})
			in.Observed = shows(box(0, isExited), ended("get", 0, 0, 0, 0, 1), ended("a", 0, 0, 143, 0, time.Hour), ended("b", 0, 0, 0, 0, time.Hour))
			in.History, _, _ = in.History.Observe(in.Pod, in.Observed, in.Now)
			if d := Drain(in, ""); d.Finished != nil || len(d.Steps) > 0 || !d.Gone {
				t.Fatalf("at rest: %+v", d)
			}
			d := Sync(in)
			want := []string{
				"create-sandbox 1: SandboxLost", "start-sandbox: SandboxLost | create-container get1: SandboxLost",
				"start-container get: SandboxLost", "create-container a1: Drained",
			}
			if policy == v1.RestartPolicyAlways {
				want[3] += " | create-container b1: SandboxLost"
			}
			checkSteps(t, d, want...)
			if d.Finished != nil {
				t.Errorf("it has finished: %+v", *d.Finished)
			}
			if b := in.History.Containers["a"].BackOff; b != 0 {
				t.Errorf("it counts as a crash: %s", b)
			}
		})
	}
}
