package main

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/config"
)

// commands is the command line.
type commands struct {
	Run         runCmd             `cmd:"" help:"Run the pods of the given manifests on this machine's Docker engine, and keep them running."`
	Get         cli.GetCmd         `cmd:"" help:"Show pods, sources or events of the running agent."`
	Describe    cli.DescribeCmd    `cmd:"" help:"Show all that is known of pods, sources or this node, and why it is so."`
	Sync        cli.SyncCmd        `cmd:"" help:"Make sources look at their places now, and say what came of it. Exit: 0 all in force, 1 not, 3 no agent is running."`
	Logs        cli.LogsCmd        `cmd:"" help:"Print the log of a container."`
	Top         cli.TopCmd         `cmd:"" help:"Show what pods use of CPU and memory."`
	Exec        cli.ExecCmd        `cmd:"" help:"Run a command in a container. The exit code is the command's."`
	Attach      cli.AttachCmd      `cmd:"" help:"Show what a container writes from now on, and let it read what you type."`
	PortForward cli.PortForwardCmd `cmd:"" help:"Carry connections from local ports to ports of a pod."`
	Cp          cli.CopyCmd        `cmd:"" help:"Copy files and folders to and from containers."`
	Wait        cli.WaitCmd        `cmd:"" help:"Wait until pods or sources are as asked. Exit: 0 they are, 1 not in time or never, with the reason, 3 no agent is running."`
	Restart     cli.RestartCmd     `cmd:"" help:"Give every container of pods a new instance."`
	Suspend     cli.SuspendCmd     `cmd:"" help:"Look at sources no more until they are resumed; what is in force of them stays."`
	Drain       cli.DrainCmd       `cmd:"" help:"End every pod and start none until the node is resumed, over restarts and reboots."`
	Resume      cli.ResumeCmd      `cmd:"" help:"Run the pods of a drained node again, or look at suspended sources again."`
	Status      cli.StatusCmd      `cmd:"" help:"Show on one screen whether all is well. Exit: 0 yes, 1 no, 3 no agent is running."`
	Validate    validateCmd        `cmd:"" help:"Check manifests as the agent would, without an agent or an engine."`
	Config      cli.ConfigCmd      `cmd:"" help:"Show the configuration and who set it, check files of it, print its schema."`
	Version     cli.VersionCmd     `cmd:"" help:"Print the versions of this program and of the running agent."`
	Completion  cli.CompletionCmd  `cmd:"" help:"Print the completion script of a shell."`
	Complete    cli.CompleteCmd    `cmd:"" name:"__complete" hidden:"" passthrough:""`
}

const description = `podstead runs ordinary Kubernetes Pod manifests on a plain Docker host: no cluster, no API server.

  sudo podstead run --pod-manifest-path /etc/podstead/manifests   start the agent on a folder
  sudo podstead get pods -A                                       what runs
  sudo podstead get sources                                       what is wanted, and what is wrong with it
  sudo podstead logs -f web                                       follow a pod's log
  sudo podstead exec -it web -- sh                                a shell in a pod
  sudo podstead sync                                              look at every source now
  podstead validate web.yaml                                      check before you copy it there

Copy a manifest into the folder and its pod starts; edit it and the pod is replaced; delete it and the pod goes.`

// newParser makes the parser of a command line; exit is called with the code when
// --help has been answered.
func newParser(into *commands, t cli.Terminal, exit func(code int)) (*kong.Kong, error) {
	return kong.New(into,
		kong.Name("podstead"), kong.Description(description),
		kong.Writers(t.Out, t.Err), kong.Exit(exit), kong.PostBuild(cli.ShowExamples),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110, NoExpandSubcommands: true}),
	)
}

// execute parses the arguments, runs the command and returns the exit code.
func execute(ctx context.Context, t cli.Terminal, args []string) int {
	var all commands
	asked := -1
	parser, err := newParser(&all, t, func(code int) { asked = code })
	if err != nil {
		t.Say("podstead: %v", err)
		return cli.ExitFailed
	}
	switch { // a kubelet's command line moves over
	case len(args) > 0 && args[0] == "run":
		args, all.Run.Kubelet = config.TakeKubeletFlags(args)
	case len(args) > 1 && args[0] == "config" && args[1] == "show":
		args, all.Config.Show.Kubelet = config.TakeKubeletFlags(args)
	}
	args = cli.Arrange(parser.Model.Node, args)
	command, err := parser.Parse(args)
	if asked >= 0 { // --help has been answered
		return asked
	}
	if err != nil {
		if instead := cli.Instead(ctx, parser.Model.Node, args); instead != "" {
			t.Say("podstead: %s", instead)
			return cli.ExitConfig
		}
		t.Say("podstead: %v; `%s --help` shows what there is", err, understood(err))
		return cli.ExitConfig
	}
	command.BindTo(ctx, (*context.Context)(nil))
	command.Bind(thisVersion(), config.Try(trySources))
	return conclude(ctx, t, command.Run(t))
}

// understood is the part of the command line that was.
func understood(err error) string {
	words := []string{"podstead"}
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		for _, step := range parse.Context.Path {
			if step.Command != nil {
				words = append(words, step.Command.Name)
			}
		}
	}
	return strings.Join(words, " ")
}

// conclude tells the error and turns it into the exit code.
func conclude(ctx context.Context, t cli.Terminal, err error) int {
	var ends *cli.Exit
	var bad *config.Error
	switch {
	case err == nil, errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return 0 // done, or the user has pressed ^C
	case errors.As(err, &ends):
		if text := ends.Error(); text != "" {
			t.Say("podstead: %s", text)
		}
		return ends.Code
	case errors.As(err, &bad):
		t.Say("podstead: the configuration cannot be used:\n%s", bad)
		return cli.ExitConfig
	case errors.Is(err, errLocked):
		t.Say("podstead: %v", err)
		return cli.ExitConfig
	case errors.Is(err, api.ErrNotRunning):
		t.Say("podstead: %v", err)
		return cli.ExitNotRunning
	case errors.Is(err, fs.ErrPermission):
		t.Say("podstead: %v; podstead needs root, try again with sudo", err)
		return cli.ExitFailed
	}
	t.Say("podstead: %v", err)
	return cli.ExitFailed
}
