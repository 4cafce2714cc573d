package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Exit codes beside 0.
const (
	ExitFailed     = 1 // something is not as it should be
	ExitConfig     = 2 // it was asked for wrongly
	ExitNotRunning = 3 // no agent is running
	ExitNoEngine   = 4 // run-once: the engine cannot be reached
)

// Terminal is what a command reads from and writes to.
type Terminal struct {
	In  io.Reader // nil where there is nothing to read
	Out io.Writer
	Err io.Writer
	// Signals gives signals their own effect back, which is to end the process;
	// nil where nobody caught them.
	Signals func()
}

// ReleaseSignals is for commands that have nothing to end in order.
func (t Terminal) ReleaseSignals() {
	if t.Signals != nil {
		t.Signals()
	}
}

// Say writes one line beside the output.
func (t Terminal) Say(format string, args ...any) { fmt.Fprintf(t.Err, format+"\n", args...) }

// IsTerminal reports whether a person reads what is written to out.
func IsTerminal(out any) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Exit ends a command with a code; the error, if any, is told before.
type Exit struct {
	Code int
	Err  error
}

// Error is the text that is told; it may be empty.
func (e *Exit) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *Exit) Unwrap() error { return e.Err }
