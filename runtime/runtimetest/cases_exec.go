package runtimetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/podstead/podstead/runtime"
)

func (b *bench) execEnds() {
	c := b.running(b.sandbox(), 0, b.env.Commands.Deaf)
	var stdout, stderr strings.Builder
	err := b.rt.Exec(b.Context(), c, b.env.Commands.Speak, runtime.Streams{Stdout: &stdout, Stderr: &stderr})
	if stdout.String() != "one\n" || stderr.String() != "oops\n" {
		b.Errorf("wrote %q and %q", stdout.String(), stderr.String())
	}
	b.wantExit(err, 3, false)
	b.wantExit(b.rt.Exec(b.Context(), c, b.env.Commands.Speak, runtime.Streams{}), 3, false)
}

// execReads sends more than any buffer holds, with bytes that are no text.
func (b *bench) execReads() {
	c := b.running(b.sandbox(), 0, b.env.Commands.Deaf)
	sent := bytes.Repeat([]byte("\x00\xff\r\n\x1b[0m\x04"), 200_000)
	var got bytes.Buffer
	err := b.rt.Exec(b.Context(), c, b.env.Commands.Echo, runtime.Streams{Stdin: io.NopCloser(bytes.NewReader(sent)), Stdout: &got})
	b.check(err)
	if !bytes.Equal(got.Bytes(), sent) {
		b.Errorf("%d bytes came back of %d, or others", got.Len(), len(sent))
	}
}

func (b *bench) execRefused() {
	c := b.running(b.sandbox(), 0, b.env.Commands.Deaf)
	var stdout, stderr strings.Builder
	err := b.rt.Exec(b.Context(), c, b.env.Commands.Nope, runtime.Streams{Stdout: &stdout, Stderr: &stderr})
	if code := b.wantExit(err, 0, true); code != 126 && code != 127 {
		b.Errorf("exit code %d, want 126 or 127", code)
	}
	if stdout.Len() > 0 || !strings.Contains(stderr.String(), "nope") {
		b.Errorf("wrote %q and %q, want the engine's words on stderr alone", stdout.String(), stderr.String())
	}
	stdout.Reset()
	err = b.rt.Exec(b.Context(), c, b.env.Commands.Nope, runtime.Streams{Stdout: &stdout, TTY: true})
	b.wantExit(err, 0, true)
	if !strings.Contains(stdout.String(), "nope") {
		b.Errorf("the terminal shows %q, want the engine's words", stdout.String())
	}
}

func (b *bench) execEndsWithItsContainer() {
	box := b.sandbox()
	c := b.running(box, 0, b.env.Commands.Deaf)
	killed := onLine("begun\n", func() { b.check(b.rt.Signal(b.Context(), c, "KILL")) })
	b.wantExit(b.rt.Exec(b.Context(), c, b.env.Commands.Wait, runtime.Streams{Stdout: killed}), 137, false)
	b.untilEnded(c)
	for _, visit := range b.visits(c) {
		if err := visit(b.Context(), runtime.Streams{}); !errors.Is(err, runtime.ErrNotRunning) {
			b.Errorf("in a container that has ended: %v, want ErrNotRunning", err)
		}
	}
	b.must(b.rt.Remove(b.Context(), c))
	for _, visit := range b.visits(c) {
		if err := visit(b.Context(), runtime.Streams{}); !errors.Is(err, runtime.ErrNotFound) {
			b.Errorf("in a container that is gone: %v, want ErrNotFound", err)
		}
	}
}

// visits are the two ways into a container.
func (b *bench) visits(id string) []func(context.Context, runtime.Streams) error {
	return []func(context.Context, runtime.Streams) error{
		func(ctx context.Context, s runtime.Streams) error {
			return b.rt.Exec(ctx, id, b.env.Commands.Wait, s)
		},
		func(ctx context.Context, s runtime.Streams) error { return b.rt.Attach(ctx, id, s) },
	}
}

func (b *bench) execLeft() {
	c := b.running(b.sandbox(), 0, b.env.Commands.Tell)
	for _, visit := range b.visits(c) {
		ctx, leave := context.WithCancel(b.Context())
		input, open := io.Pipe()
		err := visit(ctx, runtime.Streams{Stdin: input, Stdout: onLine("", leave)})
		if !errors.Is(err, context.Canceled) {
			b.Errorf("who left gets %v, want its own context's error", err)
		}
		if _, err := open.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			b.Errorf("its input is not closed: %v", err)
		}
		leave()
	}
	if got := find(b.observe(), c); got.State != runtime.StateRunning {
		b.Errorf("the container is %s, want it to go on", got.State)
	}
}

func (b *bench) attachSees() {
	c := b.running(b.sandbox(), 0, b.env.Commands.Tell)
	ticks := 0
	out := onLine("", func() {
		if ticks++; ticks == 3 {
			b.check(b.rt.Signal(b.Context(), c, "KILL"))
		}
	})
	b.check(b.rt.Attach(b.Context(), c, runtime.Streams{Stdout: out}))
	if ticks < 3 {
		b.Errorf("saw %d writes, want 3 before the end", ticks)
	}
}

// wantExit checks for an ExitError, with that code unless it is 0, and returns its code.
func (b *bench) wantExit(err error, code int, refused bool) int {
	b.Helper()
	var exit *runtime.ExitError
	if !errors.As(err, &exit) {
		b.Fatalf("error is %v, want an exit code", err)
	}
	if code != 0 && exit.Code != code || (exit.Refused != "") != refused {
		b.Errorf("exit is %+v, want code %d, refused %v", exit, code, refused)
	}
	return exit.Code
}

// onLine calls do for each write that holds the text.
func onLine(text string, do func()) io.Writer {
	return lineWriter(func(p []byte) {
		if strings.Contains(string(p), text) {
			do()
		}
	})
}

type lineWriter func(p []byte)

func (w lineWriter) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}
