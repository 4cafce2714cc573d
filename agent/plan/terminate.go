package plan

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// TerminateInput is all that ending a pod depends on.
type TerminateInput struct {
	Pod      *v1.Pod // may be nil: an orphan without a record
	Observed runtime.Pod
	Stops    map[string]Stop // as in Input
	// Grace is what a container gets between its stop signal and KILL, at least
	// 2 s; 0 is KILL at once. A stop under way is only ever shortened by it.
	Grace time.Duration
	// Reclaim asks for everything to be removed. A pod that finished by itself
	// keeps its sandbox and the newest dead instance of each container.
	Reclaim bool
	Reason  Reason // told with each signal and removal; ReasonTerminating if empty
	Message string
	Now     Moment
}

// Terminate decides how a pod that shall not run comes nearer to its end: all
// running containers are signalled at once, the sandboxes when no container
// runs, and then goes what is not kept. What was never started goes at once.
func Terminate(in TerminateInput) Decision {
	if in.Reason == "" {
		in.Reason = ReasonTerminating
	}
	stops := stopping{stops: in.Stops, now: in.Now, reason: in.Reason, message: in.Message}
	for _, c := range in.Observed.Containers {
		if c.State == runtime.StateRunning {
			stops.container(c, isInit(in.Pod, c.Name), in.Grace)
		}
	}
	if !stops.busy() {
		for _, s := range in.Observed.Sandboxes {
			if s.State == runtime.StateRunning {
				stops.sandbox(s)
			}
		}
	}
	var out builder
	if stops.busy() {
		out.step(append(in.neverRan(), stops.signals...)...)
		out.wake(stops.wake)
		return out.decision()
	}
	out.step(in.leftovers()...)
	d := out.decision()
	d.Gone = len(d.Steps) == 0
	return d
}

// neverRan removes the containers that were created and not started, so that
// nothing starts them after all.
func (in TerminateInput) neverRan() []Action {
	var all []Action
	for _, c := range in.Observed.Containers {
		if c.State == runtime.StateCreated {
			all = append(all, in.remove(c.Name, c.ID))
		}
	}
	return all
}

// leftovers removes what is not kept of a pod of which nothing runs.
func (in TerminateInput) leftovers() []Action {
	var all []Action
	for _, c := range in.Observed.Containers {
		if in.Reclaim || c.State != runtime.StateExited {
			all = append(all, in.remove(c.Name, c.ID))
		}
	}
	if in.Reclaim {
		for _, s := range in.Observed.Sandboxes {
			all = append(all, in.remove("", s.ID))
		}
		return all
	}
	return append(all, deadInstances(in.Pod, in.Observed)...)
}

func (in TerminateInput) remove(container, id string) Action {
	return Action{
		Verb: Remove, Container: container, Init: isInit(in.Pod, container), ID: id,
		Reason: in.Reason, Message: in.Message,
	}
}
