package runtimetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/podstead/podstead/runtime"
)

// List returns all pods by UID, as an engine's list of containers tells them:
// identities and states, no times but that of creation, no exit codes, no
// addresses; and a container that could not be run as a created one.
func (f *Fake) List(ctx context.Context) ([]runtime.Pod, error) {
	return call(ctx, f, Call{Verb: "List"}, func() ([]runtime.Pod, error) {
		pods := f.all()
		for i := range pods {
			roughly(&pods[i])
		}
		return pods, nil
	})
}

// Namesakes returns what SetNamesakes was told.
func (f *Fake) Namesakes(ctx context.Context) ([]runtime.Namesake, error) {
	return call(ctx, f, Call{Verb: "Namesakes"}, func() ([]runtime.Namesake, error) { return f.namesakes, nil })
}

// Pod returns all of one pod; an absent one is empty.
func (f *Fake) Pod(ctx context.Context, uid string) (runtime.Pod, error) {
	return call(ctx, f, Call{Verb: "Pod", UID: uid}, func() (runtime.Pod, error) { return f.pod(uid), nil })
}

// Peek returns one pod as Pod does, without being a call.
func (f *Fake) Peek(uid string) runtime.Pod {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pod(uid)
}

// PeekAll returns all pods by UID in full, without being a call.
func (f *Fake) PeekAll() []runtime.Pod {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all()
}

func (f *Fake) all() []runtime.Pod {
	var pods []runtime.Pod
	for _, uid := range slices.Sorted(maps.Keys(f.pods)) {
		pods = append(pods, f.pod(uid))
	}
	return pods
}

func (f *Fake) pod(uid string) runtime.Pod {
	var p runtime.Pod
	objects := slices.SortedFunc(slices.Values(f.pods[uid]), func(a, b *object) int {
		return cmp.Or(cmp.Compare(b.attempt(), a.attempt()), cmp.Compare(b.seq, a.seq))
	})
	for _, o := range objects {
		p.PodRef = o.ref()
		if o.box != nil {
			p.Sandboxes = append(p.Sandboxes, o.sandbox())
		} else {
			p.Containers = append(p.Containers, o.container(f.images[normalName(o.cfg.Image)].ID))
		}
	}
	return p
}

func (o *object) attempt() int {
	if o.cfg != nil {
		return o.cfg.Attempt
	}
	return o.box.Attempt
}

func (o *object) sandbox() runtime.Sandbox {
	return runtime.Sandbox{
		ID: o.id, Attempt: o.box.Attempt, State: o.state,
		CreatedAt: o.createdAt, StartedAt: o.startedAt, FinishedAt: o.finishedAt,
		IPs: slices.Clone(o.ips), HostNetwork: o.box.HostNetwork,
	}
}

func (o *object) container(imageID string) runtime.Container {
	c := runtime.Container{
		ID: o.id, Name: o.cfg.Name, Attempt: o.cfg.Attempt, SandboxID: o.cfg.SandboxID,
		Image: o.cfg.Image, ImageID: imageID, State: o.state,
		CreatedAt: o.createdAt, StartedAt: o.startedAt, FinishedAt: o.finishedAt,
		ExitCode: o.code, Reason: o.reason, Message: o.message,
		StopSignal: o.cfg.StopSignal, MessagePath: o.cfg.MessagePath, LogPath: o.logPath,
	}
	if o.state == runtime.StateRunning {
		c.FinishedAt = time.Time{} // of an earlier run
	}
	return c
}

// roughly leaves what an engine's list tells.
func roughly(p *runtime.Pod) {
	for i := range p.Sandboxes {
		s := &p.Sandboxes[i]
		s.StartedAt, s.FinishedAt, s.IPs = time.Time{}, time.Time{}, nil
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		if c.Reason == reasonCannotRun {
			c.State = runtime.StateCreated
		}
		c.StartedAt, c.FinishedAt = time.Time{}, time.Time{}
		c.ExitCode, c.Reason, c.Message, c.StopSignal, c.ImageID, c.LogPath = 0, "", "", "", "", ""
	}
}
