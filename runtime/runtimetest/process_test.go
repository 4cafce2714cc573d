package runtimetest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/podstead/podstead/runtime"
)

func TestProcessesBehaveAsTold(t *testing.T) {
	tests := []struct {
		name    string
		process Process
		signal  string
		after   time.Duration
		state   runtime.State
		code    int
	}{
		{name: "runs for ever", process: Forever(), after: 1000 * time.Hour, state: runtime.StateRunning},
		{name: "dies of TERM", process: Forever(), signal: "SIGTERM", state: runtime.StateExited, code: 143},
		{name: "not yet at its end", process: Exits(time.Minute, 3), after: 59 * time.Second, state: runtime.StateRunning},
		{name: "at its end", process: Exits(time.Minute, 3), after: time.Minute, state: runtime.StateExited, code: 3},
		{name: "ends at once", process: Exits(0, 3), state: runtime.StateExited, code: 3},
		{name: "traps and is not done", process: Traps(time.Second, 0), signal: "TERM", after: 900 * time.Millisecond, state: runtime.StateRunning},
		{name: "traps and is done", process: Traps(time.Second, 5), signal: "TERM", after: time.Second, state: runtime.StateExited, code: 5},
		{name: "hears nothing", process: Deaf(), signal: "TERM", after: time.Hour, state: runtime.StateRunning},
		{name: "is killed", process: Deaf(), signal: "KILL", state: runtime.StateExited, code: 137},
		{name: "runs out of memory", process: OOM(time.Second), after: time.Second, state: runtime.StateExited, code: 137},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(l *lamp) {
				l.Behave("web", tc.process)
				_, web := l.up()
				if tc.signal != "" {
					l.must(l.Signal(l.Context(), web, tc.signal))
				}
				l.after(tc.after)
				l.wantState(tc.state, tc.code)
			})
		})
	}
}

func TestSuccessiveStartsBehaveInTurn(t *testing.T) {
	bubble(t, func(l *lamp) {
		l.Behave("lamp-n1/web", Exits(0, 1), CannotRun(127), Forever())
		l.Behave("web", Exits(0, 99))
		box, err := l.startBox()
		l.must(err)
		_, err = l.web(box, 0)
		l.must(err)
		l.wantState(runtime.StateExited, 1)
		_, err = l.web(box, 1)
		l.wantErr(err, runtime.ErrCannotRun)
		l.wantState(runtime.StateExited, 127)
		for attempt := 2; attempt < 4; attempt++ {
			_, err = l.web(box, attempt)
			l.must(err)
			l.wantState(runtime.StateRunning, 0)
		}
	})
}

func TestAnOOMKillIsToldAsOne(t *testing.T) {
	bubble(t, func(l *lamp) {
		l.Behave("web", OOM(0))
		l.up()
		if web, _ := l.Peek("u1").Newest("web"); web.Reason != "OOMKilled" {
			t.Errorf("reason is %q", web.Reason)
		}
	})
}

func TestATerminationMessageIsLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "message")
	bubble(t, func(l *lamp) {
		l.Behave(testImage, Exits(0, 1).Saying("no disk"))
		box, err := l.startBox()
		l.must(err)
		cfg := runtime.ContainerConfig{Pod: l.pod, Name: "web", SandboxID: box, Image: testImage, MessagePath: path}
		id, _, err := l.CreateContainer(l.Context(), cfg)
		l.must(err)
		l.must(l.StartContainer(l.Context(), id))
	})
	if got, err := os.ReadFile(path); err != nil || string(got) != "no disk" {
		t.Errorf("message is %q, %v", got, err)
	}
}

// With a shared PID namespace the pause process is everybody's init.
func TestASharedPIDNamespaceEndsWithItsSandbox(t *testing.T) {
	for _, shared := range []bool{false, true} {
		bubble(t, func(l *lamp) {
			box, err := l.startBox()
			l.must(err)
			cfg := runtime.ContainerConfig{Pod: l.pod, Name: "web", SandboxID: box, Image: testImage, SharePID: shared}
			id, _, err := l.CreateContainer(l.Context(), cfg)
			l.must(err)
			l.must(l.StartContainer(l.Context(), id))
			l.Kill(box, 137)
			if web, _ := l.Peek("u1").Newest("web"); (web.State == runtime.StateExited) != shared {
				t.Errorf("shared %v: web is %s", shared, web.State)
			}
		})
	}
}
