package runtimetest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/podstead/podstead/runtime"
)

func (b *bench) verbsTwice() {
	ctx := b.Context()
	id := b.createSandbox(runtime.SandboxConfig{})
	if again := b.createSandbox(runtime.SandboxConfig{}); again != id {
		b.Errorf("second create of the sandbox made %s beside %s", again, id)
	}
	for range 2 {
		started, err := b.rt.StartSandbox(ctx, id)
		b.must(err)
		if started.ID != id || len(started.IPs) == 0 {
			b.Errorf("started sandbox %s as %+v, want it with an address", id, started)
		}
	}
	if again := b.createSandbox(runtime.SandboxConfig{}); again != id {
		b.Errorf("create of the running sandbox made %s beside %s", again, id)
	}
	c := b.create(id, 0, b.env.Commands.Deaf)
	if again := b.create(id, 0, b.env.Commands.Deaf); again != c {
		b.Errorf("second create of the container made %s beside %s", again, c)
	}
	b.must(b.rt.StartContainer(ctx, c))
	first := find(b.observe(), c)
	b.must(b.rt.StartContainer(ctx, c))
	pod := b.observe()
	if len(pod.Sandboxes) != 1 || len(pod.Containers) != 1 {
		b.Fatalf("pod has %d sandboxes and %d containers, want one of each", len(pod.Sandboxes), len(pod.Containers))
	}
	if got := pod.Containers[0]; got.State != runtime.StateRunning || !got.StartedAt.Equal(first.StartedAt) {
		b.Errorf("container is %s since %v, want running since %v", got.State, got.StartedAt, first.StartedAt)
	}
	if pod.PodRef != b.pod {
		b.Errorf("pod shows as %+v, want %+v", pod.PodRef, b.pod)
	}
	if pod.Containers[0].SandboxID != id {
		b.Errorf("container belongs to sandbox %s, want %s", pod.Containers[0].SandboxID, id)
	}
}

func (b *bench) goneIsSuccess() {
	ctx := b.Context()
	box := b.sandbox()
	c := b.running(box, 0, b.env.Commands.Succeed)
	b.untilEnded(c)
	b.check(b.rt.StartContainer(ctx, c)) // an instance runs once
	if got := find(b.observe(), c); got.State != runtime.StateExited {
		b.Errorf("started once more, an ended container is %s", got.State)
	}
	b.check(b.rt.Signal(ctx, c, "TERM"))
	for _, id := range []string{c, box} {
		for range 2 {
			b.check(b.rt.Remove(ctx, id))
		}
		b.check(b.rt.Signal(ctx, id, "KILL"))
	}
	if pod := b.observe(); len(pod.Sandboxes)+len(pod.Containers) != 0 {
		b.Errorf("something is left: %+v", pod)
	}
	if err := b.rt.StartContainer(ctx, c); !errors.Is(err, runtime.ErrNotFound) {
		b.Errorf("start of a removed container: %v, want ErrNotFound", err)
	}
}

func (b *bench) createdNeverStarted() {
	box := b.createSandbox(runtime.SandboxConfig{})
	c := b.create(box, 0, b.env.Commands.Succeed)
	pod := b.observe()
	if s := pod.Sandboxes[0]; s.State != runtime.StateCreated || !s.FinishedAt.IsZero() {
		b.Errorf("sandbox is %s, finished %v; want created and not finished", s.State, s.FinishedAt)
	}
	if got := find(pod, c); got.State != runtime.StateCreated || got.CreatedAt.IsZero() || !got.StartedAt.IsZero() {
		b.Errorf("container is %+v, want created, with that time only", got)
	}
	_, err := b.rt.StartSandbox(b.Context(), box)
	b.must(err)
	b.must(b.rt.StartContainer(b.Context(), c))
	b.untilEnded(c)
}

func (b *bench) exitCodes() {
	box := b.sandbox()
	for attempt, want := range []struct {
		command []string
		code    int
		reason  string
	}{
		{b.env.Commands.Succeed, 0, "Completed"},
		{b.env.Commands.Fail, 3, "Error"},
	} {
		got := b.untilEnded(b.running(box, attempt, want.command))
		if got.ExitCode != want.code || got.Reason != want.reason {
			b.Errorf("ended with %d %s, want %d %s", got.ExitCode, got.Reason, want.code, want.reason)
		}
		if got.StartedAt.IsZero() || got.FinishedAt.Before(got.StartedAt) {
			b.Errorf("ran from %v to %v", got.StartedAt, got.FinishedAt)
		}
	}
}

func (b *bench) cannotRun() {
	c := b.create(b.sandbox(), 0, b.env.Commands.Nope)
	if err := b.rt.StartContainer(b.Context(), c); !errors.Is(err, runtime.ErrCannotRun) {
		b.Errorf("start: %v, want ErrCannotRun", err)
	}
	got := b.untilEnded(c)
	if got.Reason != "ContainerCannotRun" || got.ExitCode != 127 {
		b.Errorf("ended with %d %s, want 127 ContainerCannotRun", got.ExitCode, got.Reason)
	}
}

func (b *bench) signals() {
	ctx, box := b.Context(), b.sandbox()
	polite := b.running(box, 0, b.env.Commands.Trap)
	b.untilPrinted(polite, "ready")
	b.must(b.rt.Signal(ctx, polite, "TERM"))
	if got := b.untilEnded(polite); got.ExitCode != 7 {
		b.Errorf("ended with %d, want the 7 of its trap", got.ExitCode)
	}
	deaf := b.running(box, 1, b.env.Commands.Deaf)
	b.must(b.rt.Signal(ctx, deaf, "TERM"))
	if got := find(b.observe(), deaf); got.State != runtime.StateRunning {
		b.Errorf("who ignores TERM is %s after it", got.State)
	}
	b.must(b.rt.Signal(ctx, deaf, "KILL"))
	if got := b.untilEnded(deaf); got.ExitCode != 137 {
		b.Errorf("ended with %d, want 137", got.ExitCode)
	}
	b.must(b.rt.Signal(ctx, box, "TERM"))
	b.until("the sandbox has ended", func(pod runtime.Pod) bool { return pod.Sandboxes[0].State == runtime.StateExited })
}

func (b *bench) sandboxGone() {
	box := b.sandbox()
	c := b.create(box, 0, b.env.Commands.Deaf)
	b.must(b.rt.Signal(b.Context(), box, "KILL"))
	b.until("the sandbox has ended", func(pod runtime.Pod) bool { return pod.Sandboxes[0].State == runtime.StateExited })
	if err := b.rt.StartContainer(b.Context(), c); !errors.Is(err, runtime.ErrSandboxGone) {
		b.Errorf("start: %v, want ErrSandboxGone", err)
	}
}

func (b *bench) imageMissing() {
	cfg := b.config(b.sandbox(), 0, b.env.Commands.Deaf)
	cfg.Image = b.env.Missing
	if _, _, err := b.rt.CreateContainer(b.Context(), cfg); !errors.Is(err, runtime.ErrNotFound) {
		b.Errorf("create: %v, want ErrNotFound", err)
	}
}

func (b *bench) portConflict() {
	ctx := b.Context()
	port := func(protocol, ip string) runtime.SandboxConfig {
		return runtime.SandboxConfig{Ports: []runtime.PortMapping{{Protocol: protocol, HostIP: ip, HostPort: b.env.HostPort, ContainerPort: 80}}}
	}
	holder := b.createSandbox(port("TCP", "127.0.0.1"))
	_, err := b.rt.StartSandbox(ctx, holder)
	b.must(err)

	udp := b.other()
	_, err = b.rt.StartSandbox(ctx, udp.createSandbox(port("UDP", "127.0.0.1")))
	b.check(err)

	late := b.other()
	id := late.createSandbox(port("TCP", ""))
	if _, err := b.rt.StartSandbox(ctx, id); !errors.Is(err, runtime.ErrPortInUse) {
		b.Fatalf("start beside the port's holder: %v, want ErrPortInUse", err)
	}
	b.must(b.rt.Remove(ctx, holder))
	_, err = b.rt.StartSandbox(ctx, id)
	b.check(err)
	if got := late.observe(); len(got.Sandboxes) != 1 || got.Sandboxes[0].State != runtime.StateRunning {
		b.Errorf("after the port was free: %+v, want one sandbox that runs", got.Sandboxes)
	}
}

func (b *bench) newestFirst() {
	box := b.sandbox()
	b.untilEnded(b.running(box, 0, b.env.Commands.Fail))
	b.untilEnded(b.running(box, 1, b.env.Commands.Fail))
	pod := b.observe()
	if len(pod.Containers) != 2 || pod.Containers[0].Attempt != 1 || pod.Containers[1].Attempt != 0 {
		b.Errorf("containers are %+v, want attempts 1 and 0", pod.Containers)
	}
}

func (b *bench) hostNetwork() {
	id := b.createSandbox(runtime.SandboxConfig{HostNetwork: true})
	started, err := b.rt.StartSandbox(b.Context(), id)
	b.must(err)
	box, _ := b.observe().Sandbox()
	if len(started.IPs)+len(box.IPs) != 0 || !box.HostNetwork || box.State != runtime.StateRunning {
		b.Errorf("host network sandbox is %+v, started as %+v", box, started)
	}
}

func (b *bench) logs() {
	ctx := b.Context()
	c := b.running(b.sandbox(), 0, b.env.Commands.Print)
	var stdout, stderr strings.Builder
	b.must(b.rt.Logs(ctx, c, runtime.LogOptions{Follow: true}, &stdout, &stderr))
	if stdout.String() != "one\ntwo\n" || stderr.String() != "oops\n" {
		b.Errorf("log tells %q and %q", stdout.String(), stderr.String())
	}
	b.untilEnded(c)
	// An engine may put the two streams into either order.
	for _, want := range []struct {
		name  string
		opts  runtime.LogOptions
		bytes int
	}{
		{"all", runtime.LogOptions{}, len("one\ntwo\noops\n")},
		{"no lines from the end", runtime.LogOptions{Tail: new(int64)}, 0},
		{"three bytes", runtime.LogOptions{LimitBytes: ptr(int64(3))}, 3},
		{"nothing so new", runtime.LogOptions{Since: ptr(time.Now().Add(time.Hour))}, 0},
	} {
		var out strings.Builder
		b.must(b.rt.Logs(ctx, c, want.opts, &out, &out))
		if out.Len() != want.bytes {
			b.Errorf("%s: log tells %q, want %d bytes", want.name, out.String(), want.bytes)
		}
	}
	b.must(b.rt.Remove(ctx, c))
	if err := b.rt.Logs(ctx, c, runtime.LogOptions{}, &stdout, &stderr); !errors.Is(err, runtime.ErrNotFound) {
		b.Errorf("log of a removed container: %v, want ErrNotFound", err)
	}
}

func (b *bench) events() {
	ctx, cancel := context.WithCancel(b.Context())
	out, done := make(chan runtime.Event), make(chan error, 1)
	go func() { done <- b.rt.Run(ctx, out) }()
	defer func() {
		cancel()
		<-done
	}()
	b.hear(out, func(e runtime.Event) bool { return e.Kind == runtime.EventResync })
	c := b.running(b.sandbox(), 0, b.env.Commands.Fail)
	b.hear(out, func(e runtime.Event) bool {
		return e.Kind == runtime.EventDied && e.ID == c && e.UID == b.pod.UID && e.Container == "main"
	})
	b.must(b.rt.Remove(ctx, c))
	b.hear(out, func(e runtime.Event) bool { return e.Kind == runtime.EventRemoved && e.ID == c })
}

// hear takes events until the one that is waited for.
func (b *bench) hear(out <-chan runtime.Event, ok func(runtime.Event) bool) {
	b.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case e := <-out:
			if ok(e) {
				return
			}
		case <-limit.C:
			b.Fatal("the event did not come")
		}
	}
}

// untilPrinted waits for a line of the container's stdout.
func (b *bench) untilPrinted(id, want string) {
	b.Helper()
	b.until("it printed "+want, func(runtime.Pod) bool {
		var out strings.Builder
		b.must(b.rt.Logs(b.Context(), id, runtime.LogOptions{}, &out, &strings.Builder{}))
		return strings.Contains(out.String(), want)
	})
}

func ptr[T any](v T) *T { return &v }
