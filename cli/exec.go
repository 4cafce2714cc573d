package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/runtime"
)

// ExecCmd is `podstead exec`.
type ExecCmd struct {
	connection
	visiting
	Pod     string   `arg:"" name:"POD" help:"Pod, by its full name (web-n1) or as written in the manifest (web)."`
	Command []string `arg:"" optional:"" passthrough:"" name:"COMMAND" help:"Command and its arguments, after --, which may be left out."`
}

// Help says what the exit code is, and what becomes of the command.
func (*ExecCmd) Help() string {
	return `The exit code is the command's: 128 and the signal's number when a signal ended it, 126 or 127, whichever the engine says, when it could not be run (Docker 20.10 says 126 for a program that is not there, too); 1 and 3 also when the agent cannot be asked or has no answer. A client that goes away, and an agent that ends, do not end the command, as with kubectl. With -it every key goes to the command, ^C too.`
}

// Examples are shown below the help.
func (*ExecCmd) Examples() []Example {
	return []Example{
		{"one command in the pod's default container", "podstead exec web -- date"},
		{"a shell in a certain container", "podstead exec -it web -c side -- sh"},
		{"a file from here to there", "podstead exec -i web -- sh -c 'cat >/tmp/web.conf' <web.conf"},
	}
}

// Run ends with the command's exit code.
func (c *ExecCmd) Run(ctx context.Context, t Terminal) error {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		c.Command = c.Command[1:] // what follows the pod is taken as it is
	}
	if len(c.Command) == 0 {
		return &Exit{Code: ExitConfig, Err: fmt.Errorf("no command is given; write it after --, as in `podstead exec %s -- date`", c.Pod)}
	}
	client := c.client(t)
	pod, container, err := c.find(ctx, t, client, c.Pod)
	if err != nil {
		return err
	}
	if err := running(pod, container, "run a command"); err != nil {
		return err
	}
	req := api.ExecRequest{Target: targetOf(pod, container), Command: c.Command}
	err = c.serve(ctx, t, func(ctx context.Context, s runtime.Streams) error { return client.Exec(ctx, req, s) })
	return c.conclude(t, pod, container, err)
}

// conclude makes the command's exit code ours, and says what to do when it could not
// be run.
func (c *ExecCmd) conclude(t Terminal, pod *v1.Pod, container string, err error) error {
	var exit *runtime.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if hint := refusalHint(pod, container, c.Command[0], exit.Refused); hint != "" && !c.Quiet {
		t.Say("%s", hint)
	}
	ends := &Exit{Code: exit.Code}
	if !c.Quiet {
		ends.Err = fmt.Errorf("command terminated with exit code %d", exit.Code)
	}
	return ends
}

// refusalHint says what the engine's words mean; "" when they speak for themselves.
func refusalHint(pod *v1.Pod, container, program, words string) string {
	where := fmt.Sprintf("container %q of pod %s", container, pod.Name)
	switch {
	case strings.Contains(words, "executable file not found"), strings.Contains(words, "no such file or directory"):
		return fmt.Sprintf("There is no %q in %s, which has what its image %s has. Images made FROM scratch, and distroless ones, have no shell and no tools: name a program that is in the image, or use `podstead logs %s -c %s` and `podstead cp`.",
			program, where, specOf(pod, container).Image, WrittenName(pod), container)
	case strings.Contains(words, "permission denied"):
		return fmt.Sprintf("%q in %s is no program, or its user may not run it.", program, where)
	}
	return ""
}
