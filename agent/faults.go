package agent

import (
	"cmp"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/agent/volumes"
	"github.com/podstead/podstead/runtime"
)

// Waiting reasons of a container that could not be made.
const (
	reasonConfig   = "CreateContainerConfigError"
	reasonCreating = "ContainerCreating" // a volume is missing
	reasonCreate   = "CreateContainerError"
)

// configError is a container whose configuration cannot be resolved.
type configError struct{ error }

// mountError is a container one of whose volumes could not be set up.
type mountError struct{ error }

// succeeded forgets what was said and held back about a thing that works now.
func (p *performance) succeeded(a plan.Action) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acted = true
	key := holdKey(a)
	delete(p.held, key)
	delete(p.backoff, key)
	delete(p.told, key)
	switch a.Verb {
	case plan.CreateSandbox:
		p.made = true
	case plan.CreateContainer:
		p.made = true
		delete(p.failures, a.Container)
		delete(p.changed, a.Container)
	case plan.StartContainer:
		delete(p.failures, a.Container)
	case plan.StartSandbox:
		p.sandboxFault = ""
	}
}

// fail takes note of what failed, holds it back for a while, and returns what
// ends the round: errStop, or the engine's absence.
func (p *performance) fail(a plan.Action, err error) error {
	if errors.Is(err, runtime.ErrUnavailable) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(err, runtime.ErrBusy) {
		p.held[holdKey(a)] = p.now().Add(busyRetry)
		return errStop
	}
	switch a.Verb {
	case plan.CreateSandbox, plan.StartSandbox:
		return p.sandboxFailed(a, err)
	case plan.CreateContainer:
		return p.createFailed(a, err)
	case plan.StartContainer:
		return p.startFailed(a, err)
	}
	return fmt.Errorf("%s %s: %w", a.Verb, a.ID, err)
}

func (p *performance) sandboxFailed(a plan.Action, err error) error {
	if errors.Is(err, runtime.ErrNotFound) {
		p.acted = true // it vanished under our hands: look again
		return errStop
	}
	p.hold(a)
	p.sandboxFault = err.Error()
	p.sayOnce(holdKey(a), err.Error(), func() {
		p.event("", v1.EventTypeWarning, events.FailedCreatePodSandBox, "Failed to create pod sandbox: "+err.Error())
	})
	return errStop
}

func (p *performance) createFailed(a plan.Action, err error) error {
	if errors.Is(err, runtime.ErrSandboxGone) || errors.Is(err, runtime.ErrNotFound) {
		p.acted = true
		return errStop
	}
	reason := reasonCreate
	var cannotConfigure configError
	var cannotMount mountError
	switch {
	case errors.As(err, &cannotConfigure):
		reason = reasonConfig
	case errors.As(err, &cannotMount):
		reason = reasonCreating
	}
	return p.containerFailed(a, reason, err)
}

func (p *performance) startFailed(a plan.Action, err error) error {
	if errors.Is(err, runtime.ErrSandboxGone) || errors.Is(err, runtime.ErrNotFound) {
		p.acted = true
		return errStop
	}
	if errors.Is(err, runtime.ErrCannotRun) && p.refused[a.Container] != a.ID {
		// The attempt was made and failed: the engine shows it as an exit, to which
		// the restart policy applies. If it does not, the same instance comes here
		// again, by its ID, and waits like any failure.
		p.refused[a.Container] = cmp.Or(a.ID, p.created[a.Container])
		p.acted = true
		p.failed[a.Container] = true
		p.event(a.Container, v1.EventTypeWarning, events.ContainerFailed, "Error: "+err.Error())
		return nil
	}
	return p.containerFailed(a, "RunContainerError", err)
}

// containerFailed holds one container back; the others of the pod go on, but
// nothing follows an init container that could not be made.
func (p *performance) containerFailed(a plan.Action, reason string, err error) error {
	key := holdKey(a)
	p.failed[a.Container] = true
	p.failures[a.Container] = plan.Failure{
		Waiting: plan.Waiting{Reason: reason, Message: err.Error()},
		Retry:   p.now().Add(p.delay(key, actRetry, actRetryMax)),
	}
	p.waiting[a.Container] = p.failures[a.Container].Waiting
	if reason != reasonCreating { // what FailedMount has told is not told again
		p.sayOnce(key, err.Error(), func() {
			p.event(a.Container, v1.EventTypeWarning, events.ContainerFailed, "Error: "+err.Error())
		})
	}
	if a.Init {
		return errStop
	}
	return nil
}

// hold keeps an action from being tried again for a while.
func (p *performance) hold(a plan.Action) {
	key := holdKey(a)
	p.held[key] = p.now().Add(p.delay(key, actRetry, actRetryMax))
}

// sayOnce says something about a thing unless that was the last that was said.
func (w *worker) sayOnce(key, text string, say func()) {
	if w.told[key] != text {
		w.told[key] = text
		say()
	}
}

// degraded tells what the engine refused of what is only best effort.
func (p *performance) degraded(notes []runtime.Degraded) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, note := range notes {
		p.sayOnce("note/"+note.Reason, note.Message, func() {
			p.event("", v1.EventTypeWarning, note.Reason, note.Message)
		})
	}
}

// event records an event about the pod, or about one of its containers.
func (w *worker) event(container, eventType, reason, message string) {
	about := events.Pod(w.record.Pod)
	if container != "" {
		about = events.Container(w.record.Pod, container)
	}
	w.agent.deps.Events.Event(about, eventType, reason, message)
}

// volumeErrors takes a joined error of SetUp apart.
func volumeErrors(err error) []*volumes.Error {
	if err == nil {
		return nil
	}
	var one *volumes.Error
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*volumes.Error
		for _, part := range joined.Unwrap() {
			all = append(all, volumeErrors(part)...)
		}
		return all
	}
	if errors.As(err, &one) {
		return []*volumes.Error{one}
	}
	return nil
}
