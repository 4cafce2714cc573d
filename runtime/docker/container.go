package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/podstead/podstead/runtime"
)

// CreateContainer makes one container of a pod and returns its id; the same
// attempt made before is returned as it is. Notes are what the engine could
// not do as asked. Errors: runtime.ErrNotFound when the image is not there,
// runtime.ErrSandboxGone, runtime.ErrNoSpace, runtime.ErrUnavailable.
func (m *Manager) CreateContainer(ctx context.Context, cfg runtime.ContainerConfig) (id string, notes []runtime.Degraded, err error) {
	in, err := m.surroundings(ctx)
	if err == nil {
		want := identity{pod: cfg.Pod, container: cfg.Name, attempt: cfg.Attempt, sandboxID: cfg.SandboxID}
		id, notes, err = m.create(ctx, containerSpec(cfg, in), want)
	}
	if err != nil {
		return "", nil, fmt.Errorf("create container %s of %s: %w", cfg.Name, cfg.Pod, err)
	}
	return id, notes, nil
}

// StartContainer starts a created container. One that runs or has run is left
// alone: an attempt is made once. Errors: runtime.ErrCannotRun when its
// process can't be run, which ends the attempt, runtime.ErrSandboxGone,
// runtime.ErrUnavailable, and runtime.ErrNotFound, also for one that an engine
// which was killed left half started: it is removed, so that it can be made anew.
func (m *Manager) StartContainer(ctx context.Context, id string) error {
	state, err := m.startable(ctx, id)
	if err == nil && parseTime(state.StartedAt).IsZero() {
		err = m.discardStale(ctx, id, m.engine.startContainer(ctx, id, rankStart))
	}
	if err != nil {
		return fmt.Errorf("start container %s: %w", short(id), err)
	}
	return nil
}

// Signal sends a signal ("TERM", "SIGKILL", "37") to the first process of a
// container or sandbox. One that does not run or does not exist needs none.
// KILL returns when the process is gone or after 10 s.
func (m *Manager) Signal(ctx context.Context, id, signal string) error {
	err := m.engine.killContainer(ctx, id, signal)
	if err == nil || errors.Is(err, runtime.ErrNotRunning) || errors.Is(err, runtime.ErrNotFound) {
		return nil
	}
	return fmt.Errorf("signal %s to %s: %w", signal, short(id), err)
}

// Remove takes a container or sandbox away, running or not, with the anonymous
// volumes its image asked for. One that is gone or going is a success. Errors:
// runtime.ErrBusy while all the engine's slots are needed for other work.
func (m *Manager) Remove(ctx context.Context, id string) error {
	err := m.engine.removeContainer(ctx, id)
	if err == nil || errors.Is(err, errRemoving) || errors.Is(err, runtime.ErrNotFound) {
		m.fresh.Delete(id)
		return nil
	}
	return fmt.Errorf("remove %s: %w", short(id), err)
}

// short cuts an id to what people use.
func short(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	return id[:min(12, len(id))]
}
