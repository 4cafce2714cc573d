package main

import (
	"context"
	"fmt"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// Rows about one pod. Each makes both sides from the same shape: podstead in
// its folder, the bare calls from the script recorded of podstead itself.

// bothSides is what the rows of one pod start from.
func (l *lab) bothSides(ctx context.Context, name string, s shape) (*agent, *script, error) {
	sc, err := l.script(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	a, err := l.run(ctx, agentConfig{name: name})
	return a, sc, err
}

func measureDrop(ctx context.Context, l *lab) (result, error) {
	a, sc, err := l.bothSides(ctx, "drop", shape{})
	if err != nil {
		return result{}, err
	}
	defer a.end(stopSignal)
	ours := func(ctx context.Context) (time.Duration, error) {
		took, err := l.up(ctx, a, shape{}, []string{"web"})
		if err != nil {
			return 0, err
		}
		return took, l.clear(ctx, a, "web")
	}
	pairs, err := takeTurns(ctx, l, l.cfg.pairs, ours, l.bareStart(sc))
	return result{pairs: pairs, limit: 1.05}, err
}

// bareStart times the four calls of a pod and removes it again.
func (l *lab) bareStart(sc *script) side {
	return func(ctx context.Context) (time.Duration, error) {
		took, err := l.timeStart(ctx, sc, "web")
		if err != nil {
			return 0, err
		}
		return took, sweepBare(ctx, l.engine)
	}
}

func measureRestart(ctx context.Context, l *lab) (result, error) {
	a, sc, err := l.bothSides(ctx, "restart", shape{})
	if err != nil {
		return result{}, err
	}
	defer a.end(stopSignal)
	// A new pod each time: only the first restart comes without a back-off.
	ours := func(ctx context.Context) (time.Duration, error) {
		if _, err := l.up(ctx, a, shape{}, []string{"web"}); err != nil {
			return 0, err
		}
		id, err := l.running(ctx, a.fullName("web"))
		if err != nil {
			return 0, err
		}
		took, err := l.killed(ctx, id, started(a.fullName("web"), app), nil)
		if err != nil {
			return 0, err
		}
		return took, l.clear(ctx, a, "web")
	}
	bare := func(ctx context.Context) (time.Duration, error) {
		pod, err := sc.run(ctx, l.engine, "web")
		if err != nil {
			return 0, err
		}
		again := containerName("again")
		took, err := l.killed(ctx, pod.container, named("start", again), func() error {
			id, err := sc.createContainer(ctx, l.engine, again, pod.sandbox)
			if err != nil {
				return err
			}
			return l.engine.Start(ctx, id)
		})
		if err != nil {
			return 0, err
		}
		return took, sweepBare(ctx, l.engine)
	}
	pairs, err := takeTurns(ctx, l, l.cfg.pairs, ours, bare)
	return result{pairs: pairs, limit: 1.1}, err
}

// killed times from a kill to the event that follows. With a next step, that is
// taken when the process has died.
func (l *lab) killed(ctx context.Context, id string, until func(rig.Event) bool, next func() error) (time.Duration, error) {
	if err := l.watch.quiet(ctx, stillness); err != nil {
		return 0, err
	}
	dead := l.watch.expect(1, func(e rig.Event) bool { return e.Action == "die" && e.ID == id })
	then := l.watch.expect(1, until)
	begin := time.Now()
	if err := l.engine.Kill(ctx, id, "KILL"); err != nil {
		return 0, err
	}
	if _, err := l.watch.wait(ctx, dead); err != nil {
		return 0, err
	}
	if next != nil {
		if err := next(); err != nil {
			return 0, err
		}
	}
	at, err := l.watch.wait(ctx, then)
	return at.Sub(begin), err
}

// running finds the app container of a pod.
func (l *lab) running(ctx context.Context, pod string) (string, error) {
	list, err := l.engine.All(ctx)
	if err != nil {
		return "", err
	}
	for _, c := range list {
		if c.State == "running" && c.Labels[rig.LabelPod] == pod && c.Labels[rig.LabelContainer] == app {
			return c.ID, nil
		}
	}
	return "", fmt.Errorf("no running container %s of pod %s", app, pod)
}

func measureEdit(ctx context.Context, l *lab) (result, error) {
	return edits(ctx, l, "edit", shape{graceful: true}, 0.5)
}

func measureEditPort(ctx context.Context, l *lab) (result, error) {
	return edits(ctx, l, "editport", shape{graceful: true, hostPort: 27080}, 1.4)
}

// edits changes an argument of a running pod again and again: from the old
// process's end to the new one's start, against a bare start of the pod.
func edits(ctx context.Context, l *lab, name string, s shape, limit float64) (result, error) {
	a, sc, err := l.bothSides(ctx, name, s)
	if err != nil {
		return result{}, err
	}
	defer a.end(stopSignal)
	if _, err := l.up(ctx, a, s, []string{"web"}); err != nil {
		return result{}, err
	}
	generation := 0
	ours := func(ctx context.Context) (time.Duration, error) {
		generation++
		return l.edit(ctx, a, s, "web", generation)
	}
	pairs, err := takeTurns(ctx, l, l.cfg.pairs, ours, l.bareStart(sc))
	if err != nil {
		return result{}, err
	}
	return result{pairs: pairs, limit: limit}, l.clear(ctx, a, "web")
}

// edit drops another generation of a running pod and returns how long nothing
// of it ran.
func (l *lab) edit(ctx context.Context, a *agent, s shape, name string, generation int) (time.Duration, error) {
	old := l.watch.expect(1, died(a.fullName(name), app))
	fresh := l.watch.expect(1, started(a.fullName(name), app))
	if _, err := a.dropPod(s, name, generation); err != nil {
		return 0, err
	}
	gone, err := l.watch.wait(ctx, old)
	if err != nil {
		return 0, fmt.Errorf("old process: %w: %s", err, a.lastWords())
	}
	there, err := l.watch.wait(ctx, fresh)
	if err != nil {
		return 0, fmt.Errorf("new process: %w: %s", err, a.lastWords())
	}
	return there.Sub(gone), nil
}

// vanishWait is how long podstead waits for a vanished file to come back
// (editors and git unlink and create) before it counts as removed.
const vanishWait = 100 * time.Millisecond

func measureRemove(ctx context.Context, l *lab) (result, error) {
	a, sc, err := l.bothSides(ctx, "remove", shape{})
	if err != nil {
		return result{}, err
	}
	defer a.end(stopSignal)
	ours := func(ctx context.Context) (time.Duration, error) {
		if _, err := l.up(ctx, a, shape{}, []string{"web"}); err != nil {
			return 0, err
		}
		if err := l.watch.quiet(ctx, stillness); err != nil {
			return 0, err
		}
		gone := l.watch.expect(1, died(a.fullName("web"), app))
		begin := time.Now()
		if err := a.take("web"); err != nil {
			return 0, err
		}
		at, err := l.watch.wait(ctx, gone)
		return at.Sub(begin), err
	}
	bare := func(ctx context.Context) (time.Duration, error) {
		pod, err := sc.run(ctx, l.engine, "web")
		if err != nil {
			return 0, err
		}
		took, err := l.killed(ctx, pod.container, named("die", containerName("web")), nil)
		if err != nil {
			return 0, err
		}
		return took, sweepBare(ctx, l.engine)
	}
	pairs, err := takeTurns(ctx, l, l.cfg.pairs, ours, bare)
	return result{pairs: pairs, limit: 1.3, offset: vanishWait}, err
}
