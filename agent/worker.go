package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/agent/volumes"
	"github.com/podstead/podstead/runtime"
)

// maxRounds is how often a worker acts in a row without a pause. A pod needs a
// handful of rounds; more means that the engine does not do what it says.
const maxRounds = 20

// worker owns one pod's whole life. One goroutine runs it, and every effect on
// the pod is its own. What it does next it decides anew each round, from what
// the engine shows.
type worker struct {
	agent *Agent
	uid   string
	log   *slog.Logger
	mail  *mailbox
	// restarts are asked for by clients, and answered once the pod has been looked at.
	restarts restartAsks
	// seen is the summary of the last observation, which the loop compares with its lists.
	seen atomic.Pointer[string]
	// troubled is set while the engine did not answer the last try; when it
	// answers a look, another is worth it.
	troubled atomic.Bool

	acks     []chan<- struct{} // of those who wait for a look at the pod
	order    order
	record   Record
	unsaved  bool // the record differs from what is on disk
	recorded bool // some record of this pod is on disk
	phase    Phase
	made     bool     // something of it was created in this life of the agent
	serving  bool     // has come to life, and the loop knows
	stopped  progress // of its end, as the loop knows
	observed runtime.Pod
	images   podImages
	// heard is set once the source has said in this life of the agent how the pod
	// is; its view is then the source's, before it the one on disk.
	heard       bool
	view        view
	mark, filed viewMark                  // of the newest view, and of the one on disk
	behind      bool                      // volumes may not show the view yet
	unmounted   map[string]*volumes.Error // of those that could not be set up last
	changed     map[string][]string       // by container: objects that are not as they were when it was made
	objects     map[string]plan.Objects   // as the plan was told in this round
	failures    map[string]plan.Failure   // by container
	stops       map[string]plan.Stop      // by container or sandbox ID
	refused     map[string]string         // ID of the instance that the engine would not start, by container
	grace       *time.Duration            // of the pod's end, once it has begun
	backoff     map[string]time.Duration
	held        map[string]plan.Moment // not before, by what failed
	waiting     map[string]plan.Waiting
	status      v1.PodStatus
	// sandboxFault is why the sandbox could not be made or started, and fault why
	// the last round failed, for the status.
	sandboxFault, fault string
	told                map[string]string // what was last said about a thing, so as not to repeat it
}

func newWorker(a *Agent, t *tenant, o order) *worker {
	w := &worker{
		agent: a, uid: t.uid, mail: newMailbox(), order: o,
		log:      a.log.With("pod", t.name, "uid", t.uid),
		failures: map[string]plan.Failure{}, stops: map[string]plan.Stop{}, refused: map[string]string{},
		backoff: map[string]time.Duration{}, held: map[string]plan.Moment{}, told: map[string]string{},
		changed: map[string][]string{},
	}
	w.images = newPodImages(w)
	none := ""
	w.seen.Store(&none)
	if t.record != nil {
		w.record, w.recorded = *t.record, true
		w.mark, w.filed = w.record.View, w.record.View
	} else {
		w.record = Record{
			Pod: o.pod.Pod.Pod, Written: o.pod.Written, Origin: o.pod.Origin,
			History: plan.NewHistory(), Started: a.deps.Clock().Wall,
		}
		w.unsaved = true
	}
	return w
}

// isBehind reports whether what a list shows differs from what the worker saw,
// or whether it waits to try again what the engine's answer may have cured.
func (w *worker) isBehind(listed runtime.Pod) bool {
	return w.troubled.Load() || *w.seen.Load() != summarize(listed)
}

// run works until the pod is gone or ctx ends; pods outlive their workers.
func (w *worker) run(ctx context.Context) {
	w.obey(w.order)
	for ctx.Err() == nil {
		next, acks := w.mail.take()
		w.acks = acks
		if next != nil {
			w.obey(*next)
		}
		wait, gone := w.work(ctx)
		w.forgetRecalled()
		w.answer()
		if gone {
			w.tell(ctx, report{uid: w.uid, gone: true})
			return
		}
		w.pause(ctx, wait)
	}
}

// answer tells those who asked that the status is as new as their question.
func (w *worker) answer() {
	for _, ack := range w.acks {
		close(ack)
	}
	w.acks = nil
}

// pause waits for the bell, or for wait to pass; a negative wait is for ever.
func (w *worker) pause(ctx context.Context, wait time.Duration) {
	var due <-chan time.Time
	if wait >= 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-w.mail.bell:
	case <-due:
	}
}

func (w *worker) tell(ctx context.Context, r report) {
	select {
	case w.agent.reports <- r:
	case <-ctx.Done():
	}
}

// obey takes over a new order. The record follows the manifest's newest
// metadata and place. A pod that ends, or has, looks at no objects any more.
func (w *worker) obey(o order) {
	if o.pod.Pod.Pod != w.record.Pod && len(o.pod.Spec.Containers) > 0 {
		w.record.Pod, w.record.Written, w.record.Origin = o.pod.Pod.Pod, o.pod.Written, o.pod.Origin
		w.unsaved = true
	}
	if o.end != nil && w.order.end == nil {
		w.log.Info("pod is to end", "reason", o.end.reason, "message", o.end.message)
	}
	if w.order.drained != nil && o.drained == nil {
		w.log.Info("pod is resumed")
		w.retryAll()
	}
	w.order = o
	if o.sourced && o.end == nil && w.record.Finished == nil {
		w.see(o.pod.Objects)
	}
}

// work observes, decides and acts until nothing is left to do now. It returns
// when to look again, and whether the pod is gone.
func (w *worker) work(ctx context.Context) (wait time.Duration, gone bool) {
	for range maxRounds {
		r := w.round(ctx)
		switch {
		case ctx.Err() != nil:
			return -1, false
		case r.gone:
			return 0, true
		case r.err != nil:
			return w.trouble(r.err), false
		}
		w.trouble(nil)
		if !r.acted {
			return r.wake, false
		}
		if w.mail.awaited() {
			return 0, false
		}
	}
	return time.Second, false
}

// result is what came of one round.
type result struct {
	acted bool // something was done: observe again
	wake  time.Duration
	gone  bool
	err   error
}

func (w *worker) round(ctx context.Context) result {
	w.refresh(ctx) // files need no look at the engine
	if err := w.observe(ctx); err != nil {
		w.restarts.refuse(err)
		return result{err: err}
	}
	w.answerRestarts()
	switch {
	case w.order.end != nil:
		return w.terminate(ctx)
	case w.record.Finished != nil:
		return w.rest(ctx)
	case w.order.drained != nil:
		return w.drain(ctx)
	case len(w.record.Pod.Spec.Containers) == 0:
		// Only its names are known: it runs on as it is until it is claimed or ended.
		return result{wake: -1}
	}
	return w.sync(ctx)
}

// observe looks at the pod on the engine and keeps the books of what ended.
func (w *worker) observe(ctx context.Context) error {
	w.mail.hush()
	observed, err := w.agent.deps.Runtime.Pod(ctx, w.uid)
	if err != nil {
		return fmt.Errorf("observe pod: %w", err)
	}
	w.observed = observed
	summary := summarize(observed)
	w.seen.Store(&summary)
	w.showLogs()

	history, ended, changed := w.record.History.Observe(w.record.Pod, observed, w.agent.deps.Clock())
	w.record.History = history
	w.unsaved = w.unsaved || changed
	for _, e := range ended {
		w.hasEnded(ctx, e)
	}
	w.forgetStops()
	return nil
}

// forgetStops drops the stops of what no longer runs.
func (w *worker) forgetStops() {
	running := map[string]bool{}
	for _, c := range w.observed.Containers {
		running[c.ID] = c.State == runtime.StateRunning || c.State == runtime.StateUnknown
	}
	for _, s := range w.observed.Sandboxes {
		running[s.ID] = s.State == runtime.StateRunning || s.State == runtime.StateUnknown
	}
	for id := range w.stops {
		if !running[id] {
			delete(w.stops, id)
		}
	}
}

// enter moves to a later phase.
func (w *worker) enter(p Phase) {
	next, err := w.phase.Advance(p)
	if err != nil {
		w.log.Error("pod's phase cannot change", "err", err)
		return
	}
	if next != w.phase {
		w.log.Debug("pod enters phase", "phase", next.String())
	}
	w.phase = next
}

// save makes record and view durable if they changed. A first record goes before
// the view, so that nothing is on disk that no record speaks of; afterwards the
// view goes first, so that the record never speaks of one that is not there.
func (w *worker) save() error {
	if len(w.record.Pod.Spec.Containers) == 0 {
		return nil
	}
	if !w.recorded {
		if err := w.saveRecord(); err != nil {
			return err
		}
	}
	return errors.Join(w.saveView(), w.saveRecord())
}

func (w *worker) saveRecord() error {
	if !w.unsaved {
		return nil
	}
	if !w.recorded || w.filed == w.mark {
		w.record.View = w.mark
	}
	if err := w.agent.records.Save(w.record); err != nil {
		return err
	}
	w.unsaved, w.recorded = false, true
	return nil
}

// trouble says once what went wrong and returns the delay until the next try.
// nil says that it is over.
func (w *worker) trouble(err error) time.Duration {
	const key = "trouble"
	away := errors.Is(err, runtime.ErrUnavailable)
	w.troubled.Store(away)
	w.fault = ""
	if err == nil {
		if w.told[key] != "" {
			w.log.Info("pod is in order again")
		}
		delete(w.told, key)
		delete(w.backoff, key)
		return 0
	}
	if text := err.Error(); w.told[key] != text {
		w.told[key] = text
		w.log.Warn("pod is not in order, will retry", "err", err)
		if !away {
			w.event("", v1.EventTypeWarning, events.FailedSync, "Error syncing pod, will retry: "+text)
		}
	}
	if away {
		return w.delay(key, time.Second, 10*time.Second)
	}
	w.fault = err.Error()
	return w.delay(key, time.Second, 15*time.Second)
}

// delay returns the next delay for a thing that fails again and again: it
// doubles from first to limit, jittered.
func (w *worker) delay(what string, first, limit time.Duration) time.Duration {
	d := max(w.backoff[what], first)
	w.backoff[what] = min(2*d, limit)
	return jitter(d)
}

// summarize is what a list can tell of a pod, as one comparable string.
func summarize(pod runtime.Pod) string {
	parts := make([]string, 0, len(pod.Sandboxes)+len(pod.Containers))
	for _, s := range pod.Sandboxes {
		parts = append(parts, s.ID+":"+string(s.State))
	}
	for _, c := range pod.Containers {
		state := c.State
		if c.Reason == "ContainerCannotRun" {
			state = runtime.StateCreated // all that a list knows of it
		}
		parts = append(parts, c.ID+":"+string(state))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}
