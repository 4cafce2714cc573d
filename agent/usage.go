package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/podstead/podstead/agent/stats"
	"github.com/podstead/podstead/runtime"
)

const (
	// usageApart is the time between the two readings that give a rate.
	usageApart = time.Second
	// usageLimit bounds both of them together.
	usageLimit = 15 * time.Second
	// usageAtOnce is how many containers are read side by side.
	usageAtOnce = 8
)

// procDir is where the kernel tells of the machine.
const procDir = "/proc"

// Stats measures now what the machine and the running pods use, and takes a
// second for it. Nothing is measured unless it is called. The error tells that the
// engine does not answer.
func (a *Agent) Stats(ctx context.Context) (*statsapi.Summary, error) {
	ctx, cancel := context.WithTimeout(ctx, usageLimit)
	defer cancel()
	seen, err := a.deps.Runtime.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("measure usage: %w", err)
	}
	node, err := stats.ReadNode(procDir, time.Now())
	if err != nil {
		return nil, err
	}
	running := runningIn(seen)
	before, err := a.readUsage(ctx, running)
	if err != nil {
		return nil, err
	}
	if err := pause(ctx, usageApart); err != nil {
		return nil, fmt.Errorf("measure usage: %w", err)
	}
	after, err := a.readUsage(ctx, running)
	if err != nil {
		return nil, err
	}
	later, err := stats.ReadNode(procDir, time.Now())
	if err != nil {
		return nil, err
	}
	return a.summary(stats.NodeStats(a.cfg.Node.Name, node, later), seen, pairs(before, after)), nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runningIn are the IDs of what runs.
func runningIn(pods []runtime.Pod) []string {
	var ids []string
	for _, p := range pods {
		for _, s := range p.Sandboxes {
			if s.State == runtime.StateRunning {
				ids = append(ids, s.ID)
			}
		}
		for _, c := range p.Containers {
			if c.State == runtime.StateRunning {
				ids = append(ids, c.ID)
			}
		}
	}
	return ids
}

// readUsage reads what each of them uses; what has ended meanwhile is left out.
func (a *Agent) readUsage(ctx context.Context, ids []string) (map[string]stats.Reading, error) {
	var mu sync.Mutex
	readings := map[string]stats.Reading{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(usageAtOnce)
	for _, id := range ids {
		group.Go(func() error {
			asked := time.Now()
			usage, err := a.deps.Runtime.Usage(ctx, id)
			if errors.Is(err, runtime.ErrNotFound) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("measure usage: %w", err)
			}
			mu.Lock()
			defer mu.Unlock()
			// The engine has read it at some time in between.
			readings[id] = stats.Reading{Usage: usage, At: asked.Add(time.Since(asked) / 2)}
			return nil
		})
	}
	return readings, group.Wait()
}

func pairs(before, after map[string]stats.Reading) map[string]stats.Pair {
	all := make(map[string]stats.Pair, len(after))
	for id, reading := range after {
		pair := stats.Pair{After: reading}
		if earlier, ok := before[id]; ok {
			pair.Before = &earlier
		}
		all[id] = pair
	}
	return all
}

// summary puts together what was read of the pods that the agent knows, in their
// order; those of which nothing was read are left out.
func (a *Agent) summary(node statsapi.NodeStats, seen []runtime.Pod, read map[string]stats.Pair) *statsapi.Summary {
	observed := make(map[string]runtime.Pod, len(seen))
	for _, p := range seen {
		observed[p.UID] = p
	}
	engine, _ := a.Engine()
	s := &statsapi.Summary{Node: node, Pods: []statsapi.PodStats{}}
	for _, pod := range a.Pods() {
		of := readOf(pod, observed[string(pod.UID)], read)
		if of.Sandbox == nil && len(of.Containers) == 0 {
			continue
		}
		s.Pods = append(s.Pods, stats.PodStats(of, uint64(engine.Memory)))
	}
	return s
}

func readOf(pod *v1.Pod, observed runtime.Pod, read map[string]stats.Pair) stats.Pod {
	of := stats.Pod{Pod: pod, Containers: map[string]stats.Pair{}}
	for _, s := range observed.Sandboxes {
		if pair, ok := read[s.ID]; ok {
			of.Sandbox = &pair
			break
		}
	}
	for _, c := range observed.Containers {
		pair, ok := read[c.ID]
		if _, newer := of.Containers[c.Name]; ok && !newer {
			of.Containers[c.Name] = pair
		}
	}
	return of
}
