package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/alecthomas/kong"

	"github.com/podstead/podstead/agent/api"
)

// cli is the command line.
type cli struct {
	Run      runCmd      `cmd:"" help:"Run the pods of the given manifests on this machine's Docker engine, and keep them running."`
	Get      getCmd      `cmd:"" help:"Show pods, sources or events of the running agent."`
	Sync     syncCmd     `cmd:"" help:"Make sources look at their places now, and say what came of it. Exit: 0 all in force, 1 not, 3 no agent is running."`
	Logs     logsCmd     `cmd:"" help:"Print the log of a container."`
	Status   statusCmd   `cmd:"" help:"Show on one screen whether all is well. Exit: 0 yes, 1 no, 3 no agent is running."`
	Validate validateCmd `cmd:"" help:"Check manifests as the agent would, without an agent or an engine."`
	Version  versionCmd  `cmd:"" help:"Print the versions of this program and of the running agent."`
}

const description = `podstead runs ordinary Kubernetes Pod manifests on a plain Docker host: no cluster, no API server.

  sudo podstead run --pod-manifest-path /etc/podstead/manifests   start the agent on a folder
  sudo podstead get pods -A                                       what runs
  sudo podstead get sources                                       what is wanted, and what is wrong with it
  sudo podstead logs -f web                                       follow a pod's log
  sudo podstead sync                                              look at every source now
  podstead validate web.yaml                                      check before you copy it there

Copy a manifest into the folder and its pod starts; edit it and the pod is replaced; delete it and the pod goes.`

// Exit codes beside 0.
const (
	exitFailed     = 1 // something is not as it should be
	exitConfig     = 2 // it was asked for wrongly
	exitNotRunning = 3 // no agent is running
	exitNoEngine   = 4 // run-once: the engine cannot be reached
)

// terminal is what a command writes to.
type terminal struct {
	out io.Writer
	err io.Writer
	// signals gives signals their own effect back, which is to end the process;
	// nil where nobody caught them.
	signals func()
}

// releaseSignals is for commands that have nothing to end in order.
func (t terminal) releaseSignals() {
	if t.signals != nil {
		t.signals()
	}
}

// say writes one line beside the output.
func (t terminal) say(format string, args ...any) { fmt.Fprintf(t.err, format+"\n", args...) }

// exit ends a command with a code; the error, if any, is told before.
type exit struct {
	code int
	err  error
}

// Error is the text that is told; it may be empty.
func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

// Unwrap returns the cause.
func (e *exit) Unwrap() error { return e.err }

// execute parses the arguments, runs the command and returns the exit code.
func execute(ctx context.Context, t terminal, args []string) int {
	var commands cli
	asked := -1
	parser, err := kong.New(&commands,
		kong.Name("podstead"), kong.Description(description), kong.UsageOnError(),
		kong.Writers(t.out, t.err), kong.Exit(func(code int) { asked = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110, NoExpandSubcommands: true}),
	)
	if err != nil {
		t.say("podstead: %v", err)
		return exitFailed
	}
	command, err := parser.Parse(args)
	if asked >= 0 { // --help has been answered
		return asked
	}
	if err != nil {
		t.say("podstead: %v; `podstead --help` lists the commands, `podstead COMMAND --help` their flags", err)
		return exitConfig
	}
	command.BindTo(ctx, (*context.Context)(nil))
	return t.conclude(ctx, command.Run(t))
}

// conclude tells the error and turns it into the exit code.
func (t terminal) conclude(ctx context.Context, err error) int {
	var ends *exit
	var bad *configError
	switch {
	case err == nil, errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return 0 // done, or the user has pressed ^C
	case errors.As(err, &ends):
		if text := ends.Error(); text != "" {
			t.say("podstead: %s", text)
		}
		return ends.code
	case errors.As(err, &bad):
		t.say("podstead: the configuration cannot be used:\n%s", bad)
		return exitConfig
	case errors.Is(err, errLocked):
		t.say("podstead: %v", err)
		return exitConfig
	case errors.Is(err, api.ErrNotRunning):
		t.say("podstead: %v", err)
		return exitNotRunning
	case errors.Is(err, fs.ErrPermission):
		t.say("podstead: %v; podstead needs root, try again with sudo", err)
		return exitFailed
	}
	t.say("podstead: %v", err)
	return exitFailed
}

// connection says which agent a client command talks to.
type connection struct {
	RootDir string `name:"root-dir" env:"PODSTEAD_ROOT_DIR" placeholder:"DIR" help:"The agent's root-dir, when it is not /var/lib/podstead."`
	Socket  string `name:"socket" env:"PODSTEAD_SOCKET" placeholder:"PATH" help:"The agent's socket, when it is not where its root-dir says."`
}

// client returns a client whose warnings go to the terminal.
func (c connection) client(t terminal) *api.Client {
	client := api.NewClient(absolute(socketPath(absolute(c.RootDir), c.Socket)))
	client.Warn = func(text string) { t.say("Warning: %s", text) }
	return client
}

// namespaced selects a namespace as kubectl does.
type namespaced struct {
	Namespace     string `short:"n" default:"default" placeholder:"NAMESPACE" help:"Namespace to look in."`
	AllNamespaces bool   `short:"A" help:"Look in all namespaces."`
}

// scope is the namespace to look in; "" for all.
func (n namespaced) scope() string {
	if n.AllNamespaces {
		return ""
	}
	return n.Namespace
}

// listing is how a list is shown.
type listing struct {
	Output form `short:"o" placeholder:"wide|json|yaml|name" help:"More columns, or another form."`
	Watch  bool `short:"w" help:"Go on and show each change."`
}
