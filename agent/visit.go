package agent

import (
	"context"
	"fmt"

	"github.com/podstead/podstead/runtime"
)

// Target names a container that somebody wants to visit.
type Target struct {
	Namespace string
	Pod       string // full name
	UID       string // "" for whichever pod has the name
	Container string // "" for the only one
}

// Visit is a stay in a container that was found running. It serves the streams,
// closes Stdin, and returns when the command or container has ended, or ctx.
type Visit func(ctx context.Context, s runtime.Streams) error

// Exec returns what runs a command in a container of a pod, in whatever phase the
// pod is. Errors: runtime.ErrNotFound, ErrBadRequest for a container that does not
// run or a command that is none; of the Visit those of the runtime's Exec.
func (a *Agent) Exec(ctx context.Context, t Target, command []string) (Visit, error) {
	if len(command) == 0 {
		return nil, fmt.Errorf("no command is given to run in pod %s/%s: %w", t.Namespace, t.Pod, ErrBadRequest)
	}
	id, where, err := a.runningIn(ctx, t)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, s runtime.Streams) error {
		return within(where, a.deps.Runtime.Exec(ctx, id, command, s))
	}, nil
}

// Attach is Exec for the process that the container runs.
func (a *Agent) Attach(ctx context.Context, t Target) (Visit, error) {
	id, where, err := a.runningIn(ctx, t)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, s runtime.Streams) error {
		return within(where, a.deps.Runtime.Attach(ctx, id, s))
	}, nil
}

// runningIn finds the instance that runs; where names it in errors.
func (a *Agent) runningIn(ctx context.Context, t Target) (id, where string, err error) {
	pod, err := a.find(t.Namespace, t.Pod)
	if err != nil {
		return "", "", err
	}
	if t.UID != "" && t.UID != string(pod.UID) {
		return "", "", fmt.Errorf("pod %q in namespace %q has uid %s, not %s: %w", t.Pod, t.Namespace, pod.UID, t.UID, runtime.ErrNotFound)
	}
	name, err := containerFor(pod, t.Container)
	if err != nil {
		return "", "", err
	}
	where = fmt.Sprintf("container %q in pod %s/%s", name, t.Namespace, t.Pod)
	observed, err := a.deps.Runtime.Pod(ctx, string(pod.UID))
	if err != nil {
		return "", "", fmt.Errorf("look up %s: %w", where, err)
	}
	newest, ok := observed.Newest(name)
	switch {
	case ok && newest.State == runtime.StateRunning:
		return newest.ID, where, nil
	case ok && newest.State == runtime.StateExited:
		return "", "", fmt.Errorf("%s is not running: it has ended with exit code %d (%s): %w", where, newest.ExitCode, newest.Reason, ErrBadRequest)
	}
	return "", "", fmt.Errorf("%s is not running: it is waiting to start: %s: %w", where, waitingReason(pod, name), ErrBadRequest)
}

// within says where an error happened.
func within(where string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", where, err)
}
