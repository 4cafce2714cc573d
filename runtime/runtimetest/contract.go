package runtimetest

import (
	"context"
	"io"
	"testing"

	"github.com/podstead/podstead/runtime"
)

// Runtime is what the contract is about.
type Runtime interface {
	Verbs
	Run(ctx context.Context, out chan<- runtime.Event) error
}

// Verbs are those that an engine's pods need.
type Verbs interface {
	Insides
	Pod(ctx context.Context, uid string) (runtime.Pod, error)
	CreateSandbox(ctx context.Context, cfg runtime.SandboxConfig) (id string, notes []runtime.Degraded, err error)
	StartSandbox(ctx context.Context, id string) (runtime.StartedSandbox, error)
	CreateContainer(ctx context.Context, cfg runtime.ContainerConfig) (id string, notes []runtime.Degraded, err error)
	StartContainer(ctx context.Context, id string) error
	Signal(ctx context.Context, id, signal string) error
	Remove(ctx context.Context, id string) error
	Exec(ctx context.Context, id string, command []string, s runtime.Streams) error
	Attach(ctx context.Context, id string, s runtime.Streams) error
	Logs(ctx context.Context, id string, opts runtime.LogOptions, stdout, stderr io.Writer) error
}

// Contract checks what every engine behind the agent must do. Each case gets a
// runtime from newRuntime and a pod of its own, whose containers it removes.
func Contract(t *testing.T, newRuntime func(t *testing.T) Runtime, env Env) {
	cases := []struct {
		name string
		run  func(b *bench)
	}{
		{"a verb done twice is done once", (*bench).verbsTwice},
		{"what is gone is a success to stop and remove", (*bench).goneIsSuccess},
		{"a created container is created until it is started", (*bench).createdNeverStarted},
		{"an end tells its exit code", (*bench).exitCodes},
		{"a command that cannot run ends the attempt", (*bench).cannotRun},
		{"the stop signal is delivered and KILL ends who ignores it", (*bench).signals},
		{"a container does not start without its sandbox", (*bench).sandboxGone},
		{"a container needs its image", (*bench).imageMissing},
		{"a host port is had once", (*bench).portConflict},
		{"the newest instance comes first", (*bench).newestFirst},
		{"a host network sandbox has no address", (*bench).hostNetwork},
		{"a log tells its lines", (*bench).logs},
		{"an end is told by an event", (*bench).events},
		{"files go in and come out", (*bench).files},
		{"usage is of what runs", (*bench).usage},
		{"a port refuses that nobody listens on", (*bench).ports},
		{"a command tells its output and exit code", (*bench).execEnds},
		{"a command reads what it is given, and its end", (*bench).execReads},
		{"a command that is not there is refused", (*bench).execRefused},
		{"a command needs a running container and ends with it", (*bench).execEndsWithItsContainer},
		{"a command is left when its caller leaves", (*bench).execLeft},
		{"who attaches sees what is written from then on", (*bench).attachSees},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			run := func(t *testing.T) { c.run(newBench(t, newRuntime(t), env)) }
			if env.Bubble != nil {
				env.Bubble(t, run)
				return
			}
			run(t)
		})
	}
}
