package docker

import (
	"bytes"
	"io"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
)

// refusalWords is how the engine's text begins that stands in place of the output
// of a command which could not be run.
var refusalWords = []byte("OCI runtime exec failed: ")

// withheld passes a command's output on, but keeps what may be the engine's words
// instead of it until more output, or the end, shows what they are: the output of
// a command that never ran is nothing, whatever it is piped into.
type withheld struct {
	to    io.Writer
	begun bool
	held  []byte
}

// Write is the output's.
func (r *withheld) Write(p []byte) (int, error) {
	if !r.begun && len(p) <= maxRefusal && bytes.HasPrefix(p, refusalWords) {
		r.begun, r.held = true, bytes.Clone(p)
		return len(p), nil
	}
	r.begun = true
	if err := r.release(); err != nil {
		return 0, err
	}
	return r.to.Write(p)
}

func (r *withheld) release() error {
	if len(r.held) == 0 {
		return nil
	}
	_, err := r.to.Write(r.held)
	r.held = nil
	return err
}

// conclude turns the end of a command into its error.
func (r *withheld) conclude(end container.ExecInspect, s runtime.Streams) error {
	refused := end.Pid == 0 && end.ExitCode != 0
	why := strings.TrimSpace(string(r.held))
	if refused && !s.TTY && s.Stderr != nil {
		r.to = s.Stderr
	}
	if err := r.release(); err != nil {
		return err
	}
	switch {
	case end.ExitCode == 0:
		return nil
	case !refused:
		return &runtime.ExitError{Code: end.ExitCode}
	case why == "":
		why = "the engine could not run it"
	}
	return &runtime.ExitError{Code: end.ExitCode, Refused: why}
}
