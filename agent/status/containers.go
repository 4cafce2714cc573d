package status

import (
	"cmp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/runtime"
)

// Waiting reasons of a container that nothing has happened to yet.
const (
	reasonCreating     = "ContainerCreating"
	reasonInitializing = "PodInitializing"
)

// regularStatuses are the statuses of the regular containers, by name.
func regularStatuses(in Input) []v1.ContainerStatus {
	var all []v1.ContainerStatus
	for i := range in.Pod.Spec.Containers {
		all = append(all, containerStatus(in, &in.Pod.Spec.Containers[i], false))
	}
	slices.SortFunc(all, func(a, b v1.ContainerStatus) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// initStatuses are the statuses of the init containers, in their order. One of
// which nothing is known has run to its end if a regular container exists: they
// are made only after it.
func initStatuses(in Input) []v1.ContainerStatus {
	var all []v1.ContainerStatus
	for i := range in.Pod.Spec.InitContainers {
		c := &in.Pod.Spec.InitContainers[i]
		s := containerStatus(in, c, true)
		if s.ContainerID == "" && s.State.Waiting != nil && !sidecar(c) && pastInit(in) {
			s.State = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
				Reason:  "Completed",
				Message: "Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally",
			}}
			s.Ready = true
		}
		all = append(all, s)
	}
	return all
}

// pastInit reports that a regular container runs. A created one proves nothing
// here: they are made while init containers still run.
func pastInit(in Input) bool {
	return slices.ContainsFunc(in.Pod.Spec.Containers, func(c v1.Container) bool {
		newest, ok := in.Observed.Newest(c.Name)
		return ok && newest.State == runtime.StateRunning
	})
}

// containerStatus is the status of one container: its newest instance gives the
// state, the newest ended one before it the last state.
func containerStatus(in Input, c *v1.Container, init bool) v1.ContainerStatus {
	previous := in.Previous.ContainerStatuses
	if init {
		previous = in.Previous.InitContainerStatuses
	}
	before := find(previous, c.Name)
	history := in.History.Containers[c.Name]
	runs := runsOf(c.Name, in.Observed, history)
	s := v1.ContainerStatus{
		Name:         c.Name,
		Image:        c.Image,
		RestartCount: int32(history.Attempt),
		VolumeMounts: volumeMounts(c),
		State:        waitingState(defaultReason(in.Pod), ""),
	}
	if len(runs) > 0 {
		show(&s, runs, before, in.Terminating)
	}
	if w, ok := in.Waiting[c.Name]; ok && mayWait(in, c, init, runs, w) {
		if s.State.Terminated != nil {
			s.LastTerminationState = s.State
		}
		s.State = waitingState(w.Reason, w.Message)
	}
	if before != nil {
		s.RestartCount = max(s.RestartCount, before.RestartCount)
	}
	started := s.State.Running != nil
	s.Started = &started
	s.Ready = started
	if init && !sidecar(c) {
		s.Ready = s.State.Terminated != nil && s.State.Terminated.ExitCode == 0
	}
	return s
}

// show fills in what the instances tell. A lost one is about to be made again,
// which counts as a restart, unless the pod is ending; while its successor is
// not there the container waits, with the loss as its last state.
func show(s *v1.ContainerStatus, runs []run, before *v1.ContainerStatus, ending bool) {
	newest := runs[0]
	s.RestartCount = max(s.RestartCount, int32(newest.attempt))
	if newest.lost && !ending {
		s.RestartCount++
	}
	if newest.gone && !ending {
		s.LastTerminationState.Terminated = lostState(newest, messageVanished)
		return
	}
	s.ContainerID = containerID(newest.id)
	s.Image, s.ImageID = shownImage(newest, s.Image, before)
	s.State = stateOf(newest)
	for _, older := range runs[1:] {
		if older.ended() {
			s.LastTerminationState = stateOf(older)
			return
		}
	}
}

// stateOf is the state of one instance. A created one waits, for no reason that
// the engine knows.
func stateOf(r run) v1.ContainerState {
	switch {
	case r.lost:
		return v1.ContainerState{Terminated: lostState(r, cmp.Or(r.message, messageUnlocated))}
	case r.state == runtime.StateRunning:
		return v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.NewTime(r.startedAt)}}
	case r.state == runtime.StateExited:
		return v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
			ExitCode: int32(r.exitCode), Reason: r.reason, Message: r.message,
			StartedAt: metav1.NewTime(r.startedAt), FinishedAt: metav1.NewTime(r.finishedAt),
			ContainerID: containerID(r.id),
		}}
	}
	return waitingState("", "")
}

// lostState is an end of which nobody saw more than that it was one. It bears no
// container's ID: there is none to look at.
func lostState(r run, message string) *v1.ContainerStateTerminated {
	return &v1.ContainerStateTerminated{
		ExitCode: exitUnknown, Reason: reasonStatusUnknown, Message: message,
		StartedAt: metav1.NewTime(r.startedAt), FinishedAt: metav1.NewTime(r.finishedAt),
	}
}

func waitingState(reason, message string) v1.ContainerState {
	return v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// mayWait reports that the planner's reason for not running is to be shown: not
// of a container that runs or is done for good, and an ended one keeps its end
// while all there is to say is that it will be made again. What keeps it from
// that, a volume that is missing for one, is more to say.
func mayWait(in Input, c *v1.Container, init bool, runs []run, why plan.Waiting) bool {
	if len(runs) == 0 {
		return true
	}
	newest := runs[0]
	switch {
	case newest.state == runtime.StateRunning:
		return false
	case !newest.ended():
		return true
	case in.Terminating:
		return false
	case newest.lost, in.History.Containers[c.Name].Restarting():
		return true
	case why.Message == "" && (why.Reason == "" || why.Reason == reasonCreating || why.Reason == reasonInitializing):
		return false
	}
	return restarts(in.Pod.Spec.RestartPolicy, c, init, newest.exitCode)
}

// restarts reports whether a container that ended with the code runs again.
func restarts(policy v1.RestartPolicy, c *v1.Container, init bool, code int) bool {
	switch {
	case sidecar(c):
		return true
	case policy == v1.RestartPolicyNever:
		return false
	case init || policy == v1.RestartPolicyOnFailure:
		return code != 0
	}
	return true
}

// sidecar reports an init container that runs beside the regular ones.
func sidecar(c *v1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways
}

func defaultReason(pod *v1.Pod) string {
	if len(pod.Spec.InitContainers) > 0 {
		return reasonInitializing
	}
	return reasonCreating
}

func containerID(id string) string { return "docker://" + id }

// shownImage is the image an instance was made from. What the engine no longer
// shows keeps the words it had.
func shownImage(r run, written string, before *v1.ContainerStatus) (image, id string) {
	if r.image == "" && before != nil && before.ContainerID == containerID(r.id) {
		return before.Image, before.ImageID
	}
	return cmp.Or(r.image, written), r.imageID
}
