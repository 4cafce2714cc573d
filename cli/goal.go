package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
)

// goal is one thing that is waited for.
type goal struct {
	kind string // pod, source
	name string // as it is told; "" for all of the kind
	// judge looks whether it has come, at everything there is.
	judge func(sight) verdict
}

// sight is everything there is at one time, as far as the goals ask for it.
type sight struct {
	pods    []v1.Pod
	sources []api.Source
}

// verdict is what a goal makes of a sight.
type verdict struct {
	met   bool
	never bool     // and it will not come, why says the reason
	why   string   // not met
	names []string // of what met it, of a goal of all
}

// waiting waits for goals, all of pods or all of sources. It watches: nothing is
// asked again and again.
type waiting struct {
	client *api.Client
	goals  []goal
	limit  time.Duration // 0 looks once, a negative one is for ever
	done   string        // what is told of a goal that is met
}

// errMet ends a watch.
var errMet = errors.New("all goals are met")

// pods waits for goals of pods.
func (w waiting) pods(ctx context.Context, t Terminal) error {
	once := func(ctx context.Context, each func(sight) error) error {
		pods, err := w.client.Pods(ctx)
		if err != nil {
			return err
		}
		return each(sight{pods: pods})
	}
	return w.wait(ctx, t, once, func(ctx context.Context, each func(sight) error) error {
		return w.client.FollowPods(ctx, func(pods []v1.Pod) error { return each(sight{pods: pods}) })
	})
}

// sources waits for goals of sources.
func (w waiting) sources(ctx context.Context, t Terminal) error {
	once := func(ctx context.Context, each func(sight) error) error {
		sources, err := w.client.Sources(ctx)
		if err != nil {
			return err
		}
		return each(sight{sources: sources})
	}
	return w.wait(ctx, t, once, func(ctx context.Context, each func(sight) error) error {
		return w.client.FollowSources(ctx, func(sources []api.Source) error { return each(sight{sources: sources}) })
	})
}

// looks calls each with what it sees.
type looks func(ctx context.Context, each func(sight) error) error

// wait looks at each sight that follow brings until all goals are met or one never
// will be. What is not met in time is told with the reason, a line each; when the
// time is too short to see anything, by what is seen once.
func (w waiting) wait(ctx context.Context, t Terminal, once, follow looks) error {
	j := judging{goals: w.goals, done: w.done, t: t, reasons: map[string]string{}, progress: NewProgress(t)}
	if w.limit != 0 {
		limited, cancel := ctx, func() {}
		if w.limit > 0 {
			limited, cancel = context.WithTimeout(ctx, w.limit)
		}
		defer cancel()
		switch err := follow(limited, j.look); {
		case errors.Is(err, errMet):
			return nil
		case limited.Err() == nil || ctx.Err() != nil:
			return err
		case len(j.reasons) > 0:
			return j.timedOut()
		}
	}
	switch err := once(ctx, j.look); {
	case errors.Is(err, errMet):
		return nil
	case err != nil:
		return err
	}
	return j.timedOut()
}

// judging is a wait under way.
type judging struct {
	goals    []goal // not met yet
	done     string
	t        Terminal
	reasons  map[string]string // why not, by the goal's name
	progress *Progress
}

// look judges the goals that are left; errMet says that none is.
func (j *judging) look(seen sight) error {
	var left []goal
	for _, g := range j.goals {
		switch v := g.judge(seen); {
		case v.never:
			return &Exit{Code: ExitFailed, Err: fmt.Errorf("%s: %s", g.shown(g.kind), OneLine(v.why))}
		case v.met:
			g.tell(j.t, v, j.done)
		default:
			left = append(left, g)
			j.reasons[g.name] = v.why
		}
	}
	if j.goals = left; len(left) == 0 {
		return errMet
	}
	j.progress.Show(fmt.Sprintf("waiting for %s: %s", left[0].shown(left[0].kind), j.reasons[left[0].name]))
	return nil
}

// timedOut has kubectl's words, and the reason that those lack.
func (j *judging) timedOut() error {
	var lines []string
	for _, g := range j.goals {
		lines = append(lines, fmt.Sprintf("timed out waiting for the condition on %s: %s", g.shown(g.kind+"s"), OneLine(j.reasons[g.name])))
	}
	return &Exit{Code: ExitFailed, Err: errors.New(strings.Join(lines, "\npodstead: "))}
}

// shown is the goal as kubectl names it.
func (g goal) shown(kind string) string {
	if g.name == "" {
		return "all " + g.kind + "s"
	}
	return kind + "/" + g.name
}

// tell says that a goal is met.
func (g goal) tell(t Terminal, v verdict, done string) {
	names := v.names
	if g.name != "" {
		names = []string{g.name}
	}
	for _, name := range names {
		fmt.Fprintf(t.Out, "%s/%s %s\n", g.kind, name, done)
	}
}
