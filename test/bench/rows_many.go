package main

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// many is how many pods the rows about a full small node use.
const many = 30

func measureThirty(ctx context.Context, l *lab) (result, error) {
	a, sc, err := l.bothSides(ctx, "thirty", shape{})
	if err != nil {
		return result{}, err
	}
	defer a.end(stopSignal)
	names := podNames("web", many)
	ours := func(ctx context.Context) (time.Duration, error) {
		took, err := l.up(ctx, a, shape{}, names)
		if err != nil {
			return 0, err
		}
		return took, l.clear(ctx, a, names...)
	}
	bare := func(ctx context.Context) (time.Duration, error) {
		took, err := timeMany(ctx, l.engine, l.watch, sc, names)
		if err != nil {
			return 0, err
		}
		return took, sweepBare(ctx, l.engine)
	}
	pairs, err := takeTurns(ctx, l, l.cfg.pairs, ours, bare)
	return result{pairs: pairs, limit: 1.1, note: fmt.Sprintf("%d bare callers, as many as podstead makes calls at a time", callers())}, err
}

// timeMany starts pods by bare calls, as many at a time as podstead would.
func timeMany(ctx context.Context, e *rig.Engine, w *watch, sc *script, names []string) (time.Duration, error) {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[containerName(name)] = true
	}
	running := w.expect(len(names), func(e rig.Event) bool { return e.Action == "start" && wanted[e.Name] })
	begin := time.Now()
	if err := sc.runMany(ctx, e, names, callers()); err != nil {
		return 0, err
	}
	at, err := w.wait(ctx, running)
	return at.Sub(begin), err
}

// measureReboot plays a reboot on a private engine: it stops with 30 pods
// running, which ends them, and starts again. podstead waits for it; the bare
// calls begin when it answers.
func measureReboot(ctx context.Context, l *lab) (result, error) {
	sc, err := l.script(ctx, shape{})
	if err != nil {
		return result{}, err
	}
	private, err := l.newPrivateEngine(filepath.Join(l.dir, "engine"))
	if err != nil {
		return result{}, err
	}
	defer private.close()
	if err := private.start(ctx); err != nil {
		return result{}, err
	}
	if err := copyImage(ctx, l.engine, private.engine, l.cfg.image); err != nil {
		return result{}, fmt.Errorf("copy the image: %w", err)
	}
	a, names, err := l.fill(ctx, private)
	if err != nil {
		return result{}, err
	}
	defer a.end(syscall.SIGKILL)

	ours := func(ctx context.Context) (time.Duration, error) {
		return reboot(ctx, private, a.spawn, func(w *watch, ready time.Time) (time.Duration, error) {
			running := w.expect(many, oncePerPod(a, names))
			at, err := w.wait(ctx, running)
			a.end(syscall.SIGKILL)
			if err == nil {
				err = pause(ctx, settled)
			}
			return at.Sub(ready), err
		})
	}
	bare := func(ctx context.Context) (time.Duration, error) {
		// The recorded network is another engine's: bare pods join podstead's here.
		here, err := sc.on(ctx, private.engine)
		if err != nil {
			return 0, err
		}
		return reboot(ctx, private, nil, func(w *watch, _ time.Time) (time.Duration, error) {
			took, err := timeMany(ctx, private.engine, w, here, names)
			if err != nil {
				return 0, err
			}
			return took, sweepBare(ctx, private.engine)
		})
	}
	pairs, err := takeTurns(ctx, l, l.cfg.pairs, ours, bare)
	return result{pairs: pairs, limit: 1.1, note: "private engine, restarted with the 30 pods of the last good set"}, err
}

// fill runs the last good set once on a private engine and kills the agent.
func (l *lab) fill(ctx context.Context, private *privateEngine) (*agent, []string, error) {
	a, err := l.run(ctx, agentConfig{name: "reboot", socket: private.engine.Socket})
	if err != nil {
		return nil, nil, err
	}
	watching, done := context.WithCancel(ctx)
	defer done()
	w, err := watchEvents(watching, private.engine, time.Time{})
	if err != nil {
		return nil, nil, err
	}
	names := podNames("web", many)
	texts := map[string][]byte{}
	for _, name := range names {
		texts[name] = shape{}.manifest(name, a.image, 0)
	}
	running := w.expect(many, oncePerPod(a, names))
	if _, err := a.drop(texts); err != nil {
		return nil, nil, err
	}
	if _, err := w.wait(ctx, running); err != nil {
		return nil, nil, fmt.Errorf("%w: %s", err, a.lastWords())
	}
	a.end(syscall.SIGKILL)
	return a, names, nil
}

// reboot stops the engine, lets before act while it is away, starts it and
// measures from the moment it answers. Events are read from its start on.
func reboot(ctx context.Context, private *privateEngine, before func() error, measure func(*watch, time.Time) (time.Duration, error)) (time.Duration, error) {
	private.stop()
	if before != nil {
		if err := before(); err != nil {
			return 0, err
		}
	}
	since := time.Now()
	if err := private.start(ctx); err != nil {
		return 0, err
	}
	ready := time.Now()
	watching, done := context.WithCancel(ctx)
	defer done()
	w, err := watchEvents(watching, private.engine, since)
	if err != nil {
		return 0, err
	}
	return measure(w, ready)
}
