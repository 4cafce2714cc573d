package runtimetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/podstead/podstead/runtime"
)

// patience is how long a case waits for something to happen.
const patience = 30 * time.Second

// bench is one case's pod on one runtime.
type bench struct {
	*testing.T
	rt  Runtime
	env Env
	pod runtime.PodRef
}

func newBench(t *testing.T, rt Runtime, env Env) *bench {
	// Several runs share a real engine: the UID is nobody else's.
	uid := fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())
	b := &bench{T: t, rt: rt, env: env, pod: runtime.PodRef{UID: uid, Namespace: env.Namespace, Name: "contract-" + uid[:6]}}
	t.Cleanup(b.sweep)
	return b
}

// other is a second pod beside the case's own.
func (b *bench) other() *bench {
	return newBench(b.T, b.rt, b.env)
}

// sweep removes whatever the case left, when the test's own context has ended.
func (b *bench) sweep() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.Context()), patience)
	defer cancel()
	pod, err := b.rt.Pod(ctx, b.pod.UID)
	if err != nil {
		b.Errorf("look for leftovers: %v", err)
	}
	for _, c := range pod.Containers {
		b.check(b.rt.Remove(ctx, c.ID))
	}
	for _, s := range pod.Sandboxes {
		b.check(b.rt.Remove(ctx, s.ID))
	}
}

func (b *bench) check(err error) {
	b.Helper()
	if err != nil {
		b.Errorf("unexpected error: %v", err)
	}
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("unexpected error: %v", err)
	}
}

func (b *bench) observe() runtime.Pod {
	b.Helper()
	pod, err := b.rt.Pod(b.Context(), b.pod.UID)
	b.must(err)
	return pod
}

// until looks at the pod until it is as it should be.
func (b *bench) until(what string, ok func(runtime.Pod) bool) runtime.Pod {
	b.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(patience); ; <-tick.C {
		pod := b.observe()
		if ok(pod) {
			return pod
		}
		if time.Now().After(limit) {
			b.Fatalf("waited in vain until %s: %+v", what, pod)
		}
	}
}

// untilEnded waits for the container's end.
func (b *bench) untilEnded(id string) runtime.Container {
	b.Helper()
	pod := b.until("the container has ended", func(pod runtime.Pod) bool { return find(pod, id).State == runtime.StateExited })
	return find(pod, id)
}

func find(pod runtime.Pod, id string) runtime.Container {
	for _, c := range pod.Containers {
		if c.ID == id {
			return c
		}
	}
	return runtime.Container{}
}

// sandbox makes and starts the pod's sandbox.
func (b *bench) sandbox() string {
	b.Helper()
	id := b.createSandbox(runtime.SandboxConfig{})
	started, err := b.rt.StartSandbox(b.Context(), id)
	b.must(err)
	return started.ID
}

func (b *bench) createSandbox(cfg runtime.SandboxConfig) string {
	b.Helper()
	cfg.Pod = b.pod
	id, _, err := b.rt.CreateSandbox(b.Context(), cfg)
	b.must(err)
	return id
}

func (b *bench) config(sandbox string, attempt int, command []string) runtime.ContainerConfig {
	return runtime.ContainerConfig{
		Pod: b.pod, Name: "main", Attempt: attempt, SandboxID: sandbox,
		Image: b.env.Image, Command: command, StopTimeout: 2 * time.Second,
		Resources: runtime.Resources{CPUShares: 2},
	}
}

func (b *bench) create(sandbox string, attempt int, command []string) string {
	b.Helper()
	id, _, err := b.rt.CreateContainer(b.Context(), b.config(sandbox, attempt, command))
	b.must(err)
	return id
}

// running makes and starts a container.
func (b *bench) running(sandbox string, attempt int, command []string) string {
	b.Helper()
	id := b.create(sandbox, attempt, command)
	b.must(b.rt.StartContainer(b.Context(), id))
	return id
}
