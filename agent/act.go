package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/agent/podspec"
	"github.com/podstead/podstead/runtime"
)

// Delays after a sandbox or a container that could not be made or started. The
// kubelet tries again after 10 to 15 s; the first tries here come sooner.
const (
	actRetry    = time.Second
	actRetryMax = 15 * time.Second
)

// busyRetry is the delay after the engine had more urgent work.
const busyRetry = time.Second

// errStop ends a round early without being a failure of its own: what failed
// has been noted and is held back for a while, or a newer order has come.
var errStop = errors.New("stop this round")

// performance is one round of acting. Actions of one step run side by side, so
// what they share is guarded.
type performance struct {
	*worker
	paths map[string]string // of volumes, once set up

	mu        sync.Mutex
	sandboxID string
	created   map[string]string // container name → ID made in this round
	failed    map[string]bool   // containers of which an action failed
	acted     bool
	fatal     error
}

// carryOut does the steps in order. The record is written beside the first
// step; a pod that has none yet does not go on without it, in this round or in
// one that tries again.
func (w *worker) carryOut(ctx context.Context, steps [][]plan.Action) (acted bool, err error) {
	if len(steps) == 0 {
		return false, nil
	}
	p := &performance{worker: w, created: map[string]string{}, failed: map[string]bool{}}
	if sandbox, ok := w.observed.Sandbox(); ok {
		p.sandboxID = sandbox.ID
	}
	if begun := len(w.observed.Sandboxes)+len(w.observed.Containers) > 0; begun && !w.recorded {
		if err := w.save(); err != nil {
			return false, err
		}
	}
	w.noteAct(steps[0])
	if err := w.saveBefore(steps[0]); err != nil {
		return false, err
	}
	w.rememberAhead(steps[1:])
	var saving sync.WaitGroup
	saving.Go(func() { err = w.save() })
	p.step(ctx, steps[0])
	saving.Wait()
	if err != nil && !w.mayGoOn() {
		return p.acted, err
	}
	for _, step := range steps[1:] {
		if p.fatal != nil || w.mail.awaited() {
			break
		}
		w.noteAct(step)
		if err := w.saveBefore(step); err != nil {
			return p.acted, err
		}
		p.step(ctx, step)
	}
	if errors.Is(p.fatal, errStop) {
		p.fatal = nil
	}
	return p.acted, p.fatal
}

// saveBefore puts into the record what must be there before a step is taken. A
// full disk holds up restarts that nothing forces, and nothing else.
func (w *worker) saveBefore(step []plan.Action) error {
	changed, restarts := w.remember(step)
	if !changed {
		return nil
	}
	err := w.save()
	if err != nil && !restarts && w.mayGoOn() {
		return nil // the end of the round tries again, and tells
	}
	return err
}

func (p *performance) step(ctx context.Context, actions []plan.Action) {
	p.prepare(ctx, actions)
	if len(actions) == 1 {
		p.act(ctx, actions[0])
		return
	}
	var all sync.WaitGroup
	for _, action := range actions {
		all.Go(func() { p.act(ctx, action) })
	}
	all.Wait()
}

// prepare sets the volumes up before the first container of the round is made.
func (p *performance) prepare(ctx context.Context, actions []plan.Action) {
	if p.paths != nil {
		return
	}
	for _, action := range actions {
		if action.Verb == plan.CreateContainer {
			p.paths = p.setUpVolumes(ctx)
			return
		}
	}
}

func (p *performance) act(ctx context.Context, a plan.Action) {
	if !p.mayAct(a) {
		return
	}
	began := time.Now()
	err := p.do(ctx, a)
	p.agent.metrics.acted(a, time.Since(began))
	if err == nil {
		p.log.Log(ctx, levelOf(a), "acted", "action", string(a.Verb), "container", a.Container, "attempt", a.Attempt,
			"reason", string(a.Reason), "message", a.Message, "took", time.Since(began).Round(time.Millisecond))
		p.succeeded(a)
		return
	}
	if err := p.fail(a, err); err != nil {
		p.note(func() { p.fatal = errors.Join(p.fatal, err) })
	}
}

// levelOf keeps what an event tells already out of the log at level Info.
func levelOf(a plan.Action) slog.Level {
	if a.Verb == plan.CreateContainer || a.Verb == plan.StartContainer {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

func (p *performance) note(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// mayAct: a container of which an action failed is left alone for this round,
// and what failed before is held back until its retry.
func (p *performance) mayAct(a plan.Action) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fatal != nil || a.Container != "" && p.failed[a.Container] {
		return false
	}
	if due, held := p.held[holdKey(a)]; held && due.Since > p.now().Since {
		p.fatal = errStop
		return false
	}
	return true
}

// holdKey is under what a failing action is held back.
func holdKey(a plan.Action) string { return string(a.Verb) + "/" + a.Container }

func (p *performance) do(ctx context.Context, a plan.Action) error {
	switch a.Verb {
	case plan.CreateSandbox:
		return p.createSandbox(ctx, a)
	case plan.StartSandbox:
		return p.startSandbox(ctx, a)
	case plan.CreateContainer:
		return p.createContainer(ctx, a)
	case plan.StartContainer:
		return p.startContainer(ctx, a)
	case plan.Signal:
		return p.signal(ctx, a)
	case plan.Remove:
		return p.agent.deps.Runtime.Remove(ctx, a.ID)
	}
	return fmt.Errorf("carry out %q: no such verb", a.Verb)
}

func (p *performance) createSandbox(ctx context.Context, a plan.Action) error {
	if a.Reason == plan.ReasonSandboxLost {
		p.event("", v1.EventTypeNormal, events.SandboxChanged, "Pod sandbox changed, it will be killed and re-created.")
	}
	id, notes, err := p.agent.deps.Runtime.CreateSandbox(ctx, podspec.Sandbox(p.record.Pod, a.Attempt, p.agent.cfg.Node))
	if err != nil {
		return err
	}
	p.note(func() { p.sandboxID = id })
	p.degraded(notes)
	return nil
}

func (p *performance) startSandbox(ctx context.Context, a plan.Action) error {
	id := a.ID
	if id == "" {
		p.note(func() { id = p.sandboxID })
	}
	started, err := p.agent.deps.Runtime.StartSandbox(ctx, id)
	if err != nil {
		return err
	}
	p.note(func() { p.sandboxID = started.ID })
	p.degraded(started.Notes)
	return nil
}

func (p *performance) createContainer(ctx context.Context, a plan.Action) error {
	cfg, err := p.containerConfig(a)
	if err != nil {
		return err
	}
	id, notes, err := p.agent.deps.Runtime.CreateContainer(ctx, cfg)
	if err != nil {
		return err
	}
	p.note(func() { p.created[a.Container] = id })
	p.degraded(notes)
	message := "Created container: " + a.Container
	if a.Attempt > 0 && a.Message != "" {
		message += " (attempt " + fmt.Sprint(a.Attempt) + ": " + a.Message + ")"
	}
	p.event(a.Container, v1.EventTypeNormal, events.ContainerCreated, message)
	return nil
}

func (p *performance) containerConfig(a plan.Action) (runtime.ContainerConfig, error) {
	var none runtime.ContainerConfig
	c := findContainer(p.record.Pod, a.Container)
	if !p.view.known && usesObjects(p.record.Pod, c) {
		return none, configError{errViewLost(p.record.Origin)}
	}
	for _, mount := range c.VolumeMounts {
		// One that still has its old files does for a container that ran with them.
		if err := p.unmounted[mount.Name]; err != nil && !(err.Stale && p.record.History.Containers[c.Name].Ended != nil) {
			return none, mountError{err}
		}
	}
	messages := ""
	if c.TerminationMessagePath != "" {
		var err error
		if messages, err = p.agent.deps.Volumes.MessageFile(p.uid, c.Name); err != nil {
			return none, configError{err}
		}
	}
	var sandboxID string
	p.note(func() { sandboxID = p.sandboxID })
	cfg, notes, err := podspec.Container(podspec.ContainerInput{
		Pod: p.record.Pod, Container: c, Init: a.Init, Attempt: a.Attempt, SandboxID: sandboxID,
		Image: p.images.image(a.Container), Volumes: p.paths, MessagePath: messages,
		ConfigMaps: p.view.configMaps, Secrets: p.view.secrets,
	})
	if err != nil {
		return none, configError{err}
	}
	p.noted(c.Name, notes)
	return cfg, nil
}

// noted tells once what may be a mistake in a container.
func (p *performance) noted(container string, notes []podspec.Note) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, note := range notes {
		p.sayOnce("note/"+container+"/"+note.Message, note.Message, func() {
			p.event(container, v1.EventTypeWarning, note.Reason, note.Message)
		})
	}
}

func findContainer(pod *v1.Pod, name string) *v1.Container {
	for _, list := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return &v1.Container{Name: name}
}

func (p *performance) startContainer(ctx context.Context, a plan.Action) error {
	id := a.ID
	if id == "" {
		p.note(func() { id = p.created[a.Container] })
	}
	if err := p.agent.deps.Runtime.StartContainer(ctx, id); err != nil {
		return err
	}
	p.event(a.Container, v1.EventTypeNormal, events.ContainerStarted, "Started container "+a.Container)
	return nil
}
