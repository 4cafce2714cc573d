package status

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/runtime"
)

func sandbox(ips ...string) runtime.Sandbox {
	return runtime.Sandbox{ID: "s0", State: runtime.StateRunning, IPs: ips}
}

func lines(conditions []v1.PodCondition) string {
	var b strings.Builder
	for _, c := range conditions {
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", c.Type, c.Status, c.Reason, c.Message)))
	}
	return b.String()
}

func TestConditions(t *testing.T) {
	tests := []struct {
		name     string
		policy   v1.RestartPolicy
		observed runtime.Pod
		waiting  map[string]plan.Waiting
		gate     *v1.PodCondition // set on the pod's object
		want     string
	}{
		{
			name: "nothing yet",
			want: `PodReadyToStartContainers False
Initialized False ContainersNotInitialized containers with incomplete status: [init]
Ready False ContainersNotReady containers with unready status: [b a]
ContainersReady False ContainersNotReady containers with unready status: [b a]
PodScheduled True
`,
		},
		{
			name:     "init done, one of two runs",
			observed: runtime.Pod{Sandboxes: []runtime.Sandbox{sandbox("10.112.0.2")}, Containers: []runtime.Container{exited("init", 0, 0), running("b", 0)}},
			want: `PodReadyToStartContainers True
Initialized True
Ready False ContainersNotReady containers with unready status: [a]
ContainersReady False ContainersNotReady containers with unready status: [a]
PodScheduled True
`,
		},
		{
			name:     "all run",
			observed: runtime.Pod{Sandboxes: []runtime.Sandbox{sandbox("10.112.0.2")}, Containers: []runtime.Container{exited("init", 0, 0), running("b", 0), running("a", 0)}},
			want: `PodReadyToStartContainers True
Initialized True
Ready True
ContainersReady True
PodScheduled True
`,
		},
		{
			name:     "init runs again, but the pod got past it",
			observed: runtime.Pod{Containers: []runtime.Container{running("init", 1), exited("b", 0, 1), exited("a", 0, 1)}},
			want: `PodReadyToStartContainers False
Initialized True
Ready False ContainersNotReady containers with unready status: [b a]
ContainersReady False ContainersNotReady containers with unready status: [b a]
PodScheduled True
`,
		},
		{
			name: "succeeded", policy: v1.RestartPolicyNever,
			observed: runtime.Pod{Containers: []runtime.Container{exited("init", 0, 0), exited("b", 0, 0), exited("a", 0, 0)}},
			want: `PodReadyToStartContainers False
Initialized True PodCompleted
Ready False PodCompleted
ContainersReady False PodCompleted
PodScheduled True
`,
		},
		{
			name: "failed in init", policy: v1.RestartPolicyNever,
			observed: runtime.Pod{Containers: []runtime.Container{exited("init", 0, 1)}},
			want: `PodReadyToStartContainers False
Initialized False ContainersNotInitialized containers with incomplete status: [init]
Ready False PodFailed
ContainersReady False PodFailed
PodScheduled True
`,
		},
		{
			name:     "a foreign condition gates",
			observed: runtime.Pod{Sandboxes: []runtime.Sandbox{sandbox("10.112.0.2")}, Containers: []runtime.Container{exited("init", 0, 0), running("b", 0), running("a", 0)}},
			gate:     &v1.PodCondition{Type: "site/lit", Status: v1.ConditionFalse},
			want: `site/lit False
PodReadyToStartContainers True
Initialized True
Ready False ReadinessGatesNotReady the status of pod readiness gate "site/lit" is not "True", but False
ContainersReady True
PodScheduled True
`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := podWith(test.policy, container("b", ""), container("a", ""))
			pod.Spec.InitContainers = []v1.Container{container("init", "")}
			if test.gate != nil {
				pod.Spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: test.gate.Type}}
				pod.Status.Conditions = []v1.PodCondition{*test.gate, {Type: v1.PodReady, Status: v1.ConditionTrue}}
			}
			s := Generate(Input{Pod: pod, Observed: test.observed, Waiting: test.waiting, Now: at(5)})
			if got := lines(s.Conditions); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

func TestSandboxReady(t *testing.T) {
	dead, host := sandbox("10.112.0.2"), sandbox()
	dead.State, host.HostNetwork = runtime.StateExited, true
	tests := []struct {
		name        string
		hostNetwork bool
		sandboxes   []runtime.Sandbox
		want        bool
	}{
		{name: "none"},
		{name: "running with an address", sandboxes: []runtime.Sandbox{sandbox("10.112.0.2")}, want: true},
		{name: "running without", sandboxes: []runtime.Sandbox{sandbox()}},
		{name: "dead", sandboxes: []runtime.Sandbox{dead}},
		{name: "an older one is dead", sandboxes: []runtime.Sandbox{sandbox("10.112.0.2"), dead}, want: true},
		{name: "an older one runs too", sandboxes: []runtime.Sandbox{sandbox("10.112.0.2"), sandbox("10.112.0.3")}},
		{name: "host network", hostNetwork: true, sandboxes: []runtime.Sandbox{host}, want: true},
		{name: "wrong network", sandboxes: []runtime.Sandbox{host}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := podWith(v1.RestartPolicyAlways)
			pod.Spec.HostNetwork = test.hostNetwork
			if got := sandboxReady(Input{Pod: pod, Observed: runtime.Pod{Sandboxes: test.sandboxes}}); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestTransitionTimesMoveOnFlipsOnly(t *testing.T) {
	in := Input{Pod: podWith(v1.RestartPolicyAlways, container("a", "")), Now: at(5)}
	in.Pod.Generation = 3
	first := Generate(in)
	in.Previous, in.Now = first, at(6)
	second := Generate(in)
	in.Previous, in.Now = second, at(7)
	in.Observed = runtime.Pod{Sandboxes: []runtime.Sandbox{sandbox("10.112.0.2")}, Containers: []runtime.Container{running("a", 0)}}
	third := Generate(in)

	want := map[v1.PodConditionType][3]int{
		v1.PodReadyToStartContainers: {5, 5, 7}, v1.PodInitialized: {5, 5, 5}, v1.PodReady: {5, 5, 7},
		v1.ContainersReady: {5, 5, 7}, v1.PodScheduled: {5, 5, 5},
	}
	for round, s := range []v1.PodStatus{first, second, third} {
		for _, c := range s.Conditions {
			if got := c.LastTransitionTime; !got.Equal(&metav1.Time{Time: at(want[c.Type][round]).Truncate(1e9)}) {
				t.Errorf("round %d: %s moved at %v", round, c.Type, got)
			}
			if c.ObservedGeneration != 3 {
				t.Errorf("%s observed generation %d", c.Type, c.ObservedGeneration)
			}
		}
	}
}

func TestAddresses(t *testing.T) {
	dead := sandbox("10.112.0.2")
	dead.State = runtime.StateExited
	before := v1.PodStatus{PodIP: "10.112.0.9", PodIPs: []v1.PodIP{{IP: "10.112.0.9"}}}
	tests := []struct {
		name        string
		hostNetwork bool
		sandboxes   []runtime.Sandbox
		previous    v1.PodStatus
		want        string
	}{
		{name: "none yet", want: ""},
		{name: "one per family, in order", sandboxes: []runtime.Sandbox{sandbox("fd00::2", "10.112.0.2", "10.112.0.3")}, want: "fd00::2 10.112.0.2"},
		{name: "kept after the end", sandboxes: []runtime.Sandbox{dead}, previous: before, want: "10.112.0.9"},
		{name: "a new sandbox's own", sandboxes: []runtime.Sandbox{sandbox("10.112.0.5")}, previous: before, want: "10.112.0.5"},
		{name: "host network has the node's", hostNetwork: true, want: "192.0.2.1 2001:db8::1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := podWith(v1.RestartPolicyAlways)
			pod.Spec.HostNetwork = test.hostNetwork
			s := Generate(Input{
				Pod: pod, Observed: runtime.Pod{Sandboxes: test.sandboxes}, Previous: test.previous,
				HostIPs: []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"},
			})
			var got []string
			for _, ip := range s.PodIPs {
				got = append(got, ip.IP)
			}
			if text := strings.Join(got, " "); text != test.want || len(got) > 0 && s.PodIP != got[0] {
				t.Errorf("podIPs %q, podIP %q; want %q", text, s.PodIP, test.want)
			}
			if s.HostIP != "192.0.2.1" || len(s.HostIPs) != 2 {
				t.Errorf("hostIP %q, hostIPs %v", s.HostIP, s.HostIPs)
			}
		})
	}
}
