package runtimetest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/podstead/podstead/runtime"
)

func TestTheEngineGoesAway(t *testing.T) {
	for _, live := range []bool{false, true} {
		bubble(t, func(l *lamp) {
			l.SetEngine(func(e *runtime.Engine) { e.LiveRestore = live })
			l.up()
			l.Down()
			_, err := l.Pod(l.Context(), "u1")
			l.wantErr(err, runtime.ErrUnavailable)
			l.Up()
			_, err = l.Pod(l.Context(), "u1")
			l.must(err)
			if got := l.Peek("u1").Running(); got != live {
				t.Errorf("live-restore %v: running %v", live, got)
			}
		})
	}
}

func TestARebootEndsEverything(t *testing.T) {
	bubble(t, func(l *lamp) {
		l.up()
		l.Reboot()
		l.wantState(runtime.StateExited, 255)
		if box, _ := l.Peek("u1").Sandbox(); box.State != runtime.StateExited {
			t.Errorf("sandbox is %s", box.State)
		}
	})
}

func TestAFrozenEngineAnswersWhenItThaws(t *testing.T) {
	bubble(t, func(l *lamp) {
		l.Freeze()
		begin := time.Now()
		_, err := l.List(l.Context())
		l.wantErr(err, runtime.ErrUnavailable)
		if took := time.Since(begin); took != callTimeout {
			t.Errorf("gave up after %v", took)
		}
		time.AfterFunc(time.Second, l.Thaw)
		_, err = l.List(l.Context())
		l.must(err)
	})
}

// listen collects events until the test ends.
func (l *lamp) listen() func() []runtime.EventKind {
	ctx, cancel := context.WithCancel(l.Context())
	out, done := make(chan runtime.Event), make(chan struct{})
	var kinds []runtime.EventKind
	go func() {
		defer close(done)
		l.check(l.Fake.Run(ctx, out))
	}()
	go func() {
		for {
			select {
			case e := <-out:
				kinds = append(kinds, e.Kind)
			case <-done:
				return
			}
		}
	}()
	l.Cleanup(func() {
		cancel()
		<-done
	})
	return func() []runtime.EventKind {
		synctest.Wait()
		heard := kinds
		kinds = nil
		return heard
	}
}

func (l *lamp) check(err error) {
	l.Helper()
	if err != nil {
		l.Errorf("unexpected error: %v", err)
	}
}

func (l *lamp) wantHeard(got []runtime.EventKind, want ...runtime.EventKind) {
	l.Helper()
	if len(got) != len(want) {
		l.Errorf("heard %v, want %v", got, want)
		return
	}
	for i := range want {
		if got[i] != want[i] {
			l.Errorf("heard %v, want %v", got, want)
			return
		}
	}
}

func TestTheEventStream(t *testing.T) {
	const started, died, removed, resync = runtime.EventStarted, runtime.EventDied, runtime.EventRemoved, runtime.EventResync
	bubble(t, func(l *lamp) {
		heard := l.listen()
		l.wantHeard(heard(), resync)
		box, web := l.up()
		l.wantHeard(heard(), started, started)

		l.BreakStream()
		l.Kill(web, 1)
		l.wantHeard(heard(), resync)
		l.ResumeStream()
		l.wantHeard(heard(), resync)

		l.Mute()
		l.RemoveBehindBack(web)
		l.Unmute()
		l.wantHeard(heard())

		l.RestartBehindBack(box)
		l.wantHeard(heard(), died, started)
		if got, _ := l.Peek("u1").Sandbox(); got.State != runtime.StateRunning || got.FinishedAt.IsZero() {
			t.Errorf("the sandbox started again is %+v", got)
		}
		l.RemoveBehindBack(box)
		l.wantHeard(heard(), died, removed)

		l.Down()
		l.Up()
		l.wantHeard(heard(), resync, resync)
	})
}

func TestPruneTakesWhatDoesNotRun(t *testing.T) {
	bubble(t, func(l *lamp) {
		_, web := l.up()
		l.Kill(web, 1)
		l.beside("other").box()
		l.Prune()
		if got := l.PeekAll(); len(got) != 1 || len(got[0].Sandboxes) != 1 || len(got[0].Containers) != 0 {
			t.Errorf("left are %+v", got)
		}
	})
}

func TestAListIsRough(t *testing.T) {
	bubble(t, func(l *lamp) {
		l.Behave("web", CannotRun(127))
		box, err := l.startBox()
		l.must(err)
		_, err = l.web(box, 0)
		l.wantErr(err, runtime.ErrCannotRun)
		pods, err := l.List(l.Context())
		l.must(err)
		if web := pods[0].Containers[0]; web.State != runtime.StateCreated || web.ExitCode != 0 || pods[0].PodRef != l.pod {
			t.Errorf("listed is %+v", pods[0])
		}
		l.wantState(runtime.StateExited, 127)
	})
}

func TestChecksAnswerAsTold(t *testing.T) {
	bubble(t, func(l *lamp) {
		l.must(l.CheckRoot(l.Context(), "/var/lib/podstead"))
		l.RefuseRoot(runtime.ErrNotFound)
		l.wantErr(l.CheckRoot(l.Context(), "/var/lib/podstead"), runtime.ErrNotFound)
		l.RefuseMounts("own mount namespace")
		if ok, why := l.CanMount(l.Context()); ok || why != "own mount namespace" {
			t.Errorf("can mount: %v, %q", ok, why)
		}
	})
}
