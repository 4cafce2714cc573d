package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

func TestDrainRestartAndSuspend(t *testing.T) {
	var asked []string
	note := func(words ...any) { asked = append(asked, fmt.Sprintln(words...)) }
	c := serve(t, Handlers{
		Draining: &Draining{
			Is:     func() Drain { return Drain{Drained: true, By: "root"} },
			Drain:  func(by string) (Drain, error) { note("drain", by); return Drain{Drained: true, Changed: true}, nil },
			Resume: func(by string) (Drain, error) { note("resume", by); return Drain{By: "root"}, nil },
		},
		Restart: func(_ context.Context, r RestartRequest) (Restart, error) {
			note("restart", r.Namespace, r.Pod, r.By)
			if r.Pod == "nope" {
				return Restart{}, runtime.ErrNotFound
			}
			return Restart{UID: "u1", RestartCounts: map[string]int{"main": 2}}, nil
		},
		Suspending: &Suspending{
			Suspend: func(_ context.Context, source, by string) (Suspension, error) {
				note("suspend", source, by)
				return Suspension{Source: source, Suspended: true}, nil
			},
			Resume: func(_ context.Context, source, by string) (Suspension, error) {
				note("resume", source, by)
				return Suspension{Source: source}, nil
			},
		},
	})
	ctx := t.Context()
	if d, err := c.Drained(ctx); err != nil || !d.Drained || d.By != "root" || d.Kind != "Drain" {
		t.Errorf("drained: %+v, %v", d, err)
	}
	if d, err := c.Drain(ctx, "alice"); err != nil || !d.Drained || !d.Changed {
		t.Errorf("drain: %+v, %v", d, err)
	}
	if d, err := c.Resume(ctx, ""); err != nil || d.Drained {
		t.Errorf("resume: %+v, %v", d, err)
	}
	if r, err := c.Restart(ctx, RestartRequest{Namespace: "shop", Pod: "web-n1", By: "a\nb\x1b" + strings.Repeat("c", 200)}); err != nil || r.UID != "u1" || r.RestartCounts["main"] != 2 {
		t.Errorf("restart: %+v, %v", r, err)
	}
	if s, err := c.Suspend(ctx, "fleet", "alice"); err != nil || !s.Suspended || s.Source != "fleet" {
		t.Errorf("suspend: %+v, %v", s, err)
	}
	if s, err := c.ResumeSource(ctx, "fleet", "alice"); err != nil || s.Suspended {
		t.Errorf("resume source: %+v, %v", s, err)
	}
	var bad *AnswerError
	if _, err := c.Restart(ctx, RestartRequest{Namespace: "shop", Pod: "nope", By: "x"}); !errors.As(err, &bad) || bad.Code != http.StatusNotFound {
		t.Errorf("restart of no pod: %v", err)
	}
	want := "drain alice\nresume a client of the local API\nrestart shop web-n1 ab" + strings.Repeat("c", 98) +
		"\nsuspend fleet alice\nresume fleet alice\nrestart shop nope x\n"
	if got := strings.Join(asked, ""); got != want {
		t.Errorf("asked for\n%swant\n%s", got, want)
	}
}

func TestWhatSteersIsNotServedByReading(t *testing.T) {
	c := serve(t, Handlers{})
	for path, code := range map[string]int{
		"GET /podstead/v1/pods/a/b/restart":    405,
		"GET /podstead/v1/sources/a/suspend":   405,
		"GET /podstead/v1/drain":               501,
		"POST /podstead/v1/drain":              501,
		"DELETE /podstead/v1/drain":            501,
		"POST /podstead/v1/sources/a/suspend":  501,
		"POST /podstead/v1/pods/a/b/restart":   501,
		"DELETE /podstead/v1/pods/a/b/restart": 405,
	} {
		method, path, _ := strings.Cut(path, " ")
		var bad *AnswerError
		if _, _, err := c.open(t.Context(), method, path, nil); !errors.As(err, &bad) || bad.Code != code {
			t.Errorf("%s %s: %v, want %d", method, path, err, code)
		}
	}
}

var errEnough = errors.New("enough")

// Who follows sees the whole of each moment, an empty one too.
func TestFollowingPods(t *testing.T) {
	s := newShelf()
	c := serve(t, Handlers{Pods: s.list, PodsChanged: s.next})
	moments := [][]*v1.Pod{{pod("a", "a", "1"), pod("b", "b", "1")}, {pod("b", "b", "2")}, {}}
	var seen []string
	err := c.FollowPods(t.Context(), func(pods []v1.Pod) error {
		var words []string
		for i := range pods {
			words = append(words, pods[i].Name+"@"+pods[i].ResourceVersion)
		}
		seen = append(seen, strings.Join(words, " "))
		if len(moments) == 0 {
			return errEnough
		}
		s.set(moments[0]...)
		moments = moments[1:]
		return nil
	})
	if want := "|a@1 b@1|b@2|"; !errors.Is(err, errEnough) || strings.Join(seen, "|") != want {
		t.Errorf("saw %q, want %q, %v", strings.Join(seen, "|"), want, err)
	}
}

// Time alone tells nobody anything.
func TestFollowingSources(t *testing.T) {
	var mu sync.Mutex
	changed := make(chan struct{})
	now := Source{Name: "fleet", State: SourceWaiting}
	set := func(s Source) {
		mu.Lock()
		defer mu.Unlock()
		now = s
		close(changed)
		changed = make(chan struct{})
	}
	c := serve(t, Handlers{
		Sources: func(context.Context) ([]Source, error) { mu.Lock(); defer mu.Unlock(); return []Source{now}, nil },
		SourcesChanged: func() <-chan struct{} {
			mu.Lock()
			defer mu.Unlock()
			return changed
		},
	})
	var lines []string
	err := follow(t.Context(), c, "/podstead/v1/sources", map[string][]string{}, func(ch Change[Source]) error {
		lines = append(lines, fmt.Sprintf("%s %s", ch.Type, ch.Object.State))
		switch len(lines) {
		case 1:
			later := ch.Object
			later.Taken, later.NextPoll = time.Unix(1, 0), time.Unix(2, 0)
			set(later)
			later.State = SourceReady
			set(later)
		case 2:
			return errEnough
		}
		return nil
	})
	if got := strings.Join(lines, ", "); !errors.Is(err, errEnough) || got != "ADDED Waiting, MODIFIED Ready" {
		t.Errorf("saw %s, %v", got, err)
	}
	if err := c.FollowSources(t.Context(), func(all []Source) error {
		if len(all) != 1 || all[0].State != SourceReady {
			t.Errorf("followed %+v", all)
		}
		return errEnough
	}); !errors.Is(err, errEnough) {
		t.Error(err)
	}
}
