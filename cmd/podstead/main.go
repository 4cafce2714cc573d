// Command podstead runs Kubernetes Pod manifests on a plain Docker host, and is
// the client of the agent that does. Arguments and a root-dir come in; pods on
// the engine, views of them and an exit code go out.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/podstead/podstead/cli"
)

func main() { os.Exit(underSignals()) }

func underSignals() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return execute(ctx, cli.Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Signals: stop}, os.Args[1:])
}
