package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
	"github.com/podstead/podstead/runtime"
)

// Logs copies a container's log, dead or alive, to stdout and stderr, as far
// as the options select it. With Follow it goes on until the container ends,
// or ctx, which is an error then. A terminal's output has no stderr. It takes
// no slot. Errors: runtime.ErrNotFound, runtime.ErrUnavailable, the writers'.
func (m *Manager) Logs(ctx context.Context, id string, opts runtime.LogOptions, stdout, stderr io.Writer) error {
	if err := m.copyLogs(ctx, id, opts, stdout, stderr); err != nil && !errors.Is(err, errEnough) {
		return fmt.Errorf("logs of %s: %w", short(id), err)
	}
	return nil
}

func (m *Manager) copyLogs(ctx context.Context, id string, opts runtime.LogOptions, stdout, stderr io.Writer) error {
	found, err := m.engine.inspectContainer(ctx, id)
	if err != nil {
		return err
	}
	stream, err := m.engine.containerLogs(ctx, id, logsOptions(opts))
	if err != nil {
		return err
	}
	defer stream.Close()
	if opts.LimitBytes != nil {
		left := *opts.LimitBytes
		stdout, stderr = limited{stdout, &left}, limited{stderr, &left}
	}
	if found.Config.Tty {
		_, err = io.Copy(stdout, stream)
	} else {
		_, err = stdcopy.StdCopy(stdout, stderr, stream)
	}
	return err
}

func logsOptions(opts runtime.LogOptions) container.LogsOptions {
	out := container.LogsOptions{
		ShowStdout: true,
		ShowStderr: true,
		Follow:     opts.Follow,
		Timestamps: opts.Timestamps,
	}
	if opts.Tail != nil {
		out.Tail = strconv.FormatInt(*opts.Tail, 10)
	}
	if opts.Since != nil {
		out.Since = fmt.Sprintf("%d.%09d", opts.Since.Unix(), opts.Since.Nanosecond())
	}
	return out
}

// errEnough ends a copy that has reached its limit.
var errEnough = errors.New("limit of bytes reached")

// limited writes no more than what is left; two writers can share it.
type limited struct {
	to   io.Writer
	left *int64
}

func (l limited) Write(p []byte) (int, error) {
	if *l.left <= 0 {
		return 0, errEnough
	}
	part := p[:min(int64(len(p)), *l.left)]
	n, err := l.to.Write(part)
	*l.left -= int64(n)
	if err == nil && len(part) < len(p) {
		err = errEnough
	}
	return n, err
}
