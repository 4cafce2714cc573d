package docker

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
)

// Attach copies what the process of a running container writes from now on, and
// gives it Stdin where its definition leaves that open, until the container ends,
// which is nil whatever its exit code, or ctx, or a stream's error: the container
// goes on then. In a container with a terminal ctrl-p ctrl-q leaves it, as with the
// kubelet on Docker. It takes no slot. Errors: runtime.ErrNotFound,
// runtime.ErrNotRunning, runtime.ErrUnavailable.
func (m *Manager) Attach(ctx context.Context, id string, s runtime.Streams) error {
	defer s.CloseStdin()
	if err := m.attach(ctx, id, s); err != nil {
		return fmt.Errorf("attach to %s: %w", short(id), err)
	}
	return nil
}

func (m *Manager) attach(ctx context.Context, id string, s runtime.Streams) error {
	found, err := m.engine.inspectContainer(ctx, id)
	switch {
	case err != nil:
		return err
	case !found.State.Running:
		return runtime.ErrNotRunning
	}
	if !found.Config.OpenStdin {
		s.CloseStdin()
		s.Stdin = nil // the engine would take it and keep it
	}
	link, err := m.engine.attachContainer(ctx, id, s.Stdin != nil)
	if err != nil {
		return err
	}
	resize := func(ctx context.Context, size runtime.TerminalSize) error {
		return m.engine.resizeContainer(ctx, id, size)
	}
	if !found.Config.Tty {
		s.Sizes = nil
	}
	if err := (session{link: link, streams: s, raw: found.Config.Tty, resize: resize}).carry(ctx); err != nil {
		return err
	}
	// An engine that goes away ends the stream without a word.
	_, err = m.engine.inspectContainer(ctx, id)
	if errors.Is(err, runtime.ErrNotFound) {
		return nil
	}
	return err
}

func (e *engine) attachContainer(ctx context.Context, id string, stdin bool) (*link, error) {
	q := url.Values{"stream": {"1"}, "stdout": {"1"}, "stderr": {"1"}}
	if stdin {
		q.Set("stdin", "1")
	}
	return ask(ctx, e, call{name: "container_attach", id: id, limit: longLimit}, func(ctx context.Context, a api) (*link, error) {
		return hijack(ctx, a, "/containers/"+id+"/attach?"+q.Encode(), nil)
	})
}

func (e *engine) resizeContainer(ctx context.Context, id string, size runtime.TerminalSize) error {
	return tell(ctx, e, call{name: "container_resize", id: id, limit: shortLimit, slot: true}, func(ctx context.Context, a api) error {
		return a.ContainerResize(ctx, id, container.ResizeOptions{Height: uint(size.Height), Width: uint(size.Width)})
	})
}
