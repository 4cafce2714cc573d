package runtime

import (
	"fmt"
	"io"
)

// Streams are the ends of what a process in a container reads and writes. Nil is
// none: what the process writes there is dropped, and it has nothing to read.
type Streams struct {
	// Stdin is closed by whoever serves the streams, at the latest when the process
	// no longer reads. That must end a Read that is under way.
	Stdin  io.ReadCloser
	Stdout io.Writer
	Stderr io.Writer // with TTY nil: a terminal has one output
	TTY    bool
	// Sizes are those of the terminal, the newest last. May be nil or closed.
	Sizes <-chan TerminalSize
}

// CloseStdin ends what reads Stdin, if there is any.
func (s Streams) CloseStdin() {
	if s.Stdin != nil {
		_ = s.Stdin.Close() // nothing more is read of it
	}
}

// TerminalSize is counted in characters.
type TerminalSize struct {
	Width  uint16
	Height uint16
}

// ExitError is the end of a command with another code than 0.
type ExitError struct {
	Code int // 128 and a signal's number when that ended it
	// Refused is why the engine could not run the command at all, in its own words
	// (no such executable, no permission); empty when it ran.
	Refused string
}

// Error is worded as kubectl does.
func (e *ExitError) Error() string {
	if e.Refused != "" {
		return fmt.Sprintf("command terminated with exit code %d: %s", e.Code, e.Refused)
	}
	return fmt.Sprintf("command terminated with exit code %d", e.Code)
}
