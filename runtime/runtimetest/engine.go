package runtimetest

import (
	"context"

	"github.com/podstead/podstead/runtime"
)

// Engine returns what the engine says of itself; as a ping it is journaled.
func (f *Fake) Engine(ctx context.Context) (runtime.Engine, error) {
	return call(ctx, f, Call{Verb: "Engine"}, func() (runtime.Engine, error) { return f.info, nil })
}

// CheckRoot answers as RefuseRoot was told.
func (f *Fake) CheckRoot(ctx context.Context, _ string) error {
	_, err := call(ctx, f, Call{Verb: "CheckRoot"}, func() (struct{}, error) { return struct{}{}, f.rootErr })
	return err
}

// CanMount answers as RefuseMounts was told.
func (f *Fake) CanMount(context.Context) (bool, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mountWhy == "", f.mountWhy
}

// SetEngine changes what the engine says of itself.
func (f *Fake) SetEngine(change func(*runtime.Engine)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.info)
}

// RefuseRoot makes the engine unable to see the agent's root-dir; nil ends it.
func (f *Fake) RefuseRoot(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rootErr = err
}

// RefuseMounts makes the agent unable to mount for the engine; "" ends it.
func (f *Fake) RefuseMounts(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mountWhy = why
}

// Down stops the engine: no call is answered, and without live-restore
// everything it runs ends.
func (f *Fake) Down() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = true
	f.expel(nil, runtime.ErrUnavailable)
	f.resync()
	if f.info.LiveRestore {
		return
	}
	for _, o := range f.objects {
		f.shutDown(o)
	}
}

// shutDown ends what runs as the engine's own shutdown does.
func (f *Fake) shutDown(o *object) {
	switch {
	case o.state != runtime.StateRunning:
	case o.process.term != nil:
		f.die(o, o.process.term.code, "")
	case o.process.deaf:
		f.die(o, 137, "")
	default:
		f.die(o, 143, "")
	}
}

// Up starts the engine again.
func (f *Fake) Up() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = false
	f.resync()
}

// Reboot is a power loss: all that ran has ended with code 255, as the engine
// tells after it is up again.
func (f *Fake) Reboot() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = true
	f.expel(nil, runtime.ErrUnavailable)
	for _, o := range f.objects {
		if o.state == runtime.StateRunning {
			f.die(o, 255, "")
		}
	}
	f.down = false
	f.resync()
}

// Freeze makes the engine hang, as a stopped process does: calls wait and
// events do not come. Its containers go on.
func (f *Fake) Freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.frozen == nil {
		f.frozen = make(chan struct{})
	}
}

// Thaw ends Freeze. Calls that still wait are answered.
func (f *Fake) Thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.frozen != nil {
		close(f.frozen)
		f.frozen = nil
		f.resync()
	}
}
