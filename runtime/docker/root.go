package docker

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/podstead/podstead/runtime"
)

// CheckRoot makes sure that the engine sees the agent's root directory, which
// must exist: what the agent writes there, containers are to read. When the
// engine's mount namespace can't be compared with this one, the engine is
// asked to bind a fresh directory of it, without starting anything.
func (m *Manager) CheckRoot(ctx context.Context, rootDir string) error {
	if same, err := m.sameMounts(ctx); err == nil && same {
		return nil
	}
	fresh, err := os.MkdirTemp(rootDir, ".engine-sees-")
	if err != nil {
		return fmt.Errorf("check root directory %s: %w", rootDir, err)
	}
	defer os.Remove(fresh)
	if err := m.tryBind(ctx, fresh); err != nil {
		return fmt.Errorf("check that the engine sees root directory %s: %w", rootDir, err)
	}
	return nil
}

// tryBind creates a container that binds a directory, and removes it. The
// engine looks for the directory at creation.
func (m *Manager) tryBind(ctx context.Context, dir string) error {
	in, err := m.surroundings(ctx)
	if err != nil {
		return err
	}
	probe := spec{
		name:   "podstead-check-" + randomHex(),
		config: &container.Config{Image: in.pauseImage, Labels: map[string]string{"podstead.check": in.nodeID}},
		host: &container.HostConfig{
			NetworkMode: "none",
			Mounts:      []mount.Mount{{Type: mount.TypeBind, Source: dir, Target: "/check", ReadOnly: true}},
		},
	}
	created, err := m.engine.createContainer(ctx, probe)
	if errors.Is(err, runtime.ErrNotFound) {
		if err := m.loadPause(ctx); err != nil {
			return err
		}
		created, err = m.engine.createContainer(ctx, probe)
	}
	if err != nil {
		return err
	}
	return m.Remove(context.WithoutCancel(ctx), created.ID)
}

// CanMount tells whether a mount made by this process reaches the engine and
// its containers, and why not.
func (m *Manager) CanMount(ctx context.Context) (bool, string) {
	same, err := m.sameMounts(ctx)
	switch {
	case err != nil:
		return false, fmt.Sprintf("whether the engine shares this process's mounts is unknown: %v", err)
	case !same:
		return false, "the engine runs in another mount namespace"
	}
	can, err := m.proc.has(self, capSysAdmin)
	switch {
	case err != nil:
		return false, fmt.Sprintf("this process's capabilities are unknown: %v", err)
	case !can:
		return false, "this process lacks CAP_SYS_ADMIN"
	}
	return true, ""
}

func (m *Manager) sameMounts(ctx context.Context) (bool, error) {
	pid, err := m.enginePID(ctx)
	if err != nil {
		return false, err
	}
	engines, err := m.proc.mountNamespace(pid)
	if err != nil {
		return false, err
	}
	ours, err := m.proc.mountNamespace(self)
	return engines == ours, err
}
