package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
)

// Event reasons of what the engine would not do. The agent shows them.
const (
	reasonNameTaken = "ContainerNameTaken"
	reasonWarning   = "EngineWarning"
	reasonNoScore   = "OOMScoreAdjNotSet"
)

// A name can be taken by a container that the engine is still making or still
// removing; it is waited for so long.
const (
	nameTries = 8
	nameDelay = 25 * time.Millisecond // doubled each time: 3 s in all
)

// create makes a container, or finds it made: what bears its name and is ours
// is the one, whether it was made by an earlier call that was cut off or by an
// earlier life of the agent. A foreign container keeps the name, and ours gets
// another.
func (m *Manager) create(ctx context.Context, s spec, want identity) (string, []runtime.Degraded, error) {
	delay := nameDelay
	for range nameTries {
		created, err := m.make(ctx, s)
		if !errors.Is(err, errNameTaken) {
			return m.created(created, err)
		}
		holder, err := m.engine.inspectContainer(ctx, s.name)
		switch {
		case errors.Is(err, runtime.ErrNotFound):
			if err := wait(ctx, delay); err != nil {
				return "", nil, err
			}
			delay *= 2
		case err != nil:
			return "", nil, err
		case !m.owns(holder, want):
			return m.createBeside(ctx, s, holder.ID)
		case useful(holder, want):
			return holder.ID, nil, nil
		default:
			if err := m.Remove(ctx, holder.ID); err != nil {
				return "", nil, err
			}
		}
	}
	return m.createBeside(ctx, s, "one that the engine does not show")
}

// make asks the engine for a container and keeps the books of its pod.
func (m *Manager) make(ctx context.Context, s spec) (container.CreateResponse, error) {
	uid := s.config.Labels[labelUID]
	created, err := m.engine.createContainer(ctx, s)
	if err != nil {
		m.members.doubt(uid) // it may have been made all the same, now or before
		return created, err
	}
	m.members.made(uid, created.ID)
	return created, nil
}

// created books a new container.
func (m *Manager) created(answer container.CreateResponse, err error) (string, []runtime.Degraded, error) {
	if err != nil {
		return "", nil, err
	}
	m.fresh.Store(answer.ID, struct{}{})
	var notes []runtime.Degraded
	for _, warning := range answer.Warnings {
		notes = append(notes, runtime.Degraded{Reason: reasonWarning, Message: warning})
	}
	return answer.ID, notes, nil
}

// createBeside makes a container under a name of its own.
func (m *Manager) createBeside(ctx context.Context, s spec, holder string) (string, []runtime.Degraded, error) {
	taken := s.name
	s.name += "_" + randomHex()
	id, notes, err := m.created(m.make(ctx, s))
	if err != nil {
		return "", nil, err
	}
	return id, append(notes, runtime.Degraded{
		Reason:  reasonNameTaken,
		Message: fmt.Sprintf("container name %s is held by %s, which is not this node's; using %s", taken, holder, s.name),
	}), nil
}

// owns reports whether the holder of a name is the very attempt that was to be
// made.
func (m *Manager) owns(holder container.InspectResponse, want identity) bool {
	is, err := identify(holder.Name, holder.Config.Labels, m.cfg.NodeID)
	return err == nil && is.pod == want.pod && is.container == want.container && is.attempt == want.attempt
}

// useful reports whether one of ours can still serve: not one that never ran
// and was made for a sandbox which has been replaced since, nor one that is
// being removed.
func useful(holder container.InspectResponse, want identity) bool {
	is := holder.Config.Labels[labelSandboxID]
	neverRan := parseTime(holder.State.StartedAt).IsZero()
	stale := neverRan && is != want.sandboxID
	return !stale && !holder.State.Dead && holder.State.Status != container.StateRemoving
}

// startable tells what is left to do for a container that is to be started:
// nothing for one that runs or ran. Asking costs a call, so one made here and
// not tried yet is not asked for.
func (m *Manager) startable(ctx context.Context, id string) (state container.State, err error) {
	if _, fresh := m.fresh.LoadAndDelete(id); fresh {
		return container.State{Status: container.StateCreated}, nil
	}
	found, err := m.engine.inspectContainer(ctx, id)
	if err != nil {
		return container.State{}, err
	}
	return *found.State, nil
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func randomHex() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
