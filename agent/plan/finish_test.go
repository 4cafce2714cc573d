package plan

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

func checkEnd(t *testing.T, d Decision, want v1.PodPhase) {
	t.Helper()
	got := v1.PodPhase("")
	if d.Finished != nil {
		got = d.Finished.Phase
	}
	if got != want {
		t.Errorf("finished as %q, want %q", got, want)
	}
}

func TestSyncTellsTheEnd(t *testing.T) {
	never, onFailure := v1.RestartPolicyNever, v1.RestartPolicyOnFailure
	cannotRun := ended("web", 0, 0, 127, 0, 0)
	cannotRun.Reason = "ContainerCannotRun"
	tests := []struct {
		name     string
		pod      *v1.Pod
		observed runtime.Pod
		end      v1.PodPhase
		steps    []string
	}{
		{name: "Never, all well", pod: aPod(never, "web"), observed: shows(box(0, isRunning), ended("web", 0, 0, 0, 0, 1)), end: v1.PodSucceeded},
		{name: "Never, one failed", pod: aPod(never, "web", "log"), observed: shows(box(0, isRunning), ended("web", 0, 0, 1, 0, 1), ended("log", 0, 0, 0, 0, 1)), end: v1.PodFailed},
		{name: "Never, one still runs", pod: aPod(never, "web", "log"), observed: shows(box(0, isRunning), ended("web", 0, 0, 1, 0, 1), instance("log", 0, 0, isRunning))},
		{name: "Never, the command cannot run: one try (B113)", pod: aPod(never, "web"), observed: shows(box(0, isRunning), cannotRun), end: v1.PodFailed},
		{name: "Never, an init container failed", pod: aPod(never, "init:get", "web"), observed: shows(box(0, isRunning), ended("get", 0, 0, 3, 0, 1)), end: v1.PodFailed},
		{name: "Never, the sandbox died over a run", pod: aPod(never, "web", "log"), observed: shows(box(0, isExited), ended("web", 0, 0, 137, 0, 1)), end: v1.PodFailed},
		{name: "Never, all had succeeded when the sandbox died", pod: aPod(never, "web"), observed: shows(box(0, isExited), ended("web", 0, 0, 0, 0, 1)), end: v1.PodSucceeded},
		{
			name: "Never, made and never started when the sandbox died: no run yet (B110)",
			pod:  aPod(never, "web"), observed: shows(box(0, isExited), instance("web", 0, 0, isCreated)),
			steps: []string{
				"remove web0: SandboxStale | create-sandbox 1: SandboxLost",
				"start-sandbox: SandboxLost | create-container web0: New",
				"start-container web: New",
			},
		},
		{name: "OnFailure, all well", pod: aPod(onFailure, "web"), observed: shows(box(0, isExited), ended("web", 0, 0, 0, 0, 1)), end: v1.PodSucceeded},
		{
			name: "OnFailure, after a reboot only what failed runs again",
			pod:  aPod(onFailure, "web", "log"), observed: shows(box(0, isExited), ended("web", 0, 0, 0, 0, 1), ended("log", 0, 0, 255, 0, 1)),
			steps: []string{
				"create-sandbox 1: SandboxLost",
				"start-sandbox: SandboxLost | create-container log1: SandboxLost",
				"start-container log: SandboxLost",
			},
		},
		{
			name: "OnFailure, the command cannot run: again (B113)",
			pod:  aPod(onFailure, "web"), observed: shows(box(0, isRunning), cannotRun),
			steps: []string{"create-container web1: ContainerExited", "start-container web: ContainerExited"},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d := Sync(input(tc.pod, tc.observed, at(2*time.Hour)))
			checkEnd(t, d, tc.end)
			checkSteps(t, d, tc.steps...)
		})
	}
}
