package runtimetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/podstead/podstead/runtime"
)

// CreateContainer makes a container, or adopts the one of its name; one made for
// another sandbox and never started is replaced. Its image must be present.
func (f *Fake) CreateContainer(ctx context.Context, cfg runtime.ContainerConfig) (id string, notes []runtime.Degraded, err error) {
	c := Call{Verb: "CreateContainer", UID: cfg.Pod.UID, Container: cfg.Name, Detail: cfg.Image}
	made, err := call(ctx, f, c, func() (created, error) {
		if o := f.objects[cfg.SandboxID]; o == nil || o.box == nil {
			return created{}, fmt.Errorf("%w: no sandbox %q", runtime.ErrSandboxGone, cfg.SandboxID)
		}
		if _, err := f.image(cfg.Image); err != nil {
			return created{}, err
		}
		if o := f.names[engineName(cfg.Pod, cfg.Name, cfg.Attempt)]; o != nil {
			if o.cfg.SandboxID == cfg.SandboxID || o.state != runtime.StateCreated {
				return created{id: o.id}, nil
			}
			f.drop(o)
		}
		o := f.add(cfg.Pod, cfg.Name, cfg.Attempt)
		o.cfg = &cfg
		return created{o.id, f.takeNotes()}, nil
	})
	return made.id, made.notes, err
}

// StartContainer starts a container. One that runs or has ended is left alone: an
// instance runs once.
func (f *Fake) StartContainer(ctx context.Context, id string) error {
	_, err := call(ctx, f, Call{Verb: "StartContainer", ID: id}, func() (struct{}, error) {
		o := f.objects[id]
		switch {
		case o == nil || o.cfg == nil:
			return struct{}{}, runtime.ErrNotFound
		case o.state != runtime.StateCreated:
			return struct{}{}, nil
		}
		if box := f.objects[o.cfg.SandboxID]; box == nil || box.state != runtime.StateRunning {
			return struct{}{}, runtime.ErrSandboxGone
		}
		o.process = f.processOf(o)
		if o.process.refused != 0 {
			return struct{}{}, f.refuse(o)
		}
		f.launch(o)
		return struct{}{}, nil
	})
	return err
}

// reasonCannotRun is how a container ended whose process could not be run.
const reasonCannotRun = "ContainerCannotRun"

// refuse leaves the container as an engine does that could not run its process.
func (f *Fake) refuse(o *object) error {
	words := strings.Join(append(append([]string{}, o.cfg.Command...), o.cfg.Args...), " ")
	o.state, o.code, o.reason = runtime.StateExited, o.process.refused, reasonCannotRun
	o.message = fmt.Sprintf("exec: %q: cannot run", words)
	o.startedAt, o.finishedAt = o.createdAt, o.createdAt
	o.notify()
	f.emit(runtime.EventDied, o)
	return fmt.Errorf("%w: %s", runtime.ErrCannotRun, o.message)
}

// Signal sends a signal. What does not run has nothing to be told: a success.
func (f *Fake) Signal(ctx context.Context, id, signal string) error {
	_, err := call(ctx, f, Call{Verb: "Signal", ID: id, Detail: signal}, func() (struct{}, error) {
		if o := f.objects[id]; o != nil {
			f.signal(o, signal)
		}
		return struct{}{}, nil
	})
	return err
}

// Remove takes a container or sandbox away, whatever it does. Gone is a success.
func (f *Fake) Remove(ctx context.Context, id string) error {
	_, err := call(ctx, f, Call{Verb: "Remove", ID: id}, func() (struct{}, error) {
		if o := f.objects[id]; o != nil {
			f.drop(o)
		}
		return struct{}{}, nil
	})
	return err
}
