package agent

import (
	"context"
	"fmt"
	"maps"
	goruntime "runtime"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/agent/volumes"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/sources"
)

// see takes over what the pod's source says of its objects. It becomes durable,
// and reaches mounted volumes, in the round that follows. Failures for want of an
// object are tried again at once.
func (w *worker) see(objects manifests.Objects) {
	next := newView(w.record.Pod, objects)
	old := w.view
	if !w.heard {
		old = w.compareKept(next)
	}
	if next.digest != w.mark.Digest {
		w.mark = viewMark{Turn: w.mark.Turn + 1, Digest: next.digest}
		w.unsaved = w.unsaved || w.recorded
		w.noteChanges(old, next)
		w.behind = true
	}
	if next.digest != w.view.digest || !w.view.known {
		w.retryObjects()
	}
	w.view, w.heard = next, true
}

// compareKept finds out, when the source speaks of the pod for the first time in
// this life, what is on disk, and returns that view where another follows it.
func (w *worker) compareKept(next view) view {
	w.behind = true
	w.findMark()
	if w.filed != w.mark || w.mark.Turn == 0 || w.mark.Digest == next.digest {
		return view{}
	}
	return w.loadView()
}

// findMark compares the record with the head of the file beside it. A file of a
// higher turn is from just before the agent was killed, and counts; any other that
// differs is lost.
func (w *worker) findMark() {
	head, err := w.agent.records.markOf(w.uid)
	if err != nil {
		w.tellLost(err)
	}
	w.filed = head
	if w.mark = w.record.View; head.Turn > w.mark.Turn {
		w.mark = head
		w.unsaved = true
	}
}

// recall looks up on disk what the pod saw in an earlier life, until its source
// speaks of it. When that is lost the view stays unknown.
func (w *worker) recall() {
	w.findMark()
	switch {
	case w.mark.Turn == 0:
		w.view = newView(w.record.Pod, nil)
	case w.filed == w.mark:
		w.view = w.loadView()
	}
}

func (w *worker) loadView() view {
	mark, objects, err := w.agent.records.loadView(w.uid)
	if err != nil {
		w.tellLost(err)
	}
	if mark != w.mark {
		return view{}
	}
	return newView(w.record.Pod, objects)
}

// tellLost says once why the view on disk is of no use.
func (w *worker) tellLost(err error) {
	w.sayOnce("kept view", err.Error(), func() { w.log.Warn("the objects kept of the pod are lost", "err", err) })
}

// recallIfNeeded: what runs needs no objects, and memory is not filled with them.
func (w *worker) recallIfNeeded() {
	if w.heard || w.view.known || !w.needsView() {
		return
	}
	w.recall()
}

// needsView reports that something may have to be made for which objects are needed.
func (w *worker) needsView() bool {
	for _, c := range allContainers(w.record.Pod) {
		newest, ok := w.observed.Newest(c.Name)
		if ok && newest.State == runtime.StateRunning {
			continue
		}
		if usesObjects(w.record.Pod, &c) || len(w.record.Pod.Spec.ImagePullSecrets) > 0 {
			return true
		}
	}
	return false
}

// forgetRecalled frees what was recalled, which the next round can do again.
func (w *worker) forgetRecalled() {
	if !w.heard {
		w.view = view{}
	}
}

// errViewLost is why a container cannot be made before its source speaks.
func errViewLost(origin sources.Origin) error {
	return fmt.Errorf("the ConfigMaps and Secrets that the pod was made with are not on disk any more: waiting for source %s", origin.Source)
}

// noteChanges remembers by container which objects are not as they were when it
// was made, to name them should it be made anew for that.
func (w *worker) noteChanges(old, next view) {
	for _, c := range allContainers(w.record.Pod) {
		if !usesObjects(w.record.Pod, &c) {
			continue
		}
		names := slices.Concat(w.changed[c.Name], changes(w.record.Pod, &c, old, next))
		slices.Sort(names)
		if names = slices.Compact(names); len(names) > 0 {
			w.changed[c.Name] = names
		}
	}
}

// retryObjects forgets the delays of what failed for want of an object.
func (w *worker) retryObjects() {
	maps.DeleteFunc(w.failures, func(container string, f plan.Failure) bool {
		mayBeCured := f.Waiting.Reason == reasonConfig || f.Waiting.Reason == reasonCreating
		if mayBeCured {
			delete(w.backoff, holdKey(plan.Action{Verb: plan.CreateContainer, Container: container}))
		}
		return mayBeCured
	})
	delete(w.held, refreshKey)
	delete(w.backoff, refreshKey)
}

// refreshKey is under what a volume that cannot be brought up to date is held.
const refreshKey = "refresh"

// refresh brings the volumes of a pod that has containers up to date, before the
// view is durable: that comes with the round's end, and before anything is made.
// What could not be is tried again later, and does not hold up the pod.
func (w *worker) refresh(ctx context.Context) {
	if !w.behind || !w.heard || w.order.end != nil || w.record.Finished != nil {
		return
	}
	if !showsObjects(w.record.Pod) {
		w.behind = false
		return
	}
	if len(w.observed.Containers) == 0 || w.held[refreshKey].Since > w.now().Since {
		return
	}
	w.setUpVolumes(ctx)
	delete(w.held, refreshKey)
	if w.behind && ctx.Err() == nil {
		w.held[refreshKey] = w.now().Add(w.delay(refreshKey, actRetry, w.agent.cfg.Resync))
	}
	// Where an object is shared by many pods, the files of all come before the
	// books of any.
	goruntime.Gosched()
}

// setUpVolumes makes the pod's volumes, or brings them up to date with its view.
// While that is not known those of objects are left as they are.
func (w *worker) setUpVolumes(ctx context.Context) (paths map[string]string) {
	origin := w.record.Origin
	req := volumes.Request{
		Pod: w.record.Pod, ConfigMaps: w.view.configMaps, Secrets: w.view.secrets,
		// A folder is root's; records of older podsteads know no more than that.
		NodeControl: origin.NodeControl || origin.Kind == sources.KindFile,
	}
	if !w.view.known {
		req.Pod = withoutObjects(w.record.Pod)
	}
	paths, notes, err := w.agent.deps.Volumes.SetUp(ctx, req)
	unmounted := map[string]*volumes.Error{}
	for name := range paths {
		delete(w.told, "mount/"+name)
	}
	for _, note := range notes {
		w.sayOnce("mount note/"+note.Message, note.Message, func() {
			w.event("", v1.EventTypeWarning, note.Reason, note.Message)
		})
	}
	for _, fault := range volumeErrors(err) {
		unmounted[fault.Volume] = fault
		w.sayOnce("mount/"+fault.Volume, fault.Error(), func() {
			w.event("", v1.EventTypeWarning, events.FailedMount, fault.Error())
		})
	}
	w.unmounted, w.behind = unmounted, len(unmounted) > 0 || !w.view.known
	return paths
}

// saveView makes the newest view durable. A pod that ends needs none any more.
func (w *worker) saveView() error {
	if w.filed == w.mark || !w.heard || w.order.end != nil || w.record.Finished != nil {
		return nil
	}
	if err := w.agent.records.saveView(w.uid, w.mark, w.view.objects); err != nil {
		return err
	}
	w.filed = w.mark
	if w.record.View != w.mark {
		w.record.View, w.unsaved = w.mark, true
	}
	return nil
}

// mayGoOn reports that a full disk need not stop the pod: its record is there,
// and some view of it. What is on disk is then older than what it runs with, and
// whole.
func (w *worker) mayGoOn() bool { return w.recorded && (w.mark.Turn == 0 || w.filed.Turn > 0) }

// remember puts into the record what must be known of a step before it is taken:
// with what containers are made, and which are to be restarted. It reports
// whether that changed.
func (w *worker) remember(step []plan.Action) (changed, restarts bool) {
	h := w.record.History
	for _, a := range step {
		now, uses := w.objects[a.Container]
		switch made := (plan.Made{Attempt: a.Attempt, Objects: now.Digest}); {
		case a.Verb == plan.CreateContainer && uses && h.Containers[a.Container].Made != made:
			h = h.WithMade(a.Container, made)
			changed = true
		case a.Verb == plan.Signal && a.Reason.Restarts():
			restarts = true
			if old := h.Containers[a.Container].Restart; old == nil || old.Attempt != a.Attempt-1 {
				h = h.WithRestart(a.Container, plan.Restart{Attempt: a.Attempt - 1, Reason: a.Reason, Message: a.Message})
				changed = true
			}
		}
	}
	w.record.History = h
	w.unsaved = w.unsaved || changed
	return changed, restarts
}

// rememberAhead does the same for the containers that a later step makes, as far
// as there is none yet of which something else is true.
func (w *worker) rememberAhead(steps [][]plan.Action) {
	for _, step := range steps {
		w.remember(slices.DeleteFunc(slices.Clone(step), func(a plan.Action) bool {
			newest, ok := w.observed.Newest(a.Container)
			return a.Verb != plan.CreateContainer || ok && newest.State == runtime.StateCreated
		}))
	}
}

// tellPullSecrets says once which pull secrets are not there.
func (w *worker) tellPullSecrets() {
	const key = "pull secrets"
	if len(w.view.missing) == 0 {
		delete(w.told, key)
		return
	}
	message := fmt.Sprintf("Unable to retrieve some image pull secrets (%s); attempting to pull the image may not succeed.", strings.Join(w.view.missing, ", "))
	w.sayOnce(key, message, func() { w.event("", v1.EventTypeWarning, events.FailedToRetrieveImagePullSecret, message) })
}
