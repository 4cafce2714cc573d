package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
)

// detachKeys is a row of keys that nobody types. The engine would take ctrl-p ctrl-q
// for leaving, and hold back each ctrl-p until it knows what follows; none cannot be
// asked for.
const detachKeys = "ctrl-@,ctrl-^,ctrl-@,ctrl-_,ctrl-@,ctrl-^,ctrl-@,ctrl-_"

// Exec runs a command beside the process of a running container, with its user,
// environment and folder, and returns when the command has ended: nil for exit code
// 0, else a runtime.ExitError, also for a command that cannot be run, whose code is
// the engine's (126 or 127; Docker 20.10 says 126 for whatever is missing). It ends
// with ctx too, and with the streams' errors; the command itself then goes on, as it
// does under Docker and the kubelet, but reads the end of its input. It takes no
// slot. Errors: runtime.ErrNotFound and runtime.ErrNotRunning of the container,
// runtime.ErrUnavailable.
func (m *Manager) Exec(ctx context.Context, id string, command []string, s runtime.Streams) error {
	defer s.CloseStdin()
	if err := m.exec(ctx, id, command, s); err != nil {
		return fmt.Errorf("exec in %s: %w", short(id), err)
	}
	return nil
}

func (m *Manager) exec(ctx context.Context, id string, command []string, s runtime.Streams) error {
	exec, err := m.engine.createExec(ctx, id, execOptions(command, s))
	if err != nil {
		return err
	}
	held := &withheld{to: orNowhere(s.Stdout)}
	link, err := m.engine.startExec(ctx, exec, s.TTY)
	if err != nil {
		return m.refusedStart(ctx, exec, err)
	}
	resize := func(ctx context.Context, size runtime.TerminalSize) error {
		return m.engine.resizeExec(ctx, exec, size)
	}
	carried := s
	carried.Stdout = held
	if err := (session{link: link, streams: carried, raw: s.TTY, resize: resize}).carry(ctx); err != nil {
		return err
	}
	end, err := m.execEnd(ctx, exec)
	if err != nil {
		return err
	}
	return held.conclude(end, s)
}

// execOptions asks for all streams: the engine's connection ends with the output,
// also where nobody wants to see that.
func execOptions(command []string, s runtime.Streams) container.ExecOptions {
	return container.ExecOptions{
		Cmd: command, Tty: s.TTY, DetachKeys: detachKeys,
		AttachStdin: s.Stdin != nil, AttachStdout: true, AttachStderr: true,
	}
}

// refusedStart finds the exit code of a command that an engine (a newer one) refused
// to start before there was any output.
func (m *Manager) refusedStart(ctx context.Context, exec string, refused error) error {
	var words engineError
	if !errors.As(refused, &words) || errors.Is(refused, runtime.ErrUnavailable) {
		return refused
	}
	end, err := m.engine.inspectExec(ctx, exec)
	if err != nil || end.Running || end.Pid != 0 || end.ExitCode == 0 {
		return refused
	}
	return &runtime.ExitError{Code: end.ExitCode, Refused: words.Error()}
}

// How often the engine is asked whether a command has ended whose output has: at
// once in nearly all cases, for a command that closed its output only later.
const (
	endFirst = 10 * time.Millisecond
	endLast  = time.Second
)

// execEnd waits for the end of a command whose output has ended.
func (m *Manager) execEnd(ctx context.Context, exec string) (container.ExecInspect, error) {
	for wait := endFirst; ; wait = min(2*wait, endLast) {
		end, err := m.engine.inspectExec(ctx, exec)
		switch {
		case errors.Is(err, runtime.ErrNotFound), errors.Is(err, runtime.ErrNotRunning):
			return end, fmt.Errorf("the container went away before the command's exit code was known: %w", err)
		case err != nil:
			return end, fmt.Errorf("the command's exit code is not known: %w", err)
		case !end.Running:
			return end, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return end, ctx.Err()
		}
	}
}

func (e *engine) createExec(ctx context.Context, id string, opts container.ExecOptions) (string, error) {
	return ask(ctx, e, call{name: "exec_create", id: id, limit: shortLimit, slot: true}, func(ctx context.Context, a api) (string, error) {
		made, err := a.ContainerExecCreate(ctx, id, opts)
		return made.ID, err
	})
}

func (e *engine) startExec(ctx context.Context, exec string, tty bool) (*link, error) {
	return ask(ctx, e, call{name: "exec_start", limit: longLimit}, func(ctx context.Context, a api) (*link, error) {
		return hijack(ctx, a, "/exec/"+exec+"/start", container.ExecStartOptions{Tty: tty})
	})
}

func (e *engine) inspectExec(ctx context.Context, exec string) (container.ExecInspect, error) {
	return ask(ctx, e, call{name: "exec_inspect", limit: shortLimit, slot: true}, func(ctx context.Context, a api) (container.ExecInspect, error) {
		return a.ContainerExecInspect(ctx, exec)
	})
}

func (e *engine) resizeExec(ctx context.Context, exec string, size runtime.TerminalSize) error {
	return tell(ctx, e, call{name: "exec_resize", limit: shortLimit, slot: true}, func(ctx context.Context, a api) error {
		return a.ContainerExecResize(ctx, exec, container.ResizeOptions{Height: uint(size.Height), Width: uint(size.Width)})
	})
}
