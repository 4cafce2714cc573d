package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/runtime/runtimetest"
)

// inside runs a command in a container of a pod and returns what it wrote.
func (w *world) inside(t Target, command ...string) (string, error) {
	w.Helper()
	visit, err := w.agent.Exec(w.Context(), t, command)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = visit(w.Context(), runtime.Streams{Stdout: &out, Stdin: io.NopCloser(strings.NewReader("hello"))})
	return out.String(), err
}

func TestACommandRunsInAPod(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Install("cat", runtimetest.Echo())
		w.engine.Install("false", runtimetest.Ends(1, "", ""))
		w.apply(pod("web", "1", withInit("early")))
		w.engine.Behave("early", runtimetest.Exits(0, 0))
		w.advance(time.Second)
		web := Target{Namespace: "default", Pod: "web"}
		if out, err := w.inside(web, "cat"); err != nil || out != "hello" {
			t.Errorf("cat: %q, %v", out, err)
		}
		var exit *runtime.ExitError
		if _, err := w.inside(web, "false"); !errors.As(err, &exit) || exit.Code != 1 {
			t.Errorf("false: %v", err)
		}
		if _, err := w.inside(web, "nope"); !errors.As(err, &exit) || exit.Refused == "" {
			t.Errorf("nope: %v", err)
		}
		w.engine.Down()
		if _, err := w.inside(web, "cat"); !errors.Is(err, runtime.ErrUnavailable) {
			t.Errorf("without an engine: %v", err)
		}
	})
}

func TestAVisitIsRefusedWithItsReason(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("early", runtimetest.Exits(time.Hour, 0))
		w.engine.Behave("done/c", runtimetest.Exits(0, 3))
		w.apply(pod("web", "1", withInit("early")), pod("done", "1", withPolicy(v1.RestartPolicyNever)))
		w.advance(time.Second)
		cases := []struct {
			name    string
			target  Target
			command []string
			want    error
			text    string
		}{
			{"a pod that is not there", Target{Namespace: "default", Pod: "nobody"}, []string{"sh"}, runtime.ErrNotFound, "nobody"},
			{"another pod of the name", Target{Namespace: "default", Pod: "web", UID: "u9"}, []string{"sh"}, runtime.ErrNotFound, "u9"},
			{"a container that is not there", Target{Namespace: "default", Pod: "web", Container: "nope"}, []string{"sh"}, ErrBadRequest, "choose one of"},
			{"a container that waits", Target{Namespace: "default", Pod: "web", Container: "c"}, []string{"sh"}, ErrBadRequest, "PodInitializing"},
			{"a container that has ended", Target{Namespace: "default", Pod: "done"}, []string{"sh"}, ErrBadRequest, "exit code 3 (Error)"},
			{"no command", Target{Namespace: "default", Pod: "web", Container: "early"}, nil, ErrBadRequest, "no command"},
		}
		for _, c := range cases {
			if _, err := w.agent.Exec(w.Context(), c.target, c.command); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: %v, want %v with %q", c.name, err, c.want, c.text)
			}
			if c.command == nil {
				continue
			}
			if _, err := w.agent.Attach(w.Context(), c.target); !errors.Is(err, c.want) {
				t.Errorf("%s: attach: %v, want %v", c.name, err, c.want)
			}
		}
	})
}

func TestAPodThatIsOnItsWayOutCanBeVisited(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("web/c", runtimetest.Deaf())
		w.engine.Install("cat", runtimetest.Echo())
		w.apply(pod("web", "1"))
		w.advance(time.Second)
		w.apply()
		w.advance(time.Second)
		if out, err := w.inside(Target{Namespace: "default", Pod: "web"}, "cat"); err != nil || out != "hello" {
			t.Errorf("cat: %q, %v", out, err)
		}
		w.engine.Install("sleep", runtimetest.Waits(""))
		var exit *runtime.ExitError
		if _, err := w.inside(Target{Namespace: "default", Pod: "web"}, "sleep"); !errors.As(err, &exit) || exit.Code != 137 {
			t.Errorf("a command that the pod's end ends: %v", err)
		}
	})
}

func TestWhoAttachesSeesWhatIsWrittenFromThenOn(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("c", runtimetest.Exits(90*time.Second, 0).Repeating(time.Minute, "tick").Printing("before"))
		w.apply(pod("web", "1", withPolicy(v1.RestartPolicyNever)))
		w.advance(time.Second)
		visit, err := w.agent.Attach(w.Context(), Target{Namespace: "default", Pod: "web", Container: "c"})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := visit(w.Context(), runtime.Streams{Stdout: &out}); err != nil || out.String() != "tick\n" {
			t.Errorf("%q, %v", out.String(), err)
		}
		left, leave := context.WithCancel(w.Context())
		leave()
		if err := visit(left, runtime.Streams{}); err == nil {
			t.Error("a container that has ended is attached to")
		}
	})
}
