package plan

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

func TestTerminate(t *testing.T) {
	quit := instance("web", 0, 0, isRunning)
	quit.StopSignal = "SIGQUIT"
	dead := shows(box(0, isExited), box(1, isExited), ended("web", 0, 0, 0, 0, 1), ended("web", 1, 1, 0, 1, 2))
	signalled := func(ago, grace time.Duration) map[string]Stop {
		return map[string]Stop{"web0": {Signalled: at(time.Hour - ago), Grace: grace}}
	}
	tests := []struct {
		name     string
		observed runtime.Pod
		stops    map[string]Stop
		grace    time.Duration
		reclaim  bool
		steps    []string
		wake     time.Duration
		gone     bool
	}{
		{
			name:     "all containers are signalled at once, each with its own signal",
			observed: shows(box(0, isRunning), quit, instance("log", 0, 0, isRunning)),
			grace:    5 * time.Second,
			steps:    []string{"signal web0 SIGQUIT: Terminating | signal log0 TERM: Terminating"},
			wake:     5 * time.Second,
		},
		{
			name:     "what never ran goes at once",
			observed: shows(box(0, isRunning), instance("web", 0, 0, isCreated), instance("log", 0, 0, isRunning)),
			grace:    5 * time.Second,
			steps:    []string{"remove web0: Terminating | signal log0 TERM: Terminating"},
			wake:     5 * time.Second,
		},
		{
			name:     "no grace, no TERM",
			observed: shows(box(0, isRunning), instance("web", 0, 0, isRunning)),
			steps:    []string{"signal web0 KILL: Terminating"},
			wake:     2 * time.Second,
		},
		{
			name:     "one second of grace is two",
			observed: shows(box(0, isRunning), instance("web", 0, 0, isRunning)),
			stops:    signalled(1500*time.Millisecond, time.Second), grace: time.Second,
			wake: 500 * time.Millisecond,
		},
		{
			name:     "a grace that was shortened meanwhile counts",
			observed: shows(box(0, isRunning), instance("web", 0, 0, isRunning)),
			stops:    signalled(6*time.Second, time.Minute), grace: 5 * time.Second,
			steps: []string{"signal web0 KILL: GraceExpired"},
			wake:  2 * time.Second,
		},
		{
			name:     "one that was lengthened does not",
			observed: shows(box(0, isRunning), instance("web", 0, 0, isRunning)),
			stops:    signalled(6*time.Second, 5*time.Second), grace: time.Minute,
			steps: []string{"signal web0 KILL: GraceExpired"},
			wake:  2 * time.Second,
		},
		{
			name:     "no more patience at all",
			observed: shows(box(0, isRunning), instance("web", 0, 0, isRunning)),
			stops:    signalled(time.Second, time.Minute),
			steps:    []string{"signal web0 KILL: Terminating"},
			wake:     2 * time.Second,
		},
		{
			name:     "after KILL its effect is waited for",
			observed: shows(box(0, isRunning), instance("web", 0, 0, isRunning)),
			stops:    signalled(time.Second, 0),
			wake:     time.Second,
		},
		{
			name:     "the sandbox comes last",
			observed: shows(box(0, isRunning), ended("web", 0, 0, 143, 0, 1)),
			grace:    5 * time.Second, reclaim: true,
			steps: []string{"signal box0 TERM: Terminating"},
			wake:  2 * time.Second,
		},
		{
			name:     "reclaimed is everything, side by side",
			observed: dead, reclaim: true,
			steps: []string{"remove web1: Terminating | remove web0: Terminating | remove box1: Terminating | remove box0: Terminating"},
			wake:  -1,
		},
		{
			name:     "a finished pod keeps the newest dead instance, for its log",
			observed: dead,
			steps:    []string{"remove web0: DeadInstance"},
			wake:     -1,
		},
		{
			name:     "a finished pod with nothing too much is gone",
			observed: shows(box(0, isExited), ended("web", 0, 0, 0, 0, 1)),
			wake:     -1, gone: true,
		},
		{name: "nothing there, nothing to do", reclaim: true, wake: -1, gone: true},
		{
			name:     "what the engine cannot tell is removed",
			observed: shows(box(0, isExited), instance("web", 0, 0, isUnknown)),
			steps:    []string{"remove web0: Terminating"},
			wake:     -1,
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d := Terminate(TerminateInput{
				Pod: aPod(v1.RestartPolicyAlways, "web", "log"), Observed: tc.observed, Stops: tc.stops,
				Grace: tc.grace, Reclaim: tc.reclaim, Now: at(time.Hour),
			})
			checkSteps(t, d, tc.steps...)
			if d.Wake != tc.wake || d.Gone != tc.gone {
				t.Errorf("wakes after %v, gone %v; want %v, %v", d.Wake, d.Gone, tc.wake, tc.gone)
			}
		})
	}
}

// An orphan without a record has no pod, and ends like any other.
func TestTerminateAnOrphan(t *testing.T) {
	d := Terminate(TerminateInput{
		Observed: shows(box(0, isRunning), instance("web", 0, 0, isRunning)),
		Grace:    2 * time.Second, Reclaim: true, Reason: ReasonSandboxStale, Message: "no source wants it", Now: at(time.Hour),
	})
	checkSteps(t, d, "signal web0 TERM: SandboxStale")
	if got := d.Steps[0][0].Message; got != "no source wants it" {
		t.Errorf("message is %q", got)
	}
}
