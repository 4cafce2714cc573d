package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/client"
	"github.com/podstead/podstead/runtime"
)

// Refusals that this package deals with itself.
var (
	errMountGone   = errors.New("a mount's source is gone")
	errNameTaken   = errors.New("name is in use")
	errNetworkGone = errors.New("network does not exist")
	errOOMScore    = errors.New("oom score refused")
	errRemoving    = errors.New("removal is in progress")
	errStale       = errors.New("container runtime has a task of an earlier start")
	errOverlap     = errors.New("subnet overlaps another")
)

// engineError is an engine's refusal: the engine's own words, and what they
// mean.
type engineError struct {
	kind error
	err  error
}

func (e engineError) Error() string {
	return strings.TrimPrefix(e.err.Error(), "Error response from daemon: ")
}

func (e engineError) Unwrap() []error {
	if e.kind == nil {
		return []error{e.err}
	}
	return []error{e.kind, e.err}
}

// classify gives an error of a call its meaning. A caller that went away gets
// its own context's error; a limit that ran out means that the engine did not
// answer.
func (e *engine) classify(ctx context.Context, c call, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("%s: %w", c.name, context.Canceled)
	case errors.Is(err, context.DeadlineExceeded):
		return engineError{runtime.ErrUnavailable, fmt.Errorf("engine at %s gave no answer in time: %w", e.endpoint, err)}
	case client.IsErrConnectionFailed(err), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), cerrdefs.IsUnavailable(err):
		return engineError{runtime.ErrUnavailable, e.explain(err)}
	}
	return engineError{meaning(c, err), err}
}

// explain names the commonest reason why nobody answers on a socket that is
// there: a container runtime, asked to mount a missing socket, made a
// directory of it.
func (e *engine) explain(err error) error {
	path, local := strings.CutPrefix(e.endpoint, "unix://")
	if !local {
		return err
	}
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory, not the engine's socket: %w", path, err)
	}
	return err
}

// phrases are what engines from 20.10 on say, in lower case, and what it
// means. The first that fits counts.
func phrases() []struct {
	text string
	kind error
} {
	return []struct {
		text string
		kind error
	}{
		{"oom_score_adj", errOOMScore},
		{"oom score", errOOMScore},
		{"no space left on device", runtime.ErrNoSpace},
		{"port is already allocated", runtime.ErrPortInUse},
		{"address already in use", runtime.ErrPortInUse},
		{"cannot assign requested address", runtime.ErrPortInUse},
		{"failed to bind host port", runtime.ErrPortInUse},
		{"exchange full", runtime.ErrNetworkFull},
		{"no available ipv4 addresses", runtime.ErrNetworkFull},
		{"non running container", runtime.ErrSandboxGone},
		{"non-running container", runtime.ErrSandboxGone},
		{"failed to join ipc namespace", runtime.ErrSandboxGone},
		{"failed to join pid namespace", runtime.ErrSandboxGone},
		{"namespace path: lstat /proc/", runtime.ErrSandboxGone},
		{"bind source path does not exist", errMountGone},
		{"is already in use by container", errNameTaken},
		{"network with name ", errNameTaken},
		{"already in progress", errRemoving},
		{"pool overlaps", errOverlap},
		{"networks have overlapping", errOverlap},
		{"containerd.sock", runtime.ErrUnavailable},
		{"ttrpc: closed", runtime.ErrUnavailable},
		{"transport is closing", runtime.ErrUnavailable},
		{"shutting down", runtime.ErrUnavailable},
		{"is too new. maximum supported api version", runtime.ErrUnavailable},
		{"no such image", runtime.ErrNotFound},
	}
}

// meaning finds the sentinel of a refusal, nil when it has none.
func meaning(c call, err error) error {
	text := strings.ToLower(err.Error())
	for _, p := range phrases() {
		if strings.Contains(text, p.text) {
			return p.kind
		}
	}
	switch {
	case c.joins && strings.Contains(text, "is not running"), c.joins && namesAnother(c, text):
		return runtime.ErrSandboxGone
	case strings.Contains(text, "is not running"):
		return runtime.ErrNotRunning
	case c.joins && strings.Contains(text, "network") && strings.Contains(text, "not found"):
		return errNetworkGone
	case cerrdefs.IsNotFound(err):
		return runtime.ErrNotFound
	case c.name == "container_start":
		return startMeaning(err, text)
	}
	return nil
}

// namesAnother reports whether the container that is not there is another than
// the call's own: the one to join.
func namesAnother(c call, text string) bool {
	return strings.Contains(text, "no such container") && (c.id == "" || !strings.Contains(text, c.id))
}

// startMeaning tells a process that cannot be run from an engine in trouble.
// The runtime's refusals come as 400 (no such command) or as 500 with the
// name of the layer that failed.
func startMeaning(err error, text string) error {
	switch {
	case cerrdefs.IsInvalidArgument(err):
		return runtime.ErrCannotRun
	case strings.Contains(text, "task ") && strings.Contains(text, "already exists"), strings.Contains(text, "id already in use"):
		return errStale
	}
	for _, layer := range []string{
		"oci runtime", "failed to create task", "failed to create shim", "failed to start shim",
		"executable file not found", "no such file or directory", "permission denied", "not a directory",
	} {
		if strings.Contains(text, layer) {
			return runtime.ErrCannotRun
		}
	}
	return nil
}
