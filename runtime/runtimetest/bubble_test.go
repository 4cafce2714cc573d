package runtimetest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/podstead/podstead/runtime"
)

const testImage = "podstead-test/lamp:1"

// lamp is a pod of one container on a fake.
type lamp struct {
	*testing.T
	*Fake
	pod runtime.PodRef
}

// bubble runs a test with a fake on the bubble's clock.
func bubble(t *testing.T, run func(l *lamp)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := New(time.Now)
		f.AddImage(testImage)
		run(&lamp{T: t, Fake: f, pod: runtime.PodRef{UID: "u1", Namespace: "default", Name: "lamp-n1"}})
	})
}

// beside is another pod on the same fake.
func (l *lamp) beside(name string) *lamp {
	return &lamp{T: l.T, Fake: l.Fake, pod: runtime.PodRef{UID: "u-" + name, Namespace: "default", Name: name}}
}

func (l *lamp) box(ports ...runtime.PortMapping) string {
	l.Helper()
	id, _, err := l.CreateSandbox(l.Context(), runtime.SandboxConfig{Pod: l.pod, Ports: ports})
	l.must(err)
	return id
}

func (l *lamp) startBox(ports ...runtime.PortMapping) (string, error) {
	l.Helper()
	started, err := l.StartSandbox(l.Context(), l.box(ports...))
	return started.ID, err
}

// web makes and starts the container in a running sandbox.
func (l *lamp) web(box string, attempt int) (string, error) {
	l.Helper()
	cfg := runtime.ContainerConfig{Pod: l.pod, Name: "web", Attempt: attempt, SandboxID: box, Image: testImage}
	id, _, err := l.CreateContainer(l.Context(), cfg)
	l.must(err)
	return id, l.StartContainer(l.Context(), id)
}

// up has a running sandbox and container.
func (l *lamp) up() (box, web string) {
	l.Helper()
	box, err := l.startBox()
	l.must(err)
	web, err = l.web(box, 0)
	l.must(err)
	return box, web
}

func (l *lamp) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatalf("unexpected error: %v", err)
	}
}

func (l *lamp) wantErr(err, want error) {
	l.Helper()
	if !errors.Is(err, want) {
		l.Errorf("error is %v, want %v", err, want)
	}
}

// wantState checks the container's newest instance.
func (l *lamp) wantState(want runtime.State, code int) {
	l.Helper()
	got, ok := l.Peek(l.pod.UID).Newest("web")
	if !ok || got.State != want || got.ExitCode != code {
		l.Errorf("web is %q with code %d, want %q with %d", got.State, got.ExitCode, want, code)
	}
}

// after lets the bubble's time pass.
func (l *lamp) after(d time.Duration) {
	ctx, cancel := context.WithTimeout(l.Context(), d)
	defer cancel()
	<-ctx.Done()
	synctest.Wait()
}
