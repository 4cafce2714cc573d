package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/plan"
)

// restartLimit bounds the wait for a worker that is in the middle of something.
const restartLimit = 15 * time.Second

// Restarting is a pod whose restart is durable, and will come whatever happens.
type Restarting struct {
	UID string
	// Attempts are the restart counts that its containers have at the least once it
	// is done, by name.
	Attempts map[string]int
}

// Restart makes a pod's containers run anew, each with its grace period; its
// sandbox and what its init containers have done stay. It returns as soon as the
// record says so, before the first signal: from then on it will be done, once,
// also by the agent's next life. by says who asks, for events, logs and the
// status. Asked again before an instance has ended, it is the same restart. The
// error wraps ErrBadRequest for a pod that cannot be restarted, and says why.
func (a *Agent) Restart(ctx context.Context, namespace, pod, by string) (Restarting, error) {
	found, err := a.find(namespace, pod)
	if err != nil {
		return Restarting{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, restartLimit)
	defer cancel()
	answer := make(chan restartAnswer, 1) // so that a late answer finds room
	ask := restartAsk{by: by, given: ctx.Done(), answer: answer}
	uid := string(found.UID)
	select {
	case a.restarts <- restartOf{uid, ask}:
	case <-ctx.Done():
		return Restarting{}, errBusy(ctx, found)
	}
	select {
	case got := <-answer:
		if got.err != nil {
			return Restarting{}, fmt.Errorf("restart pod %s/%s: %w", namespace, pod, got.err)
		}
		return Restarting{UID: uid, Attempts: got.attempts}, nil
	case <-ctx.Done():
		return Restarting{}, errBusy(ctx, found)
	}
}

// errBusy is why a pod's worker has not taken a request.
func errBusy(ctx context.Context, pod *v1.Pod) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return fmt.Errorf("restart pod %s/%s: it is in the middle of something, and has not been restarted; try again: %w", pod.Namespace, pod.Name, ctx.Err())
}

// refusal is a request that the asker can mend, in words alone.
type refusal string

// Error is the text.
func (r refusal) Error() string { return string(r) }

// Is makes it a bad request.
func (r refusal) Is(err error) bool { return err == ErrBadRequest }

// restartOf is a request on its way to the worker of a pod.
type restartOf struct {
	uid string
	ask restartAsk
}

// restartAsk is one request for a restart. Its answer has room for one.
type restartAsk struct {
	by     string
	given  <-chan struct{} // closed when nobody waits for the answer
	answer chan<- restartAnswer
}

type restartAnswer struct {
	attempts map[string]int
	err      error
}

func (r restartAsk) refuse(err error) { r.answer <- restartAnswer{err: err} }

// givenUp: who asked was told that nothing happens.
func (r restartAsk) givenUp() bool {
	select {
	case <-r.given:
		return true
	default:
		return false
	}
}

// restartAsks are those that a worker has to answer.
type restartAsks struct {
	mu   sync.Mutex
	asks []restartAsk
}

func (r *restartAsks) put(ask restartAsk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asks = append(r.asks, ask)
}

func (r *restartAsks) take() []restartAsk {
	r.mu.Lock()
	defer r.mu.Unlock()
	asks := r.asks
	r.asks = nil
	return asks
}

func (r *restartAsks) refuse(err error) {
	for _, ask := range r.take() {
		ask.refuse(err)
	}
}

// restart passes a request on to the pod's worker.
func (l *loop) restart(r restartOf) {
	if w := l.workers[r.uid]; w != nil {
		w.restarts.put(r.ask)
		w.mail.ring(nil)
		return
	}
	r.ask.refuse(l.tenancy.whyNotThere(r.uid))
}

// whyNotThere says why a pod that is shown has no worker.
func (t *tenancy) whyNotThere(uid string) error {
	if !t.open {
		return refusal("the container engine has not answered yet; `podstead status` says more")
	}
	for name, r := range t.refused {
		if want := t.slots[name].want; want != nil && string(want.pod.UID) == uid {
			return refusal("it does not run, since it was rejected: " + r.Message)
		}
	}
	if t.drained != nil {
		return refusal(t.drained.String())
	}
	return errPodGone
}

// errPodGone answers who asked something of a pod that has gone meanwhile.
var errPodGone = refusal("it is gone")

// answerRestarts does what is asked for, now that the pod has been looked at.
func (w *worker) answerRestarts() {
	for _, ask := range w.restarts.take() {
		if ask.givenUp() {
			continue
		}
		attempts, err := w.askRestart(ask.by)
		ask.answer <- restartAnswer{attempts, err}
	}
}

// askRestart notes in the record that the containers are to be restarted. What
// waits for its next try is tried at once.
func (w *worker) askRestart(by string) (map[string]int, error) {
	if why := w.mayNotRestart(); why != "" {
		return nil, refusal(why)
	}
	message := "restart asked for by " + by
	before := w.record.History
	history, attempts := before.AskRestart(w.record.Pod, w.observed, message)
	w.record.History, w.unsaved = history, true
	if err := w.save(); err != nil {
		w.record.History = before
		return nil, fmt.Errorf("note it before anything is stopped: %w; nothing was restarted", err)
	}
	w.retryAll()
	w.log.Info("pod is to restart", "reason", string(plan.ReasonRestartAsked), "message", message)
	w.event("", v1.EventTypeNormal, events.RestartAsked, "Restarting every container: asked for by "+by)
	return attempts, nil
}

// mayNotRestart is why the pod cannot be restarted, "" when it can: nothing is
// stopped that could not be made again.
func (w *worker) mayNotRestart() string {
	switch end := w.record.Finished; {
	case w.order.end != nil:
		return "it is on its way out: " + w.order.end.message
	case end != nil:
		return fmt.Sprintf("it has run to its end (%s). To run it again take its manifest out of its source, wait with `podstead wait --for=gone pod/%s -n %s`, and put it back",
			end.Phase, w.record.Pod.Name, w.record.Pod.Namespace)
	case w.order.drained != nil:
		return w.order.drained.String()
	case len(w.record.Pod.Spec.Containers) == 0:
		return "its record is lost and no source has named it yet: it could not be made again"
	}
	if !w.heard {
		w.recall()
	}
	now := w.objectsNow()
	for _, c := range w.record.Pod.Spec.Containers {
		if usesObjects(w.record.Pod, &c) && now[c.Name].Digest == "" {
			return fmt.Sprintf("its container %s could not be made again: a ConfigMap, Secret or volume that it needs is missing; `podstead get events %s -n %s` names it",
				c.Name, w.record.Pod.Name, w.record.Pod.Namespace)
		}
	}
	return ""
}

// retryAll forgets all delays: what failed is tried at once.
func (w *worker) retryAll() {
	clear(w.failures)
	clear(w.held)
	clear(w.backoff)
	w.images.retry()
}

// retry lets failed images be tried at once.
func (p podImages) retry() {
	for _, s := range p.states {
		s.retry, s.delay = plan.Moment{}, 0
	}
}
