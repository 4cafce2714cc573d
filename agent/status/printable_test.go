package status

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func run1(ready bool) v1.ContainerStatus {
	return v1.ContainerStatus{State: v1.ContainerState{Running: &v1.ContainerStateRunning{}}, Ready: ready, Started: &ready}
}

func waits(reason string) v1.ContainerStatus {
	return v1.ContainerStatus{State: waitingState(reason, "")}
}

func over(code, signal int32, reason string) v1.ContainerStatus {
	return v1.ContainerStatus{State: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: code, Signal: signal, Reason: reason}}}
}

// restarted is the status with a number of restarts, the last after an end at the minute.
func restarted(s v1.ContainerStatus, times int32, minute int) v1.ContainerStatus {
	s.RestartCount = times
	s.LastTerminationState.Terminated = &v1.ContainerStateTerminated{FinishedAt: metav1.NewTime(at(minute))}
	return s
}

func list(s ...v1.ContainerStatus) []v1.ContainerStatus { return s }

func TestReason(t *testing.T) {
	tests := []struct {
		name          string
		phase         v1.PodPhase
		reason        string
		init, regular []v1.ContainerStatus
		sidecars      int // how many of the init containers are
		conditions    []v1.PodConditionType
		deleted       bool

		want         string
		ready, total int
		restarts     int
		last         time.Time
	}{
		{name: "pending", phase: v1.PodPending, regular: list(waits("ContainerCreating")), want: "ContainerCreating", total: 1},
		{name: "waiting for no reason", phase: v1.PodPending, regular: list(waits("")), want: "Pending", total: 1},
		{name: "running", phase: v1.PodRunning, regular: list(run1(true), run1(true)), want: "Running", ready: 2, total: 2},
		{name: "one not ready", phase: v1.PodRunning, regular: list(run1(true), run1(false)), want: "Running", ready: 1, total: 2},
		{
			name: "crash loop", phase: v1.PodRunning, regular: list(restarted(waits("CrashLoopBackOff"), 3, 7), restarted(run1(true), 1, 5)),
			want: "CrashLoopBackOff", ready: 1, total: 2, restarts: 4, last: at(7),
		},
		{name: "the first container's word counts", phase: v1.PodPending, regular: list(waits("ErrImagePull"), waits("ImagePullBackOff")), want: "ErrImagePull", total: 2},
		{name: "completed", phase: v1.PodSucceeded, regular: list(over(0, 0, "Completed")), want: "Completed", total: 1},
		{name: "error", phase: v1.PodFailed, regular: list(over(3, 0, "Error")), want: "Error", total: 1},
		{name: "out of memory", phase: v1.PodFailed, regular: list(over(137, 0, "OOMKilled")), want: "OOMKilled", total: 1},
		{name: "exit code", phase: v1.PodFailed, regular: list(over(3, 0, "")), want: "ExitCode:3", total: 1},
		{name: "signal", phase: v1.PodFailed, regular: list(over(137, 9, "")), want: "Signal:9", total: 1},
		{
			name: "one completed, the pod is ready", phase: v1.PodRunning, regular: list(over(0, 0, "Completed"), run1(true)),
			conditions: []v1.PodConditionType{v1.PodReady}, want: "Running", ready: 1, total: 2,
		},
		{name: "one completed, one runs", phase: v1.PodRunning, regular: list(over(0, 0, "Completed"), run1(true)), want: "NotReady", ready: 1, total: 2},
		{name: "one completed, one failed", phase: v1.PodFailed, regular: list(over(0, 0, "Completed"), over(1, 0, "Error")), want: "Error", total: 2},
		{name: "refused", phase: v1.PodFailed, reason: "OutOfcpu", want: "OutOfcpu"},
		{name: "first init container", phase: v1.PodPending, init: list(run1(false), waits("PodInitializing")), regular: list(waits("PodInitializing")), want: "Init:0/2", total: 1},
		{name: "second init container", phase: v1.PodPending, init: list(over(0, 0, "Completed"), run1(false)), regular: list(waits("PodInitializing")), want: "Init:1/2", total: 1},
		{name: "init failed", phase: v1.PodFailed, init: list(over(1, 0, "Error")), regular: list(waits("PodInitializing")), want: "Init:Error", total: 1},
		{name: "init exit code", phase: v1.PodFailed, init: list(over(2, 0, "")), regular: list(waits("PodInitializing")), want: "Init:ExitCode:2", total: 1},
		{name: "init signal", phase: v1.PodFailed, init: list(over(137, 9, "")), regular: list(waits("PodInitializing")), want: "Init:Signal:9", total: 1},
		{
			name: "init crash loop", phase: v1.PodPending, init: list(restarted(waits("CrashLoopBackOff"), 2, 4)), regular: list(waits("PodInitializing")),
			want: "Init:CrashLoopBackOff", total: 1, restarts: 2, last: at(4),
		},
		{name: "init done", phase: v1.PodPending, init: list(over(0, 0, "Completed")), regular: list(waits("PodInitializing")), want: "PodInitializing", total: 1},
		{
			name: "restarts of init are forgotten once it is done", phase: v1.PodRunning, init: list(restarted(over(0, 0, "Completed"), 5, 2)),
			regular: list(restarted(run1(true), 1, 6)), want: "Running", ready: 1, total: 1, restarts: 1, last: at(6),
		},
		{
			name: "init runs again, but the pod is initialized", phase: v1.PodRunning, init: list(run1(false)), regular: list(over(255, 0, "Error")),
			conditions: []v1.PodConditionType{v1.PodInitialized}, want: "Error", total: 1,
		},
		{
			name: "a sidecar counts", phase: v1.PodRunning, init: list(restarted(run1(true), 2, 9)), sidecars: 1, regular: list(restarted(run1(true), 1, 5)),
			want: "Running", ready: 2, total: 2, restarts: 3, last: at(9),
		},
		{name: "terminating", phase: v1.PodRunning, deleted: true, regular: list(run1(true)), want: "Terminating", ready: 1, total: 1},
		{name: "ended before it was removed", phase: v1.PodSucceeded, deleted: true, regular: list(over(0, 0, "Completed")), want: "Completed", total: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := printable(test.init, test.regular, test.sidecars)
			pod.Status.Phase, pod.Status.Reason = test.phase, test.reason
			for _, c := range test.conditions {
				pod.Status.Conditions = append(pod.Status.Conditions, v1.PodCondition{Type: c, Status: v1.ConditionTrue})
			}
			if test.deleted {
				now := metav1.NewTime(at(0))
				pod.DeletionTimestamp = &now
			}
			got, ready, total, restarts, last := Reason(pod)
			if got != test.want || ready != test.ready || total != test.total || restarts != test.restarts || !last.Equal(test.last) {
				t.Errorf("%s %d/%d %d %v; want %s %d/%d %d %v", got, ready, total, restarts, last, test.want, test.ready, test.total, test.restarts, test.last)
			}
		})
	}
}

// printable is a pod whose containers have the statuses, the last init
// containers being sidecars.
func printable(init, regular []v1.ContainerStatus, sidecars int) *v1.Pod {
	always := v1.ContainerRestartPolicyAlways
	pod := &v1.Pod{}
	for i, s := range init {
		s.Name = string(rune('A' + i))
		c := v1.Container{Name: s.Name}
		if i >= len(init)-sidecars {
			c.RestartPolicy = &always
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, s)
	}
	for i, s := range regular {
		s.Name = string(rune('a' + i))
		pod.Spec.Containers = append(pod.Spec.Containers, v1.Container{Name: s.Name})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, s)
	}
	return pod
}
