package agent

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/runtime"
)

// graceUnknown is the grace of a pod whose record is lost: Kubernetes' default.
const graceUnknown = 30 * time.Second

// terminate ends the pod and then takes away all that was made for it. What has
// begun goes on in the next life of the agent: the record says so before the
// first signal.
func (w *worker) terminate(ctx context.Context) result {
	if w.phase < Terminating { // one that had finished has been there
		w.enter(Terminating)
	}
	w.images.cancel()
	if w.record.Stopping == nil {
		w.record.Stopping = &Stopping{
			Since: w.now(), Grace: graceOf(w.record.Pod), Reason: w.order.end.reason, Message: w.order.end.message,
		}
		w.unsaved = w.recorded // what never got a record needs none now
	}
	if err := w.save(); err != nil {
		// A full disk must not keep a pod alive: the manifest is gone, and the next
		// life would come to the same end by the orphan rule.
		w.sayOnce("stopping", err.Error(), func() { w.log.Warn("the pod's end is not recorded", "err", err) })
	}
	decision := plan.Terminate(plan.TerminateInput{
		Pod: w.record.Pod, Observed: w.observed, Stops: w.stops, Grace: w.graceLeft(), Reclaim: true,
		Reason: plan.ReasonTerminating, Message: w.order.end.message, Now: w.now(),
	})
	w.waiting = nil
	w.publish()
	w.reportStopped(ctx)
	if decision.Gone {
		return w.reclaim(ctx)
	}
	acted, err := w.carryOut(ctx, decision.Steps)
	return result{acted: acted, err: err, wake: w.soonest(decision.Wake)}
}

// reportStopped tells the loop what is in nobody's way any more.
func (w *worker) reportStopped(ctx context.Context) {
	alive := func(s runtime.State) bool { return s == runtime.StateRunning || s == runtime.StateUnknown }
	p := progressReleased
	for _, s := range w.observed.Sandboxes {
		if alive(s.State) {
			p = progressStopped
		}
	}
	for _, c := range w.observed.Containers {
		if alive(c.State) {
			return
		}
	}
	if p > w.stopped {
		w.stopped = p
		w.tell(ctx, report{uid: w.uid, progress: p})
	}
}

// graceLeft is the grace of stops that begin in this life of the agent: what an
// earlier one already waited comes off, but a stop signal always comes first.
func (w *worker) graceLeft() time.Duration {
	if w.grace == nil {
		stopping := w.record.Stopping
		left := stopping.Grace - w.now().After(stopping.Since, stopping.Grace)
		if stopping.Grace > 0 {
			left = max(left, time.Nanosecond) // the plan's floor makes 2 s of it
		}
		w.grace = &left
	}
	return *w.grace
}

func graceOf(pod *v1.Pod) time.Duration {
	if pod.Spec.TerminationGracePeriodSeconds == nil {
		return graceUnknown
	}
	return time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second
}

// reclaim takes away what is left when nothing of the pod exists on the engine.
// The record goes last: as long as it is there, the rest may be too.
func (w *worker) reclaim(ctx context.Context) result {
	w.hideLogs()
	if err := w.agent.deps.Volumes.TearDown(ctx, w.uid); err != nil {
		return result{err: err}
	}
	if err := w.agent.records.Delete(w.uid); err != nil {
		return result{err: err}
	}
	w.enter(Terminated)
	w.agent.deps.Store.Delete(w.uid)
	w.log.Info("pod is gone", "reason", w.record.Stopping.Reason, "took", w.now().After(w.record.Stopping.Since, 24*time.Hour).Round(time.Millisecond))
	return result{gone: true}
}

// rest stops what is left of a finished pod, and keeps its dead containers for
// their logs until the manifest goes.
func (w *worker) rest(ctx context.Context) result {
	if w.phase < Terminating {
		w.enter(Terminating)
	}
	decision := plan.Terminate(plan.TerminateInput{
		Pod: w.record.Pod, Observed: w.observed, Stops: w.stops, Grace: graceOf(w.record.Pod),
		Reason: plan.ReasonFinished, Message: "the pod has run to its end", Now: w.now(),
	})
	w.waiting = nil
	w.publish()
	if decision.Gone {
		w.enter(Terminated)
		if err := w.save(); err != nil {
			return result{err: err}
		}
		return result{wake: -1}
	}
	acted, err := w.carryOut(ctx, decision.Steps)
	return result{acted: acted, err: err, wake: w.soonest(decision.Wake)}
}

// signal sends a stop signal and notes when, from which the grace counts.
func (p *performance) signal(ctx context.Context, a plan.Action) error {
	p.tellKilling(a)
	if err := p.agent.deps.Runtime.Signal(ctx, a.ID, a.Signal); err != nil {
		return err
	}
	p.note(func() { p.stops[a.ID] = plan.Stop{Signalled: p.now(), Grace: a.Grace} })
	return nil
}

// tellKilling records the kubelet's event Killing with the first signal.
func (p *performance) tellKilling(a plan.Action) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, under := p.stops[a.ID]; under || a.Container == "" {
		return
	}
	message := "Stopping container " + a.Container
	switch {
	case p.order.end != nil:
		message += " (" + p.order.end.message + ")"
	case a.Reason == plan.ReasonObjectsChanged:
		message += " (" + a.Message + ")"
		p.event(a.Container, v1.EventTypeNormal, events.ObjectsChanged, "Restarting container "+a.Container+": "+a.Message)
	case a.Reason.Restarts():
		message += " (" + a.Message + ")"
	}
	p.event(a.Container, v1.EventTypeNormal, events.ContainerKilling, message)
}

// hasEnded fills in the termination message of an instance that has ended, and
// says that it ended.
func (w *worker) hasEnded(ctx context.Context, e plan.Ended) {
	for _, c := range w.observed.Containers {
		if c.ID != e.ID {
			continue
		}
		message := w.terminationMessage(ctx, c)
		if r := w.record.History.Containers[c.Name].Restart; r != nil && r.Attempt == e.Attempt {
			message = join(r.Message, message) // it did not end by itself
		}
		if message != "" {
			w.record.History = w.record.History.WithMessage(c.Name, c.ID, message)
			w.unsaved = true
		}
	}
	w.log.Info("container has ended", "container", e.Container, "attempt", e.Attempt,
		"exitCode", e.ExitCode, "reason", e.Reason)
}
