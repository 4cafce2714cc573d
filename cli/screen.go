package cli

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/podstead/podstead/runtime"
)

// screen is the terminal that a visit uses.
type screen struct{ in *os.File }

// serve makes the terminal raw, so that every key goes to the container, tells its
// size and each new one, and puts it back as it was however the visit ends.
func (s *screen) serve(ctx context.Context, t Terminal, streams runtime.Streams, visit func(context.Context, runtime.Streams) error) error {
	signals := make(chan os.Signal, 1) // one is enough to end
	signal.Notify(signals, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM)
	defer signal.Stop(signals)
	was, err := term.MakeRaw(int(s.in.Fd()))
	if err != nil {
		return fmt.Errorf("use the terminal: %w; without -t there is none", err)
	}
	defer func() { _ = term.Restore(int(s.in.Fd()), was) }() // there is nobody to tell

	ctx, cancel := context.WithCancelCause(released(ctx, t))
	var beside sync.WaitGroup
	defer beside.Wait()
	defer cancel(nil)
	beside.Go(func() { endAt(ctx, signals, cancel) })
	sizes := make(chan runtime.TerminalSize)
	streams.TTY, streams.Stderr, streams.Sizes = true, nil, sizes
	resized := make(chan os.Signal, 1) // the size is looked at when it is read
	signal.Notify(resized, unix.SIGWINCH)
	defer signal.Stop(resized)
	beside.Go(func() { s.follow(ctx, resized, sizes) })

	err = visit(ctx, streams)
	if end, ok := context.Cause(ctx).(*Exit); ok { //nolint:errorlint // it is ours, as it is
		return end
	}
	return err
}

// endAt ends the visit at a signal, with the exit code that it would have had.
func endAt(ctx context.Context, signals <-chan os.Signal, cancel context.CancelCauseFunc) {
	select {
	case caught := <-signals:
		number, _ := caught.(syscall.Signal)
		cancel(&Exit{Code: 128 + int(number)})
	case <-ctx.Done():
	}
}

// follow sends the size at first and after each change, until ctx ends.
func (s *screen) follow(ctx context.Context, resized <-chan os.Signal, to chan<- runtime.TerminalSize) {
	defer close(to)
	size, due := s.size(), to
	for {
		select {
		case due <- size:
			due = nil
		case <-resized:
			size, due = s.size(), to
		case <-ctx.Done():
			return
		}
	}
}

// size is the terminal's; that of the smallest screens there are if it has none.
func (s *screen) size() runtime.TerminalSize {
	width, height, err := term.GetSize(int(s.in.Fd()))
	if err != nil || width <= 0 || height <= 0 || width > math.MaxUint16 || height > math.MaxUint16 {
		width, height = 80, 24
	}
	return runtime.TerminalSize{Width: uint16(width), Height: uint16(height)}
}
