package plan

import (
	"maps"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

func TestAnAskedRestart(t *testing.T) {
	all := []v1.RestartPolicy{v1.RestartPolicyAlways, v1.RestartPolicyOnFailure, v1.RestartPolicyNever}
	tests := []struct {
		name     string
		policies []v1.RestartPolicy
		observed runtime.Pod
		backOff  time.Duration // of a, since it ended a moment ago
		attempts map[string]int
		steps    []string
	}{
		{
			name: "all that runs is stopped, side by side", policies: all,
			observed: shows(box(0, isRunning), ended("get", 0, 0, 0, 0, 1), instance("a", 3, 0, isRunning), instance("b", 0, 0, isRunning)),
			attempts: map[string]int{"a": 4, "b": 1},
			steps:    []string{"signal a3 TERM: RestartAsked | signal b0 TERM: RestartAsked"},
		},
		{
			name: "what has ended is made again, whatever the policy", policies: all,
			observed: shows(box(0, isRunning), ended("get", 0, 0, 0, 0, 1), ended("a", 0, 0, 0, 0, time.Hour), instance("b", 0, 0, isRunning)),
			attempts: map[string]int{"a": 1, "b": 1},
			steps:    []string{"signal b0 TERM: RestartAsked", "create-container a1: RestartAsked", "start-container a: RestartAsked"},
		},
		{
			name: "a crash back-off is not waited for", policies: all[:2],
			observed: shows(box(0, isRunning), ended("get", 0, 0, 0, 0, 1), ended("a", 5, 0, 1, 0, time.Hour), ended("b", 0, 0, 0, 0, time.Hour)),
			backOff:  maxBackOff, attempts: map[string]int{"a": 6, "b": 1},
			steps: []string{
				"create-container a6: RestartAsked | create-container b1: RestartAsked",
				"start-container a: RestartAsked", "start-container b: RestartAsked",
			},
		},
		{
			name: "nor by what was made and not started", policies: all[:1],
			observed: shows(box(0, isRunning), ended("get", 0, 0, 0, 0, 1), instance("a", 6, 0, isCreated), ended("a", 5, 0, 1, 0, time.Hour), instance("b", 0, 0, isRunning)),
			backOff:  maxBackOff, attempts: map[string]int{"a": 6, "b": 1},
			steps: []string{"signal b0 TERM: RestartAsked", "start-container a6: Resume"},
		},
		{
			name: "an init container that failed", policies: all[:2],
			observed: shows(box(0, isRunning), ended("get", 2, 0, 1, 0, time.Hour)),
			backOff:  maxBackOff, attempts: map[string]int{"a": 0, "b": 0},
			steps: []string{
				"create-container get3: RestartAsked", "start-container get: RestartAsked",
				"create-container a0: New | create-container b0: New",
			},
		},
		{
			name: "nothing is there yet", policies: all,
			attempts: map[string]int{"a": 0, "b": 0},
			steps: []string{
				"create-sandbox 0: New", "start-sandbox: New | create-container get0: New",
				"start-container get: New", "create-container a0: New | create-container b0: New",
			},
		},
	}
	for _, test := range tests {
		for _, policy := range test.policies {
			t.Run(test.name+"/"+string(policy), func(t *testing.T) {
				in := input(aPod(policy, "init:get", "a", "b"), test.observed, at(time.Hour))
				in.History, _, _ = in.History.Observe(in.Pod, in.Observed, in.Now)
				for _, name := range []string{"a", "get"} {
					in.History = in.History.with(name, func(c *ContainerHistory) { c.BackOff = test.backOff })
				}
				var attempts map[string]int
				in.History, attempts = in.History.AskRestart(in.Pod, in.Observed, "asked for")
				if !maps.Equal(attempts, test.attempts) {
					t.Errorf("attempts to come: %v, want %v", attempts, test.attempts)
				}
				d := Sync(in)
				checkSteps(t, d, test.steps...)
				if d.Finished != nil {
					t.Errorf("it has finished: %+v", *d.Finished)
				}
			})
		}
	}
}

func TestAskedTwiceAtOnceIsRestartedOnce(t *testing.T) {
	in := input(aPod(v1.RestartPolicyAlways, "a"), shows(box(0, isRunning), instance("a", 0, 0, isRunning)), at(time.Hour))
	once, _ := in.History.AskRestart(in.Pod, in.Observed, "first")
	twice, attempts := once.AskRestart(in.Pod, in.Observed, "second")
	if r := twice.Containers["a"].Restart; r == nil || r.Message != "first" || attempts["a"] != 1 {
		t.Errorf("restart %+v to attempt %d", r, attempts["a"])
	}
	over := shows(box(0, isRunning), ended("a", 0, 0, 143, 0, time.Hour), instance("a", 1, 0, isRunning))
	in.History, _, _ = twice.Observe(in.Pod, over, in.Now)
	in.Observed = over
	checkSteps(t, Sync(in))
	if b := in.History.Containers["a"].BackOff; b != 0 {
		t.Errorf("it counts as a crash: %s", b)
	}
}
