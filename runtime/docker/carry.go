package docker

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/docker/docker/pkg/stdcopy"
	"github.com/podstead/podstead/runtime"
)

// session is a process whose streams a link carries.
type session struct {
	link    *link
	streams runtime.Streams
	raw     bool // the output is a terminal's: one stream, not two in one
	resize  func(context.Context, runtime.TerminalSize) error
}

// carry copies until the output has ended, or ctx, whose error it returns then.
// It closes the link and Stdin, and has ended all that it started when it returns.
func (s session) carry(ctx context.Context) error {
	over, cancel := context.WithCancel(ctx)
	defer cancel()
	end := context.AfterFunc(ctx, s.close)
	defer end()
	var beside sync.WaitGroup
	if s.streams.Stdin != nil {
		beside.Go(s.copyInput)
	}
	if s.streams.Sizes != nil {
		beside.Go(func() { s.follow(over) })
	}
	err := s.copyOutput()
	cancel()
	s.close()
	beside.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// close ends both copies, each of which waits at one of these.
func (s session) close() {
	_ = s.link.Close() // all of it that counts has been read
	s.streams.CloseStdin()
}

// copyInput gives the process its input and then the end of it. One that reads no
// more, or has ended, is no error: its exit code tells.
func (s session) copyInput() {
	_, _ = io.Copy(s.link.Conn, s.streams.Stdin)
	_ = s.link.CloseWrite()
}

func (s session) copyOutput() error {
	stdout, stderr := orNowhere(s.streams.Stdout), orNowhere(s.streams.Stderr)
	var err error
	if s.raw {
		_, err = io.Copy(stdout, s.link)
	} else {
		_, err = stdcopy.StdCopy(stdout, stderr, s.link)
	}
	if err != nil {
		return fmt.Errorf("copy its output: %w", err)
	}
	return nil
}

// follow gives the terminal each new size. An engine that refuses one has a process
// that has ended, or has no terminal: nothing is lost.
func (s session) follow(ctx context.Context) {
	for {
		select {
		case size, more := <-s.streams.Sizes:
			if !more {
				return
			}
			_ = s.resize(ctx, size)
		case <-ctx.Done():
			return
		}
	}
}

func orNowhere(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}
