package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/runtime/runtimetest"
	"github.com/podstead/podstead/sources"
)

// askRestart asks for a pod of namespace default.
func (w *world) askRestart(name string) (Restarting, error) {
	return w.agent.Restart(context.Background(), "default", name, "a test")
}

func TestRestartOnRequest(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("setup", runtimetest.Exits(time.Second, 0))
		w.engine.Behave("c", runtimetest.Traps(3*time.Second, 0))
		w.apply(pod("a", "1", withContainer("d"), withInit("setup")), pod("b", "1"))
		w.advance(10 * time.Second)
		before, other, setup := w.container("a.1", "c"), w.container("b.1", "c"), w.container("a.1", "setup")

		got, err := w.askRestart("a")
		if err != nil || got.UID != "a.1" || got.Attempts["c"] != 1 || got.Attempts["d"] != 1 {
			w.Fatalf("accepted as %+v, %v", got, err)
		}
		w.advance(time.Second)
		if c := w.container("a.1", "c"); c.ID != before.ID || c.State != runtime.StateRunning {
			w.Errorf("its grace is not honoured: %+v", c)
		}
		if got, err = w.askRestart("a"); err != nil || got.Attempts["c"] != 1 || got.Attempts["d"] != 2 {
			w.Errorf("asked again while c stops: %+v, %v", got, err)
		}
		w.advance(3 * time.Second)
		w.wantRunning("a.1/POD", "a.1/c", "a.1/d", "b.1/POD", "b.1/c")
		if c := w.container("a.1", "c"); c.Attempt != 1 || c.SandboxID != before.SandboxID {
			w.Errorf("c is %+v", c)
		}
		if w.container("a.1", "setup").ID != setup.ID || w.container("b.1", "c").ID != other.ID {
			w.Error("an init container ran again, or another pod was restarted")
		}
		last := w.shows("a.1").Status.ContainerStatuses[0].LastTerminationState.Terminated
		if last == nil || last.Message != "restart asked for by a test" {
			w.Errorf("the last termination reads %+v", last)
		}
		w.wantEvent(events.RestartAsked, "asked for by a test")
		w.wantEvent(events.ContainerKilling, "Stopping container c (restart asked for by a test)")
		w.wantEvent(events.ContainerCreated, "Created container: c (attempt 1: restart asked for by a test)")
	})
}

func TestRestartsOnRequestCountAsNoCrash(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1"))
		w.advance(time.Second)
		for i := range 8 {
			if _, err := w.askRestart("a"); err != nil {
				w.Fatal(err)
			}
			w.advance(time.Second)
			if got := w.restarts("a.1", "c"); got != i+1 {
				w.Fatalf("%d restarts after %d requests", got, i+1)
			}
		}
	})
}

func TestWhatWaitsForItsNextTryIsStartedAtOnce(t *testing.T) {
	inits := pod("a", "1", withInit("setup"))
	tests := []struct {
		name          string
		pod           sources.Pod
		broken, cured func(w *world)
		reason        string // that it waits for
	}{
		{
			name: "a crash loop", pod: pod("a", "1"),
			broken: func(w *world) { w.engine.Behave("a/c", runtimetest.Exits(0, 1)) },
			cured:  func(w *world) { w.engine.Behave("a/c", runtimetest.Forever()) },
			reason: "CrashLoopBackOff",
		},
		{
			name: "a crash loop of an init container", pod: inits,
			broken: func(w *world) { w.engine.Behave("setup", runtimetest.Exits(0, 1)) },
			cured:  func(w *world) { w.engine.Behave("setup", runtimetest.Exits(0, 0)) },
			reason: "CrashLoopBackOff",
		},
		{
			name: "an image", pod: pod("a", "1", withImage("late:1", v1.PullIfNotPresent)),
			broken: func(*world) {},
			cured:  func(w *world) { w.engine.Serve("late:1", runtimetest.Remote{}) },
			reason: "ImagePullBackOff",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				test.broken(w)
				w.apply(test.pod)
				w.advance(31 * time.Minute)
				statuses := append(w.shows("a.1").Status.InitContainerStatuses, w.shows("a.1").Status.ContainerStatuses...)
				if s := statuses[0].State.Waiting; s == nil || s.Reason != test.reason {
					w.Fatalf("it is %+v", statuses[0].State)
				}
				test.cured(w)
				if _, err := w.askRestart("a"); err != nil {
					w.Fatal(err)
				}
				w.advance(time.Second)
				w.wantRunning("a.1/POD", "a.1/c")
			})
		})
	}
}

func TestWhatCannotBeRestarted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("job/c", runtimetest.Exits(time.Second, 0))
		w.engine.Behave("slow/c", runtimetest.Traps(time.Hour, 0))
		reads := pod("reads", "1", withEnv("c", "conf"))
		going := pod("slow", "1", withGrace(600))
		large := pod("large", "1", func(p *v1.Pod) { p.Labels = map[string]string{v1.LabelOSStable: "plan9"} })
		job := pod("job", "1", withPolicy(v1.RestartPolicyNever))
		w.apply(job, going, large, seeing(reads, configMap("conf", "one")))
		w.advance(10 * time.Second)
		w.apply(job, large, reads)
		w.advance(time.Second)
		running := w.running()
		tests := []struct{ pod, words string }{
			{pod: "job", words: "it has run to its end (Succeeded). To run it again take its manifest out of its source"},
			{pod: "slow", words: "it is on its way out: its manifest was removed"},
			{pod: "large", words: "it was rejected: "},
			{pod: "reads", words: "its container c could not be made again"},
		}
		for _, test := range tests {
			if _, err := w.askRestart(test.pod); !errors.Is(err, ErrBadRequest) || !strings.Contains(err.Error(), test.words) {
				w.Errorf("%s: %v, want a bad request: %s", test.pod, err, test.words)
			}
		}
		if _, err := w.askRestart("nobody"); !errors.Is(err, runtime.ErrNotFound) {
			w.Errorf("a pod that is not there: %v", err)
		}
		w.advance(time.Minute)
		if got := w.running(); strings.Join(got, " ") != strings.Join(running, " ") {
			w.Errorf("running %v, before %v", got, running)
		}
		w.engine.Down()
		if _, err := w.askRestart("reads"); !errors.Is(err, runtime.ErrUnavailable) {
			w.Errorf("without an engine: %v", err)
		}
	})
}
