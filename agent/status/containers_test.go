package status

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/runtime"
)

// at is a moment of the tests' day, with a fraction to be cut.
func at(minute int) time.Time {
	return time.Date(2026, 1, 2, 3, minute, 0, 345e6, time.UTC)
}

func container(name, image string) v1.Container { return v1.Container{Name: name, Image: image} }

func podWith(policy v1.RestartPolicy, containers ...v1.Container) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "lamp-n1", Namespace: "default", UID: "u1"},
		Spec:       v1.PodSpec{RestartPolicy: policy, Containers: containers},
	}
}

func running(name string, attempt int) runtime.Container {
	return runtime.Container{ID: name + string(rune('0'+attempt)), Name: name, Attempt: attempt, State: runtime.StateRunning, Image: "i:1", ImageID: "docker://i", StartedAt: at(attempt)}
}

func exited(name string, attempt, code int) runtime.Container {
	c := running(name, attempt)
	c.State, c.ExitCode, c.Reason, c.FinishedAt = runtime.StateExited, code, "Error", at(attempt+1)
	if code == 0 {
		c.Reason = "Completed"
	}
	return c
}

func inState(state runtime.State, name string, attempt int) runtime.Container {
	c := running(name, attempt)
	c.State, c.StartedAt = state, time.Time{}
	return c
}

func history(name string, h plan.ContainerHistory) plan.History {
	return plan.History{Containers: map[string]plan.ContainerHistory{name: h}}
}

func ended(name string, attempt, code int, message string) *plan.Ended {
	c := exited(name, attempt, code)
	return &plan.Ended{ID: c.ID, Attempt: attempt, StartedAt: c.StartedAt, FinishedAt: c.FinishedAt, ExitCode: code, Reason: c.Reason, Message: message}
}

func vanished(name string, attempt int) *plan.Ended {
	e := ended(name, attempt, 137, messageVanished)
	e.Reason = reasonStatusUnknown
	return e
}

// brief is a container state in a few words.
func brief(s v1.ContainerState) string {
	switch {
	case s.Running != nil:
		return "running"
	case s.Terminated != nil:
		word := "ended " + s.Terminated.Reason
		if s.Terminated.Message != "" {
			word += ": " + s.Terminated.Message
		}
		return word
	case s.Waiting != nil:
		return strings.TrimSpace("waiting " + s.Waiting.Reason)
	}
	return ""
}

func TestContainerStatus(t *testing.T) {
	waiting := func(reason string) map[string]plan.Waiting {
		return map[string]plan.Waiting{"c": {Reason: reason, Message: "why"}}
	}
	tests := []struct {
		name     string
		policy   v1.RestartPolicy // default Always
		observed []runtime.Container
		history  plan.History
		waiting  map[string]plan.Waiting
		previous []v1.ContainerStatus
		ending   bool

		state, last string
		restarts    int32
		id          string
		ready       bool
	}{
		{name: "nothing yet", state: "waiting ContainerCreating"},
		{name: "nothing yet, for a reason", waiting: waiting("ErrImagePull"), state: "waiting ErrImagePull"},
		{name: "created", observed: []runtime.Container{inState(runtime.StateCreated, "c", 0)}, state: "waiting", id: "docker://c0"},
		{
			name: "created, for a reason", observed: []runtime.Container{inState(runtime.StateCreated, "c", 0)},
			waiting: waiting("ContainerCreating"), state: "waiting ContainerCreating", id: "docker://c0",
		},
		{name: "running", observed: []runtime.Container{running("c", 0)}, state: "running", id: "docker://c0", ready: true},
		{
			name: "running, whatever the plan says", observed: []runtime.Container{running("c", 1), exited("c", 0, 1)},
			waiting: waiting("CrashLoopBackOff"), state: "running", last: "ended Error", restarts: 1, id: "docker://c1", ready: true,
		},
		{
			name: "created again after a crash", observed: []runtime.Container{inState(runtime.StateCreated, "c", 1), exited("c", 0, 1)},
			state: "waiting", last: "ended Error", restarts: 1, id: "docker://c1",
		},
		{name: "ended", observed: []runtime.Container{exited("c", 0, 1)}, state: "ended Error", id: "docker://c0"},
		{
			name: "ended, about to restart", observed: []runtime.Container{exited("c", 0, 1)},
			waiting: map[string]plan.Waiting{"c": {Reason: "ContainerCreating"}}, state: "ended Error", id: "docker://c0",
		},
		{
			name: "ended, and kept from its restart (B137)", observed: []runtime.Container{exited("c", 0, 1)},
			waiting: waiting("ContainerCreating"), state: "waiting ContainerCreating", last: "ended Error", id: "docker://c0",
		},
		{
			name: "in crash back-off", observed: []runtime.Container{exited("c", 3, 1), exited("c", 2, 1)},
			waiting: waiting("CrashLoopBackOff"), state: "waiting CrashLoopBackOff", last: "ended Error", restarts: 3, id: "docker://c3",
		},
		{
			name: "Never stays ended", policy: v1.RestartPolicyNever, observed: []runtime.Container{exited("c", 0, 1)},
			waiting: waiting("CrashLoopBackOff"), state: "ended Error", id: "docker://c0",
		},
		{
			name: "OnFailure stays completed", policy: v1.RestartPolicyOnFailure, observed: []runtime.Container{exited("c", 0, 0)},
			waiting: waiting("CrashLoopBackOff"), state: "ended Completed", id: "docker://c0",
		},
		{
			name: "OnFailure restarts a failure", policy: v1.RestartPolicyOnFailure, observed: []runtime.Container{exited("c", 0, 2)},
			waiting: waiting("CrashLoopBackOff"), state: "waiting CrashLoopBackOff", last: "ended Error", id: "docker://c0",
		},
		{
			name: "of an ending pod stays ended", observed: []runtime.Container{exited("c", 0, 1)}, ending: true,
			waiting: waiting("CrashLoopBackOff"), state: "ended Error", id: "docker://c0",
		},
		{
			name: "cannot run (B113)", observed: []runtime.Container{{ID: "c0", Name: "c", State: runtime.StateExited, ExitCode: 127, Reason: "ContainerCannotRun", Message: "no such command"}},
			waiting: waiting("RunContainerError"), state: "waiting RunContainerError", last: "ended ContainerCannotRun: no such command", id: "docker://c0",
		},
		{
			name: "out of memory (B115)", observed: []runtime.Container{{ID: "c0", Name: "c", State: runtime.StateExited, ExitCode: 137, Reason: "OOMKilled"}},
			state: "ended OOMKilled", id: "docker://c0",
		},
		{
			name: "the message is the history's", observed: []runtime.Container{exited("c", 0, 1)},
			history: history("c", plan.ContainerHistory{Ended: ended("c", 0, 1, "no lamp oil")}),
			state:   "ended Error: no lamp oil", id: "docker://c0",
		},
		{
			name: "the message of the last run too", observed: []runtime.Container{running("c", 1), exited("c", 0, 1)},
			history: history("c", plan.ContainerHistory{Attempt: 1, Ended: ended("c", 0, 1, "no lamp oil")}),
			state:   "running", last: "ended Error: no lamp oil", restarts: 1, id: "docker://c1", ready: true,
		},
		{
			name: "pruned: the history has state and count", policy: v1.RestartPolicyNever,
			history: history("c", plan.ContainerHistory{Attempt: 4, Ended: ended("c", 4, 2, ""), Previous: ended("c", 3, 1, "")}),
			state:   "ended Error", last: "ended Error", restarts: 4, id: "docker://c4",
		},
		{
			name: "pruned: the last run of a running one", observed: []runtime.Container{running("c", 5)},
			history: history("c", plan.ContainerHistory{Attempt: 5, Ended: ended("c", 4, 2, "")}),
			state:   "running", last: "ended Error", restarts: 5, id: "docker://c5", ready: true,
		},
		{
			name: "the engine counts further than the history", observed: []runtime.Container{running("c", 5)},
			history: history("c", plan.ContainerHistory{Attempt: 2}), state: "running", restarts: 5, id: "docker://c5", ready: true,
		},
		{
			name:    "vanished while it ran",
			history: history("c", plan.ContainerHistory{Attempt: 2, Ended: vanished("c", 2)}),
			state:   "waiting ContainerCreating", last: "ended ContainerStatusUnknown: " + messageVanished, restarts: 3,
		},
		{
			name:    "vanished, not yet taken into the history",
			history: history("c", plan.ContainerHistory{Attempt: 2, Running: "c2", Ended: ended("c", 1, 1, "")}),
			state:   "waiting ContainerCreating", last: "ended ContainerStatusUnknown: " + messageVanished, restarts: 3,
		},
		{
			name: "vanished, in back-off", history: history("c", plan.ContainerHistory{Attempt: 2, Ended: vanished("c", 2)}),
			waiting: waiting("CrashLoopBackOff"), state: "waiting CrashLoopBackOff", last: "ended ContainerStatusUnknown: " + messageVanished, restarts: 3,
		},
		{
			name: "vanished, made again", observed: []runtime.Container{running("c", 3)},
			history: history("c", plan.ContainerHistory{Attempt: 3, Ended: vanished("c", 2)}),
			state:   "running", last: "ended ContainerStatusUnknown: " + messageVanished, restarts: 3, id: "docker://c3", ready: true,
		},
		{
			name: "vanished from an ending pod", ending: true,
			history: history("c", plan.ContainerHistory{Attempt: 2, Ended: vanished("c", 2)}),
			state:   "ended ContainerStatusUnknown: " + messageVanished, restarts: 2, id: "docker://c2",
		},
		{
			name: "unknown after running", observed: []runtime.Container{inState(runtime.StateUnknown, "c", 1)},
			history: history("c", plan.ContainerHistory{Attempt: 1, Running: "c1"}),
			state:   "ended ContainerStatusUnknown: " + messageUnlocated, restarts: 2, id: "docker://c1",
		},
		{name: "unknown, never seen running", observed: []runtime.Container{inState(runtime.StateUnknown, "c", 1)}, state: "waiting", restarts: 1, id: "docker://c1"},
		{
			name: "counts only rise (B113)", observed: []runtime.Container{running("c", 1)},
			previous: []v1.ContainerStatus{{Name: "c", RestartCount: 7}}, state: "running", restarts: 7, id: "docker://c1", ready: true,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.policy == "" {
				test.policy = v1.RestartPolicyAlways
			}
			s := Generate(Input{
				Pod:      podWith(test.policy, container("c", "i:1")),
				Observed: runtime.Pod{Containers: test.observed}, History: test.history, Waiting: test.waiting,
				Previous: v1.PodStatus{ContainerStatuses: test.previous}, Now: at(30), Terminating: test.ending,
			})
			got := s.ContainerStatuses[0]
			if state, last := brief(got.State), brief(got.LastTerminationState); state != test.state || last != test.last {
				t.Errorf("state %q, last %q\nwant  %q, last %q", state, last, test.state, test.last)
			}
			if got.RestartCount != test.restarts || got.ContainerID != test.id || got.Ready != test.ready {
				t.Errorf("restarts %d, id %q, ready %v; want %d, %q, %v", got.RestartCount, got.ContainerID, got.Ready, test.restarts, test.id, test.ready)
			}
			if got.Started == nil || *got.Started != (got.State.Running != nil) {
				t.Errorf("started = %v", got.Started)
			}
		})
	}
}

func TestImageOfAPrunedInstanceIsKept(t *testing.T) {
	in := Input{Pod: podWith(v1.RestartPolicyNever, container("c", "written:1")), Observed: runtime.Pod{Containers: []runtime.Container{exited("c", 0, 1)}}}
	before := Generate(in)
	in.Observed, in.History, in.Previous = runtime.Pod{}, history("c", plan.ContainerHistory{Ended: ended("c", 0, 1, "")}), before
	after := Generate(in)
	if got := after.ContainerStatuses[0]; got.Image != "i:1" || got.ImageID != "docker://i" {
		t.Errorf("image %q, %q after a prune", got.Image, got.ImageID)
	}
}

func TestStatusesAreInOrder(t *testing.T) {
	pod := podWith(v1.RestartPolicyAlways, container("z", ""), container("a", ""), container("m", ""))
	pod.Spec.InitContainers = []v1.Container{container("second", ""), container("first", "")}
	s := Generate(Input{Pod: pod})
	var names []string
	for _, c := range append(s.ContainerStatuses, s.InitContainerStatuses...) {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "a m z second first" {
		t.Errorf("order %q", got)
	}
}

func TestInitContainerStatus(t *testing.T) {
	tests := []struct {
		name     string
		observed []runtime.Container
		waiting  map[string]plan.Waiting
		state    string
		ready    bool
	}{
		{name: "not started", state: "waiting PodInitializing"},
		{name: "running is not ready", observed: []runtime.Container{running("init", 0)}, state: "running"},
		{name: "completed", observed: []runtime.Container{exited("init", 0, 0)}, state: "ended Completed", ready: true},
		{
			name: "completed is final", observed: []runtime.Container{exited("init", 0, 0)},
			waiting: map[string]plan.Waiting{"init": {Reason: "CrashLoopBackOff"}}, state: "ended Completed", ready: true,
		},
		{
			name: "failed, in back-off", observed: []runtime.Container{exited("init", 2, 1)},
			waiting: map[string]plan.Waiting{"init": {Reason: "CrashLoopBackOff"}}, state: "waiting CrashLoopBackOff",
		},
		{
			name: "forgotten, but the pod got past it (B37)", observed: []runtime.Container{running("c", 0)},
			state: "ended Completed: Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally", ready: true,
		},
		{name: "a created regular container proves nothing", observed: []runtime.Container{inState(runtime.StateCreated, "c", 0)}, state: "waiting PodInitializing"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := podWith(v1.RestartPolicyAlways, container("c", ""))
			pod.Spec.InitContainers = []v1.Container{container("init", "")}
			s := Generate(Input{Pod: pod, Observed: runtime.Pod{Containers: test.observed}, Waiting: test.waiting})
			got := s.InitContainerStatuses[0]
			if brief(got.State) != test.state || got.Ready != test.ready {
				t.Errorf("%q, ready %v; want %q, %v", brief(got.State), got.Ready, test.state, test.ready)
			}
		})
	}
}

func TestTerminationMessagesShareABudget(t *testing.T) {
	long := strings.Repeat("é", 4096)
	tests := []struct {
		name       string
		containers int
		want       int
	}{
		{name: "one has all of it", containers: 1, want: 8192},
		{name: "two have half each", containers: 2, want: 6144},
		{name: "no letter is cut in two", containers: 5, want: 2456},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := podWith(v1.RestartPolicyNever)
			for i := range test.containers {
				pod.Spec.Containers = append(pod.Spec.Containers, container(string(rune('a'+i)), ""))
			}
			s := Generate(Input{
				Pod: pod, Observed: runtime.Pod{Containers: []runtime.Container{exited("a", 0, 1)}},
				History: history("a", plan.ContainerHistory{Ended: ended("a", 0, 1, long)}),
			})
			if got := len(s.ContainerStatuses[0].State.Terminated.Message); got != test.want {
				t.Errorf("%d bytes, want %d", got, test.want)
			}
		})
	}
}
