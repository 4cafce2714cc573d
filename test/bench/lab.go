package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"syscall"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// labConfig is what the rows share.
type labConfig struct {
	podstead string
	socket   string
	image    string
	pairs    int
	window   time.Duration
}

const stopSignal = syscall.SIGTERM

// stillness is how long the engine must have been silent before a measurement.
const stillness = 200 * time.Millisecond

// lab is the place where rows measure: an engine, its events, a folder.
type lab struct {
	cfg     labConfig
	engine  *rig.Engine
	watch   *watch
	dir     string
	machine rig.Machine
	scripts map[shape]*script
	had     map[string]bool // networks that were there before
	agents  []*agent
	stop    context.CancelFunc
}

func openLab(ctx context.Context, cfg labConfig) (*lab, error) {
	e := rig.NewEngine(cfg.socket)
	if err := e.Ping(ctx); err != nil {
		return nil, fmt.Errorf("reach the engine: %w", err)
	}
	if err := e.Call(ctx, "GET", "/images/"+cfg.image+"/json", nil, nil); err != nil {
		return nil, fmt.Errorf("find the image (make engine makes it): %w", err)
	}
	l := &lab{cfg: cfg, engine: e, scripts: map[shape]*script{}, had: map[string]bool{}}
	var err error
	if l.machine, err = e.Machine(ctx); err != nil {
		return nil, err
	}
	found, err := networks(ctx, e)
	if err != nil {
		return nil, err
	}
	for _, n := range found {
		l.had[n.ID] = true
	}
	if l.dir, err = os.MkdirTemp("", "podstead-bench-"); err != nil {
		return nil, err
	}
	watching, stop := context.WithCancel(ctx)
	l.stop = stop
	if l.watch, err = watchEvents(watching, e, time.Time{}); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// close removes all that the lab made, also after an interrupt.
func (l *lab) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	for _, a := range l.agents {
		a.end(syscall.SIGKILL)
		err = errors.Join(err, rig.RemoveRunDir(a.root))
	}
	err = errors.Join(err, sweepAgents(ctx, l.engine), sweepBare(ctx, l.engine), l.sweepNetworks(ctx))
	l.stop()
	if l.watch != nil {
		<-l.watch.done
	}
	if err = errors.Join(err, os.RemoveAll(l.dir)); err != nil {
		fmt.Fprintln(os.Stderr, "bench: clean up:", err)
	}
}

// sweepAgents removes what killed agents left on the engine.
func sweepAgents(ctx context.Context, e *rig.Engine) error {
	list, err := e.All(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range list {
		if strings.HasPrefix(c.Labels[rig.LabelNode], "bench-") {
			errs = append(errs, remove(ctx, e, c.ID))
		}
	}
	return errors.Join(errs...)
}

// sweepNetworks removes podstead's bridge if it came with the bench.
func (l *lab) sweepNetworks(ctx context.Context) error {
	found, err := networks(ctx, l.engine)
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range found {
		if strings.Contains(n.Name, "podstead") && !l.had[n.ID] {
			errs = append(errs, l.engine.Call(ctx, "DELETE", "/networks/"+n.ID, nil, nil))
		}
	}
	return errors.Join(errs...)
}

// run starts an agent that the lab ends if the row does not.
func (l *lab) run(ctx context.Context, cfg agentConfig) (*agent, error) {
	if cfg.socket == "" {
		cfg.socket = l.cfg.socket
	}
	a, err := l.newAgent(cfg)
	if err != nil {
		return nil, err
	}
	l.agents = append(l.agents, a)
	return a, a.start(ctx)
}

// script of a shape, recorded when first asked for.
func (l *lab) script(ctx context.Context, s shape) (*script, error) {
	if sc, ok := l.scripts[s]; ok {
		return sc, nil
	}
	sc, err := l.record(ctx, s)
	if err != nil {
		return nil, err
	}
	l.scripts[s] = sc
	return sc, nil
}

// calm measures one side with the engine quiet before.
func (l *lab) calm(ctx context.Context, s side) (time.Duration, error) {
	if err := l.watch.quiet(ctx, stillness); err != nil {
		return 0, err
	}
	return s(ctx)
}

// up drops pods and waits until all run.
func (l *lab) up(ctx context.Context, a *agent, s shape, names []string) (time.Duration, error) {
	texts := map[string][]byte{}
	for _, name := range names {
		texts[name] = s.manifest(name, a.image, 0)
	}
	running := l.watch.expect(len(names), oncePerPod(a, names))
	begin, err := a.drop(texts)
	if err != nil {
		return 0, err
	}
	at, err := l.watch.wait(ctx, running)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, a.lastWords())
	}
	return at.Sub(begin), err
}

// oncePerPod matches the first start of the container of each named pod.
func oncePerPod(a *agent, names []string) func(rig.Event) bool {
	waiting := map[string]bool{}
	for _, name := range names {
		waiting[a.fullName(name)] = true
	}
	return func(e rig.Event) bool {
		if e.Action != "start" || e.Container != app || !waiting[e.Pod] {
			return false
		}
		delete(waiting, e.Pod)
		return true
	}
}

// clear removes pods and waits until nothing of them runs on the engine.
func (l *lab) clear(ctx context.Context, a *agent, names ...string) error {
	if err := a.take(names...); err != nil {
		return err
	}
	return l.awaitGone(ctx, a, names...)
}

// awaitGone waits until nothing of the named pods runs on the engine.
func (l *lab) awaitGone(ctx context.Context, a *agent, names ...string) error {
	return a.until(ctx, func() bool {
		list, err := l.engine.All(ctx)
		if err != nil {
			return false
		}
		for _, c := range list {
			if c.Labels[rig.LabelNode] == a.node() && !gone(c, a, names) {
				return false
			}
		}
		return true
	})
}

// gone reports whether a container is no running part of the named pods. Dead
// containers may stay for a while; they are the agent's to collect.
func gone(c rig.Box, a *agent, names []string) bool {
	for _, name := range names {
		if c.Labels[rig.LabelPod] == a.fullName(name) {
			return c.State != "running"
		}
	}
	return true
}

// callers is how many engine calls podstead makes at a time by default.
func callers() int { return 2 * goruntime.NumCPU() }

// podNames are n names that sort in their order.
func podNames(prefix string, n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%s%02d", prefix, i))
	}
	return names
}
