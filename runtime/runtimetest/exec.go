package runtimetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/podstead/podstead/runtime"
)

// Program is what a command does that is run in a container. It returns its exit
// code, and at once when ctx ends, because the container did; its Stdin has ended
// then. No stream is nil.
type Program func(ctx context.Context, p Session) int

// Session is what a Program works with.
type Session struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer // with TTY the same as Stdout
	TTY    bool
	Sizes  <-chan runtime.TerminalSize
}

// Install lets every container know a command, by its line, the words joined by
// spaces, or by its first word. What is not installed is not found.
func (f *Fake) Install(command string, p Program) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.programs == nil {
		f.programs = map[string]Program{}
	}
	f.programs[command] = p
}

// notInstalled is what an engine says of a command that is not there.
const notInstalled = "OCI runtime exec failed: exec failed: unable to start container process: exec: %q: executable file not found in $PATH: unknown"

// Exec runs an installed program in the caller's goroutine, until it, the container
// or ctx ends.
func (f *Fake) Exec(ctx context.Context, id string, command []string, s runtime.Streams) error {
	defer s.CloseStdin()
	inside, v, err := f.enter(ctx, Call{Verb: "Exec", ID: id, Detail: strings.Join(command, " ")})
	if err != nil {
		return err
	}
	defer f.leave(v)
	if len(command) == 0 {
		return errors.New("exec: no command is given")
	}
	program := f.program(command)
	if program == nil {
		return refuseCommand(command, s)
	}
	end := context.AfterFunc(inside, s.CloseStdin)
	defer end()
	code := program(inside, sessionOf(s))
	switch why := context.Cause(inside); {
	case why != nil && !errors.Is(why, errEnded):
		return fmt.Errorf("exec: %w", why)
	case why != nil:
		return &runtime.ExitError{Code: 137} // killed with its container
	case code != 0:
		return &runtime.ExitError{Code: code}
	}
	return nil
}

// refuseCommand tells as an engine does that there is no such command.
func refuseCommand(command []string, s runtime.Streams) error {
	why := fmt.Sprintf(notInstalled, command[0])
	_, err := io.WriteString(cmp.Or(s.Stderr, s.Stdout, io.Discard), why+"\r\n")
	return errors.Join(err, &runtime.ExitError{Code: 127, Refused: why})
}

// Attach writes what is printed from now on, until the container or ctx ends. What
// it is given to read is dropped.
func (f *Fake) Attach(ctx context.Context, id string, s runtime.Streams) error {
	s.CloseStdin()
	inside, v, err := f.enter(ctx, Call{Verb: "Attach", ID: id})
	if err != nil {
		return err
	}
	defer f.leave(v)
	out := &logWriter{stdout: cmp.Or(s.Stdout, io.Discard), stderr: cmp.Or(s.Stderr, io.Discard)}
	for seen := v.seen; ; {
		lines, changed, over := f.logFrom(v.in, seen)
		seen += len(lines)
		if _, err := out.write(lines); err != nil || over {
			return err
		}
		select {
		case <-changed:
		case <-inside.Done():
			if why := context.Cause(inside); !errors.Is(why, errEnded) {
				return fmt.Errorf("attach: %w", why)
			}
		}
	}
}

func (f *Fake) program(command []string) Program {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.programs[strings.Join(command, " ")]; p != nil {
		return p
	}
	return f.programs[command[0]]
}

func sessionOf(s runtime.Streams) Session {
	p := Session{Stdin: strings.NewReader(""), Stdout: cmp.Or(s.Stdout, io.Discard), TTY: s.TTY, Sizes: s.Sizes}
	if s.Stdin != nil {
		p.Stdin = s.Stdin
	}
	p.Stderr = cmp.Or(s.Stderr, io.Discard)
	if s.TTY {
		p.Stderr = p.Stdout
	}
	return p
}

// errEnded is why a visit ended with its container.
var errEnded = errors.New("the container has ended")

// visit is somebody's stay in a running container.
type visit struct {
	end  context.CancelCauseFunc
	in   *object
	seen int // lines that were printed before
}

// enter begins one, whose context ends with it.
func (f *Fake) enter(ctx context.Context, c Call) (context.Context, *visit, error) {
	inside, end := context.WithCancelCause(ctx)
	v, err := call(ctx, f, c, func() (*visit, error) {
		o := f.objects[c.ID]
		switch {
		case o == nil:
			return nil, runtime.ErrNotFound
		case o.state != runtime.StateRunning:
			return nil, runtime.ErrNotRunning
		}
		v := &visit{end: end, in: o, seen: len(o.lines)}
		f.visits = append(f.visits, v)
		return v, nil
	})
	if err != nil {
		end(err)
	}
	return inside, v, err
}

func (f *Fake) leave(v *visit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.visits = slices.DeleteFunc(f.visits, func(other *visit) bool { return other == v })
	v.end(nil)
}

// expel ends the visits of what has ended, or, with nil, all of them.
func (f *Fake) expel(o *object, why error) {
	for _, v := range f.visits {
		if o == nil || v.in == o {
			v.end(why)
		}
	}
}

// Echo is the program cat.
func Echo() Program {
	return func(_ context.Context, p Session) int {
		if _, err := io.Copy(p.Stdout, p.Stdin); err != nil {
			return 1
		}
		return 0
	}
}

// Ends is a program that writes both texts and ends with the code.
func Ends(code int, stdout, stderr string) Program {
	return func(_ context.Context, p Session) int {
		_, _ = io.WriteString(p.Stdout, stdout) // who does not read it does not want it
		_, _ = io.WriteString(p.Stderr, stderr)
		return code
	}
}

// Waits is a program that writes the text and then runs until its container ends.
func Waits(text string) Program {
	return func(ctx context.Context, p Session) int {
		_, _ = io.WriteString(p.Stdout, text) // as in Ends
		<-ctx.Done()
		return 0
	}
}
