package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/podstead/podstead/runtime"
)

// discardStale removes what can never be started, because the engine was killed
// between the container runtime's start of it and its own note thereof. The
// engine knows nothing of the process that may run since; it would run twice.
//
// One whose mount has lost its source is removed as well: it can only start
// when that is there again, and the next one is made with the volumes set up.
func (m *Manager) discardStale(ctx context.Context, id string, refusal error) error {
	switch {
	case errors.Is(refusal, errMountGone):
		return errors.Join(refusal, m.Remove(ctx, id))
	case !errors.Is(refusal, errStale):
		return refusal
	}
	ended, err := m.proc.endContainer(id)
	if ended > 0 {
		m.log.Warn("ended processes that the engine does not know of", "id", short(id), "count", ended)
	}
	if err := errors.Join(err, m.Remove(ctx, id)); err != nil {
		return errors.Join(refusal, err)
	}
	return fmt.Errorf("%w: removed, for %w", runtime.ErrNotFound, refusal)
}

// endContainer kills the processes of a container and returns how many there
// were. One that can't see the engine's processes finds none.
func (p procfs) endContainer(id string) (ended int, err error) {
	tables, err := filepath.Glob(p.path("[0-9]*", "cgroup"))
	if err != nil {
		return 0, err
	}
	for _, table := range tables {
		if !inContainer(table, id) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(table)))
		if err != nil {
			return ended, err
		}
		process, err := os.FindProcess(pid) // from here on it is this very process
		if err != nil {
			return ended, err
		}
		if inContainer(table, id) {
			ended++
			err = process.Kill()
		}
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			return ended, fmt.Errorf("kill process %d of container %s: %w", pid, short(id), err)
		}
	}
	return ended, nil
}

// inContainer reads a process's table of cgroups. A container's is called by its
// id, or docker-<id>.scope where systemd makes it.
func inContainer(table, id string) bool {
	text, err := os.ReadFile(table)
	if err != nil {
		return false // it has ended
	}
	for line := range strings.Lines(string(text)) {
		steps := strings.Split(strings.TrimSpace(line), "/")
		if slices.Contains(steps, id) || slices.Contains(steps, "docker-"+id+".scope") {
			return true
		}
	}
	return false
}
