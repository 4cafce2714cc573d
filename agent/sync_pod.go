package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/runtime"
)

// sync brings the pod one round nearer to what its manifest says.
func (w *worker) sync(ctx context.Context) result {
	w.enter(w.livingPhase())
	w.reportServing(ctx)
	w.refresh(ctx)
	w.recallIfNeeded()
	decision, err := w.decide(ctx)
	if err != nil {
		return result{err: err}
	}
	w.waiting = decision.Waiting
	w.explainGate()
	w.publish()
	w.tellBackOff()
	if decision.Finished != nil {
		return w.finish(*decision.Finished)
	}
	acted, err := w.carryOut(ctx, decision.Steps)
	if len(decision.Steps) > 0 {
		w.publish()
	}
	if err != nil {
		return result{err: err}
	}
	if !acted {
		if err := w.save(); err != nil {
			return result{err: err}
		}
	}
	if decision.Ready && !acted {
		w.reportProgress(ctx)
	}
	return result{acted: acted, wake: w.soonest(decision.Wake)}
}

func (w *worker) livingPhase() Phase {
	if w.order.gate == plan.GateRun {
		return Syncing
	}
	return Preparing
}

// decide asks the plan, resolving the images of the containers that it would
// create, or stop to create them anew: those that come later, or never, need none.
func (w *worker) decide(ctx context.Context) (plan.Decision, error) {
	w.objects = w.objectsNow()
	images := map[string]plan.Image{}
	for {
		decision := plan.Sync(plan.Input{
			Pod: w.record.Pod, Gate: w.order.gate, Observed: w.observed, History: w.record.History,
			Images: optimistic{w.record.Pod, images}.all(), Failures: w.failures, Stops: w.stops,
			Objects: w.objects, RestartOnChange: restartsOnChange(w.record.Pod), Prepared: w.made,
			MaxRestartPeriod: w.agent.cfg.MaxRestartPeriod, Now: w.now(),
		})
		asked := false
		for _, action := range actionsOf(decision) {
			makes := action.Verb == plan.CreateContainer || action.Verb == plan.Signal && action.Reason.Restarts()
			if _, known := images[action.Container]; known || !makes {
				continue
			}
			image, err := w.images.resolve(ctx, action.Container, action.Attempt)
			if err != nil {
				return plan.Decision{}, err
			}
			images[action.Container] = image
			asked = true
		}
		if !asked {
			return decision, nil
		}
	}
}

// optimistic takes every image that was not asked for as ready, which shows
// what the plan would create.
type optimistic struct {
	pod   *v1.Pod
	known map[string]plan.Image
}

func (o optimistic) all() map[string]plan.Image {
	images := map[string]plan.Image{}
	for _, c := range allContainers(o.pod) {
		images[c.Name] = plan.Image{Ready: true}
		if known, ok := o.known[c.Name]; ok {
			images[c.Name] = known
		}
	}
	return images
}

func actionsOf(d plan.Decision) []plan.Action {
	var actions []plan.Action
	for _, step := range d.Steps {
		actions = append(actions, step...)
	}
	return actions
}

// allContainers are a pod's init containers and containers, in spec order.
func allContainers(pod *v1.Pod) []v1.Container {
	return append(append([]v1.Container{}, pod.Spec.InitContainers...), pod.Spec.Containers...)
}

func waitingAll(pod *v1.Pod, why plan.Waiting) map[string]plan.Waiting {
	all := map[string]plan.Waiting{}
	for _, c := range allContainers(pod) {
		all[c.Name] = why
	}
	return all
}

// explainGate adds to the containers that wait for nothing of their own why the
// pod as a whole does not come on.
func (w *worker) explainGate() {
	why := cmp.Or(w.fault, w.sandboxFault, w.order.why)
	for name, waiting := range w.waiting {
		if waiting.Message == "" {
			w.waiting[name] = plan.Waiting{Reason: waiting.Reason, Message: why}
		}
	}
}

// tellBackOff tells each new wait for a crash back-off once, as the kubelet's
// event BackOff.
func (w *worker) tellBackOff() {
	for _, c := range allContainers(w.record.Pod) {
		key := "backoff/" + c.Name
		waiting := w.waiting[c.Name]
		if waiting.Reason != "CrashLoopBackOff" {
			delete(w.told, key)
			continue
		}
		said := fmt.Sprint(w.record.History.Containers[c.Name].Attempt)
		if w.told[key] != said {
			w.told[key] = said
			w.event(c.Name, v1.EventTypeWarning, events.ContainerBackOff,
				fmt.Sprintf("Back-off restarting failed container %s in pod %s", c.Name, w.podRef()))
		}
	}
}

// finish notes that the pod has run to its end. That must be durable before
// anything of it is taken away, or the next life would run it again.
func (w *worker) finish(end plan.Finished) result {
	w.record.Finished = &end
	w.unsaved = true
	if err := w.save(); err != nil {
		w.record.Finished = nil
		return result{err: err}
	}
	w.log.Info("pod has finished", "phase", string(end.Phase), "reason", end.Reason)
	return result{acted: true}
}

// reportProgress tells the loop that all the gate allows is done.
func (w *worker) reportProgress(ctx context.Context) {
	switch w.order.gate {
	case plan.GateCreate:
		w.tell(ctx, report{uid: w.uid, progress: progressCreated, turn: w.order.turn})
	case plan.GateSandbox:
		w.tell(ctx, report{uid: w.uid, progress: progressPrepared, turn: w.order.turn})
	}
}

// reportServing tells the loop, once, that the pod has come to life.
func (w *worker) reportServing(ctx context.Context) {
	serving := slices.ContainsFunc(w.observed.Containers, func(c runtime.Container) bool { return c.State != runtime.StateCreated })
	if serving && !w.serving {
		w.serving = true
		w.tell(ctx, report{uid: w.uid, progress: progressServing})
	}
}

// soonest is the earliest of the plan's next look, the images' and those of what
// failed in this round, which the plan has not seen yet; negative for never.
func (w *worker) soonest(wake time.Duration) time.Duration {
	earlier := func(due plan.Moment) {
		if left := due.Since - w.now().Since; left > 0 && (wake < 0 || left < wake) {
			wake = left
		}
	}
	for _, due := range w.held {
		earlier(due)
	}
	for _, failure := range w.failures {
		earlier(failure.Retry)
	}
	if due, any := w.images.due(); any && (wake < 0 || due < wake) {
		wake = due
	}
	return wake
}

func (w *worker) now() plan.Moment { return w.agent.deps.Clock() }

// podRef is name_namespace(uid), as the kubelet writes a pod in messages.
func (w *worker) podRef() string {
	return fmt.Sprintf("%s_%s(%s)", w.record.Pod.Name, w.record.Pod.Namespace, w.uid)
}
