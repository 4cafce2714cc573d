package agent

import (
	"context"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/agent/status"
)

// drainedWaiting is what every container of a drained pod waits for.
func drainedWaiting(why string) plan.Waiting {
	return plan.Waiting{Reason: status.ReasonDrained, Message: why}
}

// drain brings the pod to rest and keeps it there. It stays in its phase, with its
// record, its volumes and its dead containers: its life is not over.
func (w *worker) drain(ctx context.Context) result {
	w.images.cancel()
	w.images = newPodImages(w) // they may be pruned meanwhile
	decision := plan.Drain(plan.Input{
		Pod: w.record.Pod, Observed: w.observed, History: w.record.History, Stops: w.stops, Now: w.now(),
	}, w.order.drained.cause())
	w.waiting = waitingAll(w.record.Pod, drainedWaiting(w.order.drained.String()))
	w.publish()
	if decision.Finished != nil {
		return w.finish(*decision.Finished)
	}
	acted, err := w.carryOut(ctx, decision.Steps)
	if err == nil && !acted {
		err = w.save()
	}
	return result{acted: acted, err: err, wake: decision.Wake}
}
