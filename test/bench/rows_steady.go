package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// fullNode runs an agent behind a counting proxy with 30 pods up and the
// engine quiet. The caller ends both.
func (l *lab) fullNode(ctx context.Context, name string, resync time.Duration) (*agent, *proxy, []string, error) {
	p, err := openProxy(filepath.Join(l.dir, name+".sock"), l.engine)
	if err != nil {
		return nil, nil, nil, err
	}
	a, err := l.run(ctx, agentConfig{name: name, socket: p.socket, resync: resync})
	if err != nil {
		p.close()
		return nil, nil, nil, err
	}
	names := podNames("web", many)
	if _, err = l.up(ctx, a, shape{}, names); err == nil {
		err = a.until(ctx, func() bool { return a.ready(ctx) == many })
	}
	if err == nil {
		err = l.watch.quiet(ctx, 2*time.Second)
	}
	if err != nil {
		a.end(syscall.SIGKILL)
		p.close()
		return nil, nil, nil, err
	}
	return a, p, names, nil
}

func measureIdle(ctx context.Context, l *lab) (result, error) {
	a, p, names, err := l.fullNode(ctx, "idle", 0)
	if err != nil {
		return result{}, err
	}
	defer p.close()
	defer a.end(stopSignal)
	if err := pause(ctx, 5*time.Second); err != nil { // the last of the start's own work
		return result{}, err
	}
	p.take()
	before, err := cpuTime(a.pid())
	if err != nil {
		return result{}, err
	}
	begin := time.Now()
	if err := pause(ctx, l.cfg.window); err != nil {
		return result{}, err
	}
	after, err := cpuTime(a.pid())
	if err != nil {
		return result{}, err
	}
	calls, _ := p.take()
	share := 100 * (after - before).Seconds() / time.Since(begin).Seconds()
	return result{
		values: []value{{"cpu", share, "% of a core", 0.05}, {"engine calls", float64(sum(calls)), "", 0}},
		note:   fmt.Sprintf("%s; calls: %s", l.cfg.window, tell(calls)),
	}, l.clear(ctx, a, names...)
}

func measureResync(ctx context.Context, l *lab) (result, error) {
	every := l.cfg.window / 6
	a, p, names, err := l.fullNode(ctx, "resync", every)
	if err != nil {
		return result{}, err
	}
	defer p.close()
	defer a.end(stopSignal)
	p.take()
	if err := pause(ctx, l.cfg.window); err != nil {
		return result{}, err
	}
	calls, _ := p.take()
	lists := calls["GET /containers/json"]
	others := sum(calls) - lists
	res := result{
		values: []value{
			{"lists", float64(lists), "", 7}, // jitter may fit one more in
			{"other calls", float64(others), "", 0},
		},
		note: fmt.Sprintf("%s with a resync every %s; calls: %s", l.cfg.window, every, tell(calls)),
	}
	if lists == 0 {
		return res, fmt.Errorf("no resync seen in %s", l.cfg.window)
	}
	return res, l.clear(ctx, a, names...)
}

func measureMemory(ctx context.Context, l *lab) (result, error) {
	const edited, warm, total = "web00", 20, 200
	a, p, names, err := l.fullNode(ctx, "memory", 0)
	if err != nil {
		return result{}, err
	}
	defer p.close()
	defer a.end(stopSignal)
	full, err := residentMiB(a.pid())
	if err != nil {
		return result{}, err
	}
	var warmed, peak float64
	for i := range total {
		if _, err := l.edit(ctx, a, shape{}, edited, i+1); err != nil {
			return result{}, fmt.Errorf("replacement %d: %w", i+1, err)
		}
		now, err := residentMiB(a.pid())
		if err != nil {
			return result{}, err
		}
		if i+1 == warm {
			warmed = now
		}
		peak = max(peak, now)
	}
	last, err := residentMiB(a.pid())
	if err != nil {
		return result{}, err
	}
	return result{
		values: []value{
			{"rss", full, "MiB", 60},
			{"rss after 200", last, "MiB", 60},
			{"growth since the 20th", 100 * (last/warmed - 1), "%", 10},
			{"peak", peak, "MiB", 60},
		},
	}, l.clear(ctx, a, names...)
}

func measureAdopt(ctx context.Context, l *lab) (result, error) {
	a, p, names, err := l.fullNode(ctx, "adopt", 0)
	if err != nil {
		return result{}, err
	}
	defer p.close()
	defer a.end(stopSignal)
	before, err := l.startedIDs(ctx, a)
	if err != nil {
		return result{}, err
	}
	const times = 10
	var took []float64
	written := map[string]int{}
	for range times {
		a.end(syscall.SIGKILL)
		if err := l.watch.quiet(ctx, stillness); err != nil {
			return result{}, err
		}
		p.take()
		begin := time.Now()
		if err := a.spawn(); err != nil {
			return result{}, err
		}
		if err := a.until(ctx, func() bool { return a.ready(ctx) == many }); err != nil {
			return result{}, err
		}
		took = append(took, float64(time.Since(begin))/1e6)
		if err := l.watch.quiet(ctx, time.Second); err != nil { // whatever it would still write
			return result{}, err
		}
		calls, _ := p.take()
		maps.Copy(written, onlyWrites(calls))
	}
	after, err := l.startedIDs(ctx, a)
	if err != nil {
		return result{}, err
	}
	if !maps.Equal(before, after) {
		return result{}, fmt.Errorf("containers changed while the agent was restarted")
	}
	est := estimate(took)
	return result{
		values: []value{
			{"adopted", est.Median, "ms", 500},
			{"slowest", slices.Max(took), "ms", 500},
			{"engine writes", float64(sum(written)), "", 0},
		},
		note: fmt.Sprintf("kill -9, %d times; writes: %s", times, tell(written)),
	}, l.clear(ctx, a, names...)
}

// startedIDs are the running containers of an agent's node.
func (l *lab) startedIDs(ctx context.Context, a *agent) (map[string]bool, error) {
	list, err := l.engine.All(ctx)
	ids := map[string]bool{}
	for _, c := range list {
		if c.State == "running" && c.Labels[rig.LabelNode] == a.node() {
			ids[c.ID] = true
		}
	}
	return ids, err
}

func onlyWrites(calls map[string]int) map[string]int {
	kept := map[string]int{}
	for kind, n := range calls {
		if writes(map[string]int{kind: n}) > 0 {
			kept[kind] = n
		}
	}
	return kept
}

// tell lists calls for a note.
func tell(calls map[string]int) string {
	if len(calls) == 0 {
		return "none"
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(calls)) {
		parts = append(parts, fmt.Sprintf("%d × %s", calls[kind], kind))
	}
	return strings.Join(parts, ", ")
}

// pause lets a window of observation pass.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
