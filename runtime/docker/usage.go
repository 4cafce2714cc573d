package docker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
)

// maxStats bounds one answer, which grows with the machine's disks and cores.
const maxStats = 4 << 20

// Usage reads what a running container or sandbox uses. It takes no slot: an
// engine older than 20.10 needs two seconds for an answer, which must not hold up
// those who start and stop. What does not run, or runs no more, is
// runtime.ErrNotFound.
func (m *Manager) Usage(ctx context.Context, id string) (runtime.Usage, error) {
	told, err := m.engine.stats(ctx, id)
	if err != nil {
		return runtime.Usage{}, fmt.Errorf("usage of %s: %w", short(id), err)
	}
	if told.Read.IsZero() { // the engine's answer for what does not run
		return runtime.Usage{}, fmt.Errorf("usage of %s: %w: it does not run", short(id), runtime.ErrNotFound)
	}
	return usageFrom(told), nil
}

func (e *engine) stats(ctx context.Context, id string) (container.StatsResponse, error) {
	return ask(ctx, e, call{name: "container_stats", id: id, limit: shortLimit}, func(ctx context.Context, a api) (container.StatsResponse, error) {
		var told container.StatsResponse
		answer, err := a.ContainerStatsOneShot(ctx, id)
		if err != nil {
			return told, err
		}
		defer answer.Body.Close()
		return told, json.NewDecoder(io.LimitReader(answer.Body, maxStats)).Decode(&told)
	})
}

func usageFrom(s container.StatsResponse) runtime.Usage {
	memory := s.MemoryStats
	u := runtime.Usage{
		CPU:             s.CPUStats.CPUUsage.TotalUsage,
		Memory:          memory.Usage,
		WorkingSet:      workingSet(memory),
		RSS:             firstOf(memory.Stats, "total_rss", "anon"),
		PageFaults:      firstOf(memory.Stats, "total_pgfault", "pgfault"),
		MajorPageFaults: firstOf(memory.Stats, "total_pgmajfault", "pgmajfault"),
		MemoryLimit:     memory.Limit,
	}
	for _, name := range slices.Sorted(maps.Keys(s.Networks)) {
		n := s.Networks[name]
		u.Interfaces = append(u.Interfaces, runtime.Interface{
			Name: name, RxBytes: n.RxBytes, RxErrors: n.RxErrors, TxBytes: n.TxBytes, TxErrors: n.TxErrors,
		})
	}
	return u
}

// workingSet is cadvisor's: usage without the inactive page cache, which control
// groups of version 1 count under another name, of all groups below.
func workingSet(m container.MemoryStats) uint64 {
	return m.Usage - min(m.Usage, firstOf(m.Stats, "total_inactive_file", "inactive_file"))
}

// firstOf is the value of the first name that is there and not 0.
func firstOf(stats map[string]uint64, names ...string) uint64 {
	values := make([]uint64, len(names))
	for i, name := range names {
		values[i] = stats[name]
	}
	return cmp.Or(values...)
}
