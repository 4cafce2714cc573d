package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/podstead/podstead/agent"
	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/config"
	"github.com/podstead/podstead/runtime"
)

const (
	// engineWait is how long run-once waits for an engine that does not answer.
	engineWait = 10 * time.Second
	// onceTick is how often run-once looks; what it looks at is in memory.
	onceTick = 100 * time.Millisecond
	// steady is how long pods must have been at their end: a program that ends
	// right after its start has not been ready.
	steady = time.Second
	// onceLook bounds one question to the engine.
	onceLook = 2 * time.Second
)

// runOnce runs the whole pipeline until every wanted pod has come to its end
// (ready, succeeded, failed) or the time is up, reports, and leaves the pods
// running. The error is an exit code.
func runOnce(ctx context.Context, t cli.Terminal, cfg config.Config, out surroundings) error {
	switch drained, err := agent.ReadDrained(cfg.RootDir); {
	case err != nil:
		return err
	case drained != nil:
		return &cli.Exit{Code: cli.ExitConfig, Err: fmt.Errorf("nothing is run once: %s, once an agent runs here (`podstead run`)", drained)}
	}
	var report *onceReport
	err := run(ctx, cfg, out, func(ctx context.Context, n *node) { report = n.once(ctx, t) })
	switch {
	case errors.Is(err, errLocked):
		return &cli.Exit{Code: cli.ExitConfig, Err: err}
	case err != nil:
		return err
	case report == nil:
		return &cli.Exit{Code: cli.ExitFailed, Err: errors.New("it was ended before its pods were ready; they are left as they are")}
	}
	if err := report.print(t, cfg.OnceOutput); err != nil {
		return err
	}
	if report.ExitCode != 0 {
		return &cli.Exit{Code: report.ExitCode}
	}
	return nil
}

// once waits for the end and reports it; nil when ctx ended before.
func (n *node) once(ctx context.Context, t cli.Terminal) *onceReport {
	deadline := time.Now().Add(n.cfg.OnceTimeout)
	if err := n.awaitEngine(ctx, min(engineWait, n.cfg.OnceTimeout)); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return n.report(ctx, onceView{}, err)
	}
	tell := cli.NewProgress(t)
	tick := time.NewTicker(onceTick)
	defer tick.Stop()
	var still stillness
	for {
		view := n.look(ctx)
		tell.Show(view.progress())
		rested := still.lasts(view, time.Now()) >= steady
		if rested && n.settled(ctx, view) || time.Now().After(deadline) {
			return n.report(ctx, n.look(ctx), nil)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// awaitEngine asks the engine until it answers or the time is up.
func (n *node) awaitEngine(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(5 * onceTick)
	defer tick.Stop()
	for {
		asked, done := context.WithTimeout(ctx, onceLook)
		_, err := n.engine.Engine(asked)
		done()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}

// look gathers what is wanted and how it is.
func (n *node) look(ctx context.Context) onceView {
	statuses, err := n.merger.Statuses(ctx)
	if err != nil {
		return onceView{} // the merger has ended, and so has ctx
	}
	return judge(statuses, n.agent.Pods())
}

// stillness measures how long nothing has happened to pods that are all at
// their end.
type stillness struct {
	state string
	since time.Time
}

func (s *stillness) lasts(view onceView, now time.Time) time.Duration {
	if state := view.state(); state != s.state || !view.over() {
		s.state, s.since = state, now
	}
	return now.Sub(s.since)
}

// settled reports whether nothing more is to come: all pods are at their end,
// the engine has nothing left of pods that are not wanted, and a fresh look
// confirms both.
func (n *node) settled(ctx context.Context, view onceView) bool {
	if !view.over() || !n.clean(ctx, view) {
		return false
	}
	if n.agent.Fresh(ctx) != nil {
		return false
	}
	again := n.look(ctx)
	return again.over() && n.clean(ctx, again)
}

// clean reports whether the engine is rid of pods that nobody wants. While a
// source cannot say what it wants, what runs of it is left alone, and not
// waited for.
func (n *node) clean(ctx context.Context, view onceView) bool {
	if view.holding {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, onceLook)
	defer cancel()
	listed, err := n.engine.List(ctx)
	return err == nil && !view.leftovers(listed)
}

// leftovers reports whether any listed pod is not wanted.
func (v onceView) leftovers(listed []runtime.Pod) bool {
	for _, p := range listed {
		if !v.wanted[p.UID] {
			return true
		}
	}
	return false
}

// progress is one line on what is still to come; "" when nothing is.
func (v onceView) progress() string {
	if !v.attempted {
		return "reading the sources"
	}
	var waiting []string
	for _, p := range v.pods {
		if p.Result == resultWaiting {
			waiting = append(waiting, fmt.Sprintf("%s/%s (%s)", p.Namespace, p.Name, p.Status))
		}
	}
	if len(waiting) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d pods are done; waiting for %s", len(v.pods)-len(waiting), len(v.pods), strings.Join(waiting, ", "))
}
