package runtimetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/podstead/podstead/runtime"
)

// created is what a create brought.
type created struct {
	id    string
	notes []runtime.Degraded
}

// CreateSandbox makes a sandbox, or adopts the one of its name.
func (f *Fake) CreateSandbox(ctx context.Context, cfg runtime.SandboxConfig) (id string, notes []runtime.Degraded, err error) {
	c := Call{Verb: "CreateSandbox", UID: cfg.Pod.UID, Detail: cfg.Pod.String()}
	made, err := call(ctx, f, c, func() (created, error) {
		if o := f.names[engineName(cfg.Pod, Pause, cfg.Attempt)]; o != nil {
			return created{id: o.id}, nil
		}
		o := f.add(cfg.Pod, Pause, cfg.Attempt)
		o.box = &cfg
		return created{o.id, f.takeNotes()}, nil
	})
	return made.id, made.notes, err
}

// StartSandbox starts a sandbox: it takes its host ports and gets its address.
// One whose network was pruned is made anew, under another ID.
func (f *Fake) StartSandbox(ctx context.Context, id string) (runtime.StartedSandbox, error) {
	return call(ctx, f, Call{Verb: "StartSandbox", ID: id}, func() (runtime.StartedSandbox, error) {
		o := f.objects[id]
		switch {
		case o == nil || o.box == nil:
			return runtime.StartedSandbox{}, runtime.ErrNotFound
		case o.state == runtime.StateRunning:
			return runtime.StartedSandbox{ID: id, IPs: slices.Clone(o.ips)}, nil
		case o.state == runtime.StateExited:
			return runtime.StartedSandbox{}, fmt.Errorf("%w: it has ended", runtime.ErrSandboxGone)
		}
		if o.unplugged && !o.box.HostNetwork {
			o = f.renew(o)
		}
		if err := f.plugIn(o); err != nil {
			return runtime.StartedSandbox{}, err
		}
		o.process = f.processOf(o)
		started := runtime.StartedSandbox{ID: o.id, IPs: slices.Clone(o.ips), Notes: f.takeNotes()}
		f.launch(o)
		return started, nil
	})
}

// renew makes the sandbox once more; its containers keep the old one's ID.
func (f *Fake) renew(o *object) *object {
	cfg := *o.box
	f.drop(o)
	fresh := f.add(cfg.Pod, Pause, cfg.Attempt)
	fresh.box = &cfg
	return fresh
}

// plugIn gives the sandbox its ports and its address.
func (f *Fake) plugIn(o *object) error {
	if o.box.HostNetwork {
		return nil
	}
	if err := f.portsFree(o); err != nil {
		return err
	}
	if f.netLimit > 0 && f.plugged() >= f.netLimit {
		return runtime.ErrNetworkFull
	}
	f.addresses++
	o.ips = []string{fmt.Sprintf("10.112.%d.%d", f.addresses/254, f.addresses%254+1)}
	return nil
}

// plugged counts the sandboxes on the bridge.
func (f *Fake) plugged() int {
	n := 0
	for _, o := range f.objects {
		if o.box != nil && !o.box.HostNetwork && o.state == runtime.StateRunning {
			n++
		}
	}
	return n
}

// LimitNetwork lets the bridge carry no more than n sandboxes; 0 for no limit.
func (f *Fake) LimitNetwork(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.netLimit = n
}

// PruneNetwork takes the bridge away: sandboxes that were made and not started
// have to be made anew.
func (f *Fake) PruneNetwork() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.objects {
		o.unplugged = o.box != nil && o.state == runtime.StateCreated
	}
}

// Degrade makes the next create or sandbox start bring these notes.
func (f *Fake) Degrade(notes ...runtime.Degraded) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notes = append(f.notes, notes...)
}

func (f *Fake) takeNotes() []runtime.Degraded {
	notes := f.notes
	f.notes = nil
	return notes
}
