package plan

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

const (
	isCreated = runtime.StateCreated
	isRunning = runtime.StateRunning
	isExited  = runtime.StateExited
	isUnknown = runtime.StateUnknown
)

func TestSyncBringsAPodUp(t *testing.T) {
	two := aPod(v1.RestartPolicyAlways, "web", "log")
	withInit := aPod(v1.RestartPolicyAlways, "init:get", "init:put", "web")
	tests := []struct {
		name     string
		pod      *v1.Pod
		gate     Gate
		prepared bool
		observed runtime.Pod
		steps    []string
		waiting  map[string]string
		ready    bool
	}{
		{
			name: "fresh: the containers are made beside the sandbox's start",
			pod:  two, gate: GateRun,
			steps: []string{
				"create-sandbox 0: New",
				"start-sandbox: New | create-container web0: New | create-container log0: New",
				"start-container web: New",
				"start-container log: New",
			},
			waiting: map[string]string{"web": "ContainerCreating", "log": "ContainerCreating"},
		},
		{
			name: "fresh with init containers: the others are made while the first one runs",
			pod:  withInit, gate: GateRun,
			steps: []string{
				"create-sandbox 0: New",
				"start-sandbox: New | create-container get0: New",
				"start-container get: New",
				"create-container put0: New | create-container web0: New",
			},
			waiting: map[string]string{"get": "PodInitializing", "put": "PodInitializing", "web": "PodInitializing"},
		},
		{
			name: "behind the first gate everything is made and nothing started",
			pod:  withInit, gate: GateCreate,
			steps: []string{
				"create-sandbox 0: Prepare",
				"create-container get0: Prepare | create-container put0: Prepare | create-container web0: Prepare",
			},
			waiting: map[string]string{"get": "PodInitializing", "put": "PodInitializing", "web": "PodInitializing"},
		},
		{
			name: "behind the first gate, all made",
			pod:  two, gate: GateCreate,
			observed: shows(box(0, isCreated), instance("web", 0, 0, isCreated), instance("log", 0, 0, isCreated)),
			waiting:  map[string]string{"web": "ContainerCreating", "log": "ContainerCreating"},
			ready:    true,
		},
		{
			name: "at the second gate the sandbox is started",
			pod:  two, gate: GateSandbox,
			observed: shows(box(0, isCreated), instance("web", 0, 0, isCreated), instance("log", 0, 0, isCreated)),
			steps:    []string{"start-sandbox box0: Prepare"},
			waiting:  map[string]string{"web": "ContainerCreating", "log": "ContainerCreating"},
		},
		{
			name: "behind the second gate, all done",
			pod:  withInit, gate: GateSandbox,
			observed: shows(box(0, isRunning), instance("get", 0, 0, isCreated), instance("put", 0, 0, isCreated), instance("web", 0, 0, isCreated)),
			waiting:  map[string]string{"get": "PodInitializing", "put": "PodInitializing", "web": "PodInitializing"},
			ready:    true,
		},
		{
			name: "when the gates open what was made is started",
			pod:  two, gate: GateRun, prepared: true,
			observed: shows(box(0, isRunning), instance("web", 0, 0, isCreated), instance("log", 0, 0, isCreated)),
			steps:    []string{"start-container web0: New", "start-container log0: New"},
			waiting:  map[string]string{"web": "ContainerCreating", "log": "ContainerCreating"},
		},
		{
			name: "the agent was killed before the sandbox's start",
			pod:  two, gate: GateRun,
			observed: shows(box(0, isCreated)),
			steps: []string{
				"start-sandbox box0: Resume | create-container web0: New | create-container log0: New",
				"start-container web: New",
				"start-container log: New",
			},
			waiting: map[string]string{"web": "ContainerCreating", "log": "ContainerCreating"},
		},
		{
			name: "the agent was killed between the containers' starts (B110)",
			pod:  two, gate: GateRun,
			observed: shows(box(0, isRunning), instance("web", 0, 0, isRunning), instance("log", 0, 0, isCreated)),
			steps:    []string{"start-container log0: Resume"},
			waiting:  map[string]string{"log": "ContainerCreating"},
		},
		{
			name: "all runs",
			pod:  two, gate: GateRun,
			observed: shows(box(0, isRunning), instance("web", 0, 0, isRunning), instance("log", 0, 0, isRunning)),
			ready:    true,
		},
		{
			name: "an init container runs",
			pod:  withInit, gate: GateRun,
			observed: shows(box(0, isRunning), instance("get", 0, 0, isRunning), instance("put", 0, 0, isCreated), instance("web", 0, 0, isCreated)),
			waiting:  map[string]string{"put": "PodInitializing", "web": "PodInitializing"},
		},
		{
			name: "an init container is done: the next one starts",
			pod:  withInit, gate: GateRun, prepared: true,
			observed: shows(box(0, isRunning), ended("get", 0, 0, 0, 0, time.Second), instance("put", 0, 0, isCreated), instance("web", 0, 0, isCreated)),
			steps:    []string{"start-container put0: New"},
			waiting:  map[string]string{"put": "PodInitializing", "web": "PodInitializing"},
		},
		{
			name: "all init containers are done: the regular ones start",
			pod:  withInit, gate: GateRun, prepared: true,
			observed: shows(box(0, isRunning), ended("get", 0, 0, 0, 0, time.Second), ended("put", 0, 0, 0, 0, time.Second), instance("web", 0, 0, isCreated)),
			steps:    []string{"start-container web0: New"},
			waiting:  map[string]string{"web": "PodInitializing"},
		},
		{
			name: "host network pods need no address",
			pod:  hostNetwork(aPod(v1.RestartPolicyAlways, "web")), gate: GateRun,
			observed: shows(runtime.Sandbox{ID: "box0", State: isRunning, HostNetwork: true}, instance("web", 0, 0, isRunning)),
			ready:    true,
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			in := input(tc.pod, tc.observed, at(time.Minute))
			in.Gate, in.Prepared = tc.gate, tc.prepared
			d := Sync(in)
			checkSteps(t, d, tc.steps...)
			checkWaiting(t, d, tc.waiting)
			if d.Ready != tc.ready {
				t.Errorf("ready is %v, want %v", d.Ready, tc.ready)
			}
			if d.Wake >= 0 {
				t.Errorf("wakes after %v, want never", d.Wake)
			}
		})
	}
}

func hostNetwork(p *v1.Pod) *v1.Pod {
	p.Spec.HostNetwork = true
	return p
}

func TestSyncKeepsContainersRunning(t *testing.T) {
	one := aPod(v1.RestartPolicyAlways, "web")
	withInit := aPod(v1.RestartPolicyAlways, "init:get", "web")
	tests := []struct {
		name     string
		pod      *v1.Pod
		observed runtime.Pod
		steps    []string
	}{
		{
			name:     "a first end is followed by a start at once",
			pod:      one,
			observed: shows(box(0, isRunning), ended("web", 0, 0, 1, 0, time.Minute)),
			steps:    []string{"create-container web1: ContainerExited", "start-container web: ContainerExited"},
		},
		{
			name:     "what is dead is left alone while something is to be started",
			pod:      one,
			observed: shows(box(0, isRunning), ended("web", 0, 0, 1, 0, time.Second), ended("web", 1, 0, 1, time.Second, 2*time.Second)),
			steps:    []string{"create-container web2: ContainerExited", "start-container web: ContainerExited"},
		},
		{
			name: "the dead instances before the newest go when all else is done",
			pod:  one,
			observed: shows(box(0, isRunning), ended("web", 0, 0, 1, 0, time.Second), ended("web", 1, 0, 1, time.Second, 2*time.Second),
				instance("web", 2, 0, isRunning)),
			steps: []string{"remove web0: DeadInstance"},
		},
		{
			name:     "init containers do not run again at a restart (B104)",
			pod:      withInit,
			observed: shows(box(0, isRunning), ended("get", 0, 0, 0, 0, time.Second), ended("web", 0, 0, 1, time.Second, time.Minute)),
			steps:    []string{"create-container web1: ContainerExited", "start-container web: ContainerExited"},
		},
		{
			name:     "nor when the record of the finished one was removed while the rest ran (B37)",
			pod:      withInit,
			observed: shows(box(0, isRunning), instance("web", 0, 0, isRunning)),
		},
		{
			name:     "a failed init container is tried again",
			pod:      withInit,
			observed: shows(box(0, isRunning), ended("get", 0, 0, 2, 0, time.Second), instance("web", 0, 0, isCreated)),
			steps:    []string{"create-container get1: InitFailed", "start-container get: InitFailed"},
		},
		{
			name: "so is one that was killed for its memory, whatever its exit code",
			pod:  withInit,
			observed: shows(box(0, isRunning), func() runtime.Container {
				c := ended("get", 0, 0, 0, 0, time.Second)
				c.Reason = "OOMKilled"
				return c
			}(), instance("web", 0, 0, isCreated)),
			steps: []string{"create-container get1: InitFailed", "start-container get: InitFailed"},
		},
		{
			name:     "what runs in another sandbox is stopped",
			pod:      one,
			observed: shows(box(0, isExited), box(1, isRunning), instance("web", 0, 0, isRunning)),
			steps:    []string{"signal web0 TERM: SandboxStale"},
		},
		{
			name:     "an older instance that somebody started is stopped",
			pod:      one,
			observed: shows(box(0, isRunning), instance("web", 0, 0, isRunning), instance("web", 1, 0, isRunning)),
			steps:    []string{"signal web0 TERM: SandboxStale"},
		},
		{
			name:     "what the engine cannot tell is removed first",
			pod:      one,
			observed: shows(box(0, isRunning), instance("web", 0, 0, isUnknown)),
			steps:    []string{"remove web0: UnknownState"},
		},
		{
			name:     "what the pod does not have is stopped",
			pod:      one,
			observed: shows(box(0, isRunning), instance("web", 0, 0, isRunning), instance("old", 0, 0, isRunning)),
			steps:    []string{"signal old0 TERM: SandboxStale"},
		},
		{
			name:     "a dead sandbox goes when it has no containers",
			pod:      one,
			observed: shows(box(0, isExited), box(1, isExited), box(2, isRunning), ended("web", 0, 1, 0, 0, time.Minute), instance("web", 1, 2, isRunning)),
			steps:    []string{"remove box0: SandboxStale"},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			checkSteps(t, Sync(input(tc.pod, tc.observed, at(2*time.Hour))), tc.steps...)
		})
	}
}

// B37: the records of an init container and of the regular one, which waits for
// its restart, are removed; nothing runs again that was done.
func TestInitContainersStayDoneWithoutTheirRecords(t *testing.T) {
	pod := aPod(v1.RestartPolicyAlways, "init:get", "init:put", "web")
	for _, tc := range []struct {
		name  string
		known []runtime.Container
		steps []string
	}{
		{
			name:  "both were done",
			known: []runtime.Container{ended("get", 0, 0, 0, 0, 1), ended("put", 0, 0, 0, 0, 1)},
			steps: []string{"create-container web0: New", "start-container web: New"},
		},
		{
			name:  "the first was",
			known: []runtime.Container{ended("get", 0, 0, 0, 0, 1)},
			steps: []string{"create-container put0: New", "start-container put: New", "create-container web0: New"},
		},
		{
			name:  "the second, and with it the first",
			known: []runtime.Container{ended("put", 0, 0, 0, 0, 1)},
			steps: []string{"create-container web0: New", "start-container web: New"},
		},
		{
			name:  "a regular one ran",
			known: []runtime.Container{ended("web", 0, 0, 1, 0, 1)},
			steps: []string{"create-container web1: ContainerExited", "start-container web: ContainerExited"},
		},
		{
			name:  "all was in an earlier sandbox",
			known: []runtime.Container{ended("get", 0, 7, 0, 0, 1), ended("put", 0, 7, 0, 0, 1)},
			steps: []string{
				"create-container get1: SandboxLost", "start-container get: SandboxLost",
				"create-container put1: SandboxLost | create-container web0: New",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := input(pod, shows(box(0, isRunning)), at(time.Hour))
			in.History, _, _ = NewHistory().Observe(pod, runtime.Pod{Containers: tc.known}, at(time.Second))
			checkSteps(t, Sync(in), tc.steps...)
		})
	}
}

// What a container was is remembered when its record is gone (docker rm, prune).
func TestSyncRespectsThePolicyFromHistory(t *testing.T) {
	ran := func(code int) History {
		h, _, _ := NewHistory().Observe(nil, shows(box(0, isRunning), ended("web", 3, 0, code, 0, time.Minute)), at(time.Minute))
		return h
	}
	vanished, _, _ := NewHistory().Observe(nil, shows(box(0, isRunning), instance("web", 3, 0, isRunning)), at(time.Minute))
	tests := []struct {
		name    string
		policy  v1.RestartPolicy
		history History
		steps   []string
		end     v1.PodPhase
	}{
		{name: "Always", policy: v1.RestartPolicyAlways, history: ran(0), steps: []string{"create-container web4: ContainerExited", "start-container web: ContainerExited"}},
		{name: "Always, it ran", policy: v1.RestartPolicyAlways, history: vanished, steps: []string{"create-container web4: ContainerLost", "start-container web: ContainerLost"}},
		{name: "OnFailure, it had failed", policy: v1.RestartPolicyOnFailure, history: ran(1), steps: []string{"create-container web4: ContainerExited", "start-container web: ContainerExited"}},
		{name: "OnFailure, it had succeeded", policy: v1.RestartPolicyOnFailure, history: ran(0), end: v1.PodSucceeded},
		{name: "Never, it had failed", policy: v1.RestartPolicyNever, history: ran(1), end: v1.PodFailed},
		{name: "Never, it ran", policy: v1.RestartPolicyNever, history: vanished, end: v1.PodFailed},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			in := input(aPod(tc.policy, "web"), shows(box(0, isRunning)), at(time.Hour))
			in.History = tc.history
			d := Sync(in)
			checkSteps(t, d, tc.steps...)
			checkEnd(t, d, tc.end)
		})
	}
}

// B158: after a reboot everything has ended; it runs again in a new sandbox,
// once each, with the restart count one up.
func TestSyncAfterAReboot(t *testing.T) {
	obs := shows(box(0, isExited), ended("get", 0, 0, 0, 0, 1), ended("web", 0, 0, 255, 0, time.Hour), ended("log", 4, 0, 137, 0, time.Hour))
	d := Sync(input(aPod(v1.RestartPolicyAlways, "init:get", "web", "log"), obs, at(2*time.Hour)))
	checkSteps(t, d,
		"create-sandbox 1: SandboxLost",
		"start-sandbox: SandboxLost | create-container get1: SandboxLost",
		"start-container get: SandboxLost",
		"create-container web1: SandboxLost | create-container log5: SandboxLost",
	)
}

func TestSyncWaits(t *testing.T) {
	pull := Image{Waiting: Waiting{Reason: "ImagePullBackOff", Message: "no such host"}}
	broken := Failure{Waiting: Waiting{Reason: "CreateContainerError", Message: "no space left"}, Retry: at(70 * time.Second)}
	tests := []struct {
		name     string
		pod      *v1.Pod
		observed runtime.Pod
		images   map[string]Image
		failures map[string]Failure
		steps    []string
		waiting  map[string]string
		wake     time.Duration
	}{
		{
			name:   "for an image; the other container goes on",
			pod:    aPod(v1.RestartPolicyAlways, "web", "log"),
			images: map[string]Image{"web": pull},
			steps: []string{
				"create-sandbox 0: New",
				"start-sandbox: New | create-container log0: New",
				"start-container log: New",
			},
			waiting: map[string]string{"web": "ImagePullBackOff", "log": "ContainerCreating"},
			wake:    -1,
		},
		{
			name:     "before it tries a failed create again",
			pod:      aPod(v1.RestartPolicyAlways, "web"),
			observed: shows(box(0, isRunning)),
			failures: map[string]Failure{"web": broken},
			waiting:  map[string]string{"web": "CreateContainerError"},
			wake:     10 * time.Second,
		},
		{
			name:     "and a failed start",
			pod:      aPod(v1.RestartPolicyAlways, "web"),
			observed: shows(box(0, isRunning), instance("web", 0, 0, isCreated)),
			failures: map[string]Failure{"web": broken},
			waiting:  map[string]string{"web": "CreateContainerError"},
			wake:     10 * time.Second,
		},
		{
			name:     "behind an init container, what is wrong already is told",
			pod:      aPod(v1.RestartPolicyAlways, "init:get", "web"),
			observed: shows(box(0, isRunning), instance("get", 0, 0, isRunning)),
			images:   map[string]Image{"web": pull},
			waiting:  map[string]string{"web": "ImagePullBackOff"},
			wake:     -1,
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			in := input(tc.pod, tc.observed, at(time.Minute))
			for name, image := range tc.images {
				in.Images[name] = image
			}
			in.Failures = tc.failures
			d := Sync(in)
			checkSteps(t, d, tc.steps...)
			checkWaiting(t, d, tc.waiting)
			if d.Wake != tc.wake {
				t.Errorf("wakes after %v, want %v", d.Wake, tc.wake)
			}
		})
	}
}

func TestSyncGraceZeroKillsAtOnce(t *testing.T) {
	pod := aPod(v1.RestartPolicyAlways, "web")
	*pod.Spec.TerminationGracePeriodSeconds = 0
	d := Sync(input(pod, shows(box(0, isExited), instance("web", 0, 0, isRunning)), at(2*time.Hour)))
	checkSteps(t, d, "signal web0 KILL: SandboxStale")
}
