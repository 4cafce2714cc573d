package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/agent/status"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/sources"
)

// report is what a worker tells the loop.
type report struct {
	uid      string
	progress progress
	turn     int  // of the order that it has come so far with
	gone     bool // the worker has ended: nothing of its pod is left
}

// loop is the state of the sync loop; only its goroutine touches it.
type loop struct {
	agent   *Agent
	tenancy *tenancy
	records []Record // of earlier lives, until the engine was first seen
	workers map[string]*worker
	order   []string // the configured sources, in order of precedence
	sources map[string]sources.SourceState
	began   plan.Moment
	orphans *time.Timer // set off when the wait for other sources is over
	refused map[string]Refusal
}

func newLoop(a *Agent, records []Record) *loop {
	tenancy := newTenancy(NodeFacts{OS: "linux", MaxPods: a.cfg.MaxPods}, a.cfg.Sources)
	tenancy.drained = a.Drained()
	return &loop{
		agent: a, records: records, order: a.cfg.Sources, tenancy: tenancy,
		workers: map[string]*worker{}, sources: map[string]sources.SourceState{},
		began: a.deps.Clock(), orphans: time.NewTimer(orphanWait), refused: map[string]Refusal{},
	}
}

// syncLoop takes what comes and passes it on. No case does I/O or waits: each is
// a look-up and a mailbox write.
func (a *Agent) syncLoop(ctx context.Context, l *loop, updates <-chan sources.PodUpdate, engine <-chan runtime.Event) {
	defer l.orphans.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case update, open := <-updates:
			if !open {
				updates = nil
				continue
			}
			l.update(update)
		case event, open := <-engine:
			if !open {
				engine = nil
				continue
			}
			l.engineEvent(event)
		case seen := <-a.looks:
			l.look(seen)
		case r := <-a.reports:
			l.report(r)
		case asked := <-a.restarts:
			l.restart(asked)
		case <-a.drains:
			l.tenancy.drain(a.Drained())
		case <-l.orphans.C:
			l.endOrphans()
		}
		l.carryOut(ctx)
	}
}

func (l *loop) update(update sources.PodUpdate) {
	l.reorder(update.Order)
	if update.Source.Name != "" {
		l.sources[update.Source.Name] = update.Source
	}
	l.tenancy.apply(update)
	for _, change := range update.Changes {
		l.agent.log.Debug("pod update", "source", update.Source.Name, "pod", change.Pod.FullName(),
			"uid", change.Pod.UID, "action", change.Op.String(), "place", change.Pod.Place.String())
		if !l.tenancy.open && change.Op == sources.ADD {
			l.showPending(change.Pod, "", "waiting for the container engine to answer")
		}
		if change.Op == sources.REMOVE && l.tenancy.byUID[string(change.Pod.UID)] == nil {
			l.agent.deps.Store.Delete(string(change.Pod.UID))
		}
	}
	l.endOrphans()
}

// reorder takes over which sources are configured. Of one that is so no more is
// forgotten what it said: should it come back, it is a new one.
func (l *loop) reorder(order []string) {
	if len(order) == 0 || slices.Equal(order, l.order) {
		return
	}
	l.order = slices.Clone(order)
	l.tenancy.rank(order)
	maps.DeleteFunc(l.sources, func(name string, _ sources.SourceState) bool { return !slices.Contains(order, name) })
	l.agent.log.Info("sources are configured anew", "order", strings.Join(order, ","))
}

func (l *loop) engineEvent(event runtime.Event) {
	if event.Kind == runtime.EventResync {
		select {
		case l.agent.nudge <- struct{}{}:
		default:
		}
		return
	}
	if w := l.workers[event.UID]; w != nil {
		w.mail.ring(nil)
	}
}

// look compares one list of the engine with what each worker last saw, and
// wakes those that are behind.
func (l *loop) look(seen look) {
	behind := l.compare(seen)
	if seen.acks != nil {
		seen.acks <- behind // it has room for one
	}
}

func (l *loop) compare(seen look) (behind []<-chan struct{}) {
	if seen.err != nil {
		return nil
	}
	if !l.tenancy.open {
		l.open(seen)
		return nil
	}
	listed := make(map[string]runtime.Pod, len(seen.pods))
	for _, pod := range seen.pods {
		listed[pod.UID] = pod
		if l.workers[pod.UID] == nil {
			// Ours by all its marks, and nobody's: left by a worker whose record was lost.
			l.tenancy.lodge(nil, pod)
		}
	}
	for uid, w := range l.workers {
		if !w.isBehind(listed[uid]) {
			continue
		}
		ack := make(chan struct{})
		behind = append(behind, ack)
		w.mail.ring(ack)
	}
	return behind
}

// open takes over what an earlier life left, now that the engine is seen: the
// pods of the records, and pods without one. Then the pods that are wanted come in.
func (l *loop) open(seen look) {
	l.tenancy.node.Architecture = seen.engine.Architecture
	l.tenancy.node.holds(seen.engine, l.agent.cfg)
	known := map[string]bool{}
	for i := range l.records {
		known[string(l.records[i].Pod.UID)] = true
		l.tenancy.lodge(&l.records[i], runtime.Pod{})
	}
	for _, pod := range seen.pods {
		if !known[pod.UID] {
			l.tenancy.lodge(nil, pod)
		}
	}
	l.records = nil
	l.tenancy.unlock()
	l.agent.log.Info("engine is there", "engine", seen.engine.Name, "version", seen.engine.Version, "pods", len(seen.pods))
	l.endOrphans()
}

func (l *loop) report(r report) {
	if !r.gone {
		l.tenancy.heard(r.uid, r.progress, r.turn)
		return
	}
	l.workers[r.uid].restarts.refuse(errPodGone)
	delete(l.workers, r.uid)
	l.agent.metrics.workers.Set(float64(len(l.workers)))
	l.tenancy.leave(r.uid)
}

func (l *loop) endOrphans() {
	l.tenancy.endOrphans(sourcesView{
		configured: l.order, states: l.sources,
		running: l.agent.deps.Clock().After(l.began, 24*time.Hour),
	})
}

// carryOut does what the tenancy decided: starts workers and fills mailboxes.
func (l *loop) carryOut(ctx context.Context) {
	for _, c := range l.tenancy.take() {
		if c.shelve != nil {
			l.showDrained(*c.shelve, c.order.drained.String())
			continue
		}
		if c.hire {
			l.explain(c)
			w := newWorker(l.agent, c.tenant, c.order)
			l.workers[c.tenant.uid] = w
			l.agent.metrics.workers.Set(float64(len(l.workers)))
			l.agent.workers.Go(func() { w.run(ctx) })
			continue
		}
		if w := l.workers[c.tenant.uid]; w != nil {
			w.mail.put(c.order)
		}
	}
	l.showRefused()
}

// explain says why a pod comes: what its manifest says now that its
// predecessor's did not.
func (l *loop) explain(c command) {
	pod := c.tenant.pod
	switch {
	case c.tenant.record != nil || pod.Written == nil:
		return // an earlier life said it
	case c.replaces == nil:
		l.agent.deps.Events.Event(events.Pod(pod.Pod.Pod), v1.EventTypeNormal, eventAccepted, "Accepted from "+showOrigin(pod.Origin))
	default:
		message := fmt.Sprintf("Replaces uid %s: %s; from %s", c.replaces.UID,
			showChanges(manifests.Diff(c.replaces.Written, pod.Written)), showOrigin(pod.Origin))
		l.agent.deps.Events.Event(events.Pod(pod.Pod.Pod), v1.EventTypeNormal, eventReplacing, message)
	}
}

// Reasons of events that the kubelet has no word for.
const (
	eventAccepted  = "Accepted"
	eventReplacing = "Replacing"
)

// shownChanges is how many changed fields a message names.
const shownChanges = 5

// showChanges says which fields differ, with their values where those cannot
// hold a secret.
func showChanges(changes []manifests.Change) string {
	if len(changes) == 0 {
		return "it starts anew"
	}
	var parts []string
	for i, c := range changes {
		if i == shownChanges {
			parts = append(parts, fmt.Sprintf("and %d more", len(changes)-i))
			break
		}
		part := c.Field + " changed"
		if c.Old != "" || c.New != "" {
			part = fmt.Sprintf("%s changed from %q to %q", c.Field, c.Old, c.New)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// showRefused tells of pods that do not fit: phase Failed, with the reason, and
// nothing started.
func (l *loop) showRefused() {
	for name, refusal := range l.tenancy.refused {
		if l.refused[name] == refusal {
			continue
		}
		pod := l.tenancy.slots[name].want.pod
		l.showPending(pod, refusal.Reason, "Pod was rejected: "+refusal.Message)
		l.agent.deps.Events.Event(events.Pod(pod.Pod.Pod), v1.EventTypeWarning, refusal.Reason, refusal.Message)
	}
	l.refused = l.tenancy.refused
}

// showDrained shows a pod that gets no worker before the node is resumed.
func (l *loop) showDrained(pod sources.Pod, why string) {
	l.agent.deps.Store.Set(shown(pod, status.Generate(status.Input{
		Pod: pod.Pod.Pod, HostIPs: l.agent.cfg.HostIPs, Now: l.agent.deps.Clock().Wall,
		Drained: why, Waiting: waitingAll(pod.Pod.Pod, drainedWaiting(why)),
	})))
}

// showPending shows a pod that has no worker.
func (l *loop) showPending(pod sources.Pod, reason, message string) {
	in := status.Input{Pod: pod.Pod.Pod, HostIPs: l.agent.cfg.HostIPs, Now: l.agent.deps.Clock().Wall}
	if reason != "" {
		in.Finished = &plan.Finished{Phase: v1.PodFailed, Reason: reason, Message: message}
	} else {
		in.Waiting = waitingAll(pod.Pod.Pod, plan.Waiting{Reason: "ContainerCreating", Message: message})
	}
	l.agent.deps.Store.Set(shown(pod, status.Generate(in)))
}
