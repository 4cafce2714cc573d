package plan

import (
	"cmp"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

func TestSyncReplacesTheSandbox(t *testing.T) {
	lostAddress := box(0, isRunning)
	lostAddress.IPs = nil
	again := box(0, isRunning)
	again.FinishedAt = epoch.Add(time.Minute)
	pod := aPod(v1.RestartPolicyAlways, "init:get", "web", "log")
	anew := []string{
		"create-sandbox 1: SandboxLost",
		"start-sandbox: SandboxLost | create-container get1: SandboxLost",
		"start-container get: SandboxLost",
		"create-container web1: SandboxLost | create-container log0: New",
	}
	down := []any{ended("get", 0, 0, 0, 0, time.Second), ended("web", 0, 0, 137, time.Second, time.Hour)}
	tests := []struct {
		name     string
		observed runtime.Pod
		stops    map[string]Stop
		steps    []string
		wake     time.Duration
	}{
		{
			name:     "pause died: first the containers are stopped, together (B160)",
			observed: shows(box(0, isExited), ended("get", 0, 0, 0, 0, time.Second), instance("web", 0, 0, isRunning), instance("log", 0, 0, isRunning)),
			steps:    []string{"signal web0 TERM: SandboxStale | signal log0 TERM: SandboxStale"},
			wake:     30 * time.Second,
		},
		{
			name:     "they are waited for",
			observed: shows(box(0, isExited), ended("get", 0, 0, 0, 0, time.Second), instance("web", 0, 0, isRunning)),
			stops:    map[string]Stop{"web0": {Signalled: at(2*time.Hour - 20*time.Second), Grace: 30 * time.Second}},
			wake:     10 * time.Second,
		},
		{
			name:     "and killed when their grace is over",
			observed: shows(box(0, isExited), ended("get", 0, 0, 0, 0, time.Second), instance("web", 0, 0, isRunning)),
			stops:    map[string]Stop{"web0": {Signalled: at(2*time.Hour - 30*time.Second), Grace: 30 * time.Second}},
			steps:    []string{"signal web0 KILL: GraceExpired"},
			wake:     2 * time.Second,
		},
		{
			name:     "then there is a new one, and init containers run again from the first",
			observed: shows(append(down, box(0, isExited))...),
			steps:    anew,
		},
		{
			name:     "the record of the sandbox is gone",
			observed: shows(down...),
			steps:    anew,
		},
		{
			name:     "a sandbox without an address is stopped before the new one comes",
			observed: shows(append(down, lostAddress)...),
			steps:    []string{"signal box0 TERM: SandboxStale"},
			wake:     2 * time.Second,
		},
		{
			name:     "one that was started again from outside is no home either",
			observed: shows(append(down, again)...),
			steps:    []string{"signal box0 TERM: SandboxStale"},
			wake:     2 * time.Second,
		},
		{
			name:     "of two that run none stays",
			observed: shows(append(down, box(0, isRunning), box(1, isRunning))...),
			steps:    []string{"signal box1 TERM: SandboxStale | signal box0 TERM: SandboxStale"},
			wake:     2 * time.Second,
		},
		{
			name:     "what was made in the dead sandbox makes room",
			observed: shows(box(0, isExited), ended("get", 0, 0, 0, 0, time.Second), instance("web", 0, 0, isCreated)),
			steps: []string{
				"remove web0: SandboxStale | create-sandbox 1: SandboxLost",
				anew[1], anew[2],
				"create-container web0: New | create-container log0: New",
			},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			in := input(pod, tc.observed, at(2*time.Hour))
			in.Stops = tc.stops
			d := Sync(in)
			checkSteps(t, d, tc.steps...)
			if want := cmp.Or(tc.wake, -1); d.Wake != want {
				t.Errorf("wakes after %v, want %v", d.Wake, want)
			}
			if d.Ready {
				t.Error("is ready")
			}
		})
	}
}

func TestSandboxAttemptsGoOnFromTheHistory(t *testing.T) {
	in := input(aPod(v1.RestartPolicyAlways, "web"), runtime.Pod{}, at(time.Hour))
	in.History.SandboxAttempt = 6
	if got := Sync(in).Steps[0][0]; got.Attempt != 7 || got.Reason != ReasonSandboxLost {
		t.Errorf("new sandbox is %+v, want attempt 7 for a lost one", got)
	}
}

// A sandbox that ends right after its start, again and again, must not be
// replaced in a busy loop.
func TestSandboxesThatKeepDyingArePaced(t *testing.T) {
	dead := func(attempt int, lived time.Duration) runtime.Sandbox {
		b := box(attempt, isExited)
		b.FinishedAt = b.StartedAt.Add(lived)
		return b
	}
	tests := []struct {
		name string
		box  runtime.Sandbox
		now  Moment
		wait time.Duration
	}{
		{name: "the first one is replaced at once", box: dead(0, time.Second), now: at(time.Second), wait: -1},
		{name: "the next one after a pause", box: dead(1, time.Second), now: at(4 * time.Second), wait: 7 * time.Second},
		{name: "which ends", box: dead(1, time.Second), now: at(11 * time.Second), wait: -1},
		{name: "one that lived is replaced at once", box: dead(5, 11*time.Second), now: at(11 * time.Second), wait: -1},
		{name: "a clock that was set back stops nothing", box: dead(1, time.Second), now: at(-time.Hour), wait: -1},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d := Sync(input(aPod(v1.RestartPolicyAlways, "web"), shows(tc.box), tc.now))
			if d.Wake != tc.wait || (len(d.Steps) == 0) != (tc.wait > 0) {
				t.Errorf("wakes after %v with steps %v, want %v", d.Wake, told(d), tc.wait)
			}
		})
	}
}
