package runtimetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/podstead/podstead/runtime"
)

func TestFaults(t *testing.T) {
	tests := []struct {
		fault  Fault
		failed bool
		made   bool          // right after the call
		took   time.Duration // of the call
		later  bool          // made a minute later
	}{
		{fault: Fault{Mode: Fail}, failed: true},
		{fault: Fault{Mode: FailAfter}, failed: true, made: true, later: true},
		{fault: Fault{Mode: Hang}, failed: true, took: callTimeout},
		{fault: Fault{Mode: HangAfter}, failed: true, made: true, later: true, took: callTimeout},
		{fault: Fault{Mode: Late, Delay: time.Second}, made: true, later: true, took: time.Second},
		{fault: Fault{Mode: Slow, Delay: time.Second}, made: true, later: true, took: time.Second},
		{fault: Fault{Mode: Slow, Delay: 40 * time.Second}, failed: true, took: callTimeout, later: true},
	}
	for _, tc := range tests {
		t.Run(fmt.Sprint(tc.fault.Mode, " ", tc.fault.Delay), func(t *testing.T) {
			bubble(t, func(l *lamp) {
				tc.fault.Call, tc.fault.Nth = "CreateSandbox", 1
				l.Inject(tc.fault)
				made := func() bool { return len(l.Peek("u1").Sandboxes) == 1 }
				begin := time.Now()
				_, _, err := l.CreateSandbox(l.Context(), runtime.SandboxConfig{Pod: l.pod})
				if (err != nil) != tc.failed || made() != tc.made || time.Since(begin) != tc.took {
					t.Errorf("error %v, made %v, took %v; want failed %v, %v, %v", err, made(), time.Since(begin), tc.failed, tc.made, tc.took)
				}
				if err != nil {
					l.wantErr(err, runtime.ErrUnavailable)
				}
				l.after(time.Minute)
				if made() != tc.later {
					t.Errorf("made a minute later: %v, want %v", made(), tc.later)
				}
				l.box() // the fault is used up
				if l.PendingFaults() != 0 || len(l.Peek("u1").Sandboxes) != 1 {
					t.Errorf("%d faults pending, sandboxes %v", l.PendingFaults(), l.Peek("u1").Sandboxes)
				}
			})
		})
	}
}

func TestFaultsAreChosen(t *testing.T) {
	bubble(t, func(l *lamp) {
		broken := errors.New("broken")
		l.Inject(Fault{Call: "StartContainer", Container: "web", Nth: 2, Err: broken})
		box, err := l.startBox()
		l.must(err)
		_, err = l.web(box, 0)
		l.must(err)
		_, err = l.web(box, 1)
		l.wantErr(err, broken)
		l.Inject(Fault{Err: broken}) // every call
		for range 3 {
			_, err := l.Engine(l.Context())
			l.wantErr(err, broken)
		}
		l.ClearFaults()
		_, err = l.Engine(l.Context())
		l.must(err)
	})
}

// Who goes away gets its own error, which says nothing of the engine.
func TestACallerThatGoesAway(t *testing.T) {
	bubble(t, func(l *lamp) {
		l.Inject(Fault{Mode: Hang})
		ctx, cancel := context.WithCancel(l.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := l.List(ctx)
		l.wantErr(err, context.Canceled)
		if errors.Is(err, runtime.ErrUnavailable) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestTheJournalKeepsCalls(t *testing.T) {
	bubble(t, func(l *lamp) {
		box, web := l.up()
		l.must(l.Signal(l.Context(), web, "TERM"))
		_, err := l.List(l.Context())
		l.must(err)
		calls := l.Calls()
		want := []Call{
			{Verb: "CreateSandbox", ID: box}, {Verb: "StartSandbox", ID: box},
			{Verb: "CreateContainer", ID: web, Container: "web"}, {Verb: "StartContainer", ID: web, Container: "web"},
			{Verb: "Signal", ID: web, Container: "web"}, {Verb: "List"},
		}
		if len(calls) != len(want) || l.Count() != len(want) || l.Writes() != 5 || l.Count("List", "Signal") != 2 {
			t.Fatalf("calls are %+v", calls)
		}
		for i, c := range calls {
			if c.Verb != want[i].Verb || c.ID != want[i].ID || c.Container != want[i].Container || !c.Done || c.Err != nil {
				t.Errorf("call %d is %+v, want %+v", i, c, want[i])
			}
		}
		l.ForgetCalls()
		if l.Count() != 0 {
			t.Error("calls are not forgotten")
		}
	})
}

func TestErrorsNameWhatWasAskedFor(t *testing.T) {
	bubble(t, func(l *lamp) {
		l.Down()
		_, _, err := l.CreateSandbox(l.Context(), runtime.SandboxConfig{Pod: l.pod})
		if got, want := err.Error(), "create sandbox default/lamp-n1: engine unavailable: connection refused"; got != want {
			t.Errorf("error is %q, want %q", got, want)
		}
	})
}
