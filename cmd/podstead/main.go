// Command podstead runs Kubernetes Pod manifests on a plain Docker host, and is
// the client of the agent that does. Arguments and a root-dir come in; pods on
// the engine, views of them and an exit code go out.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(underSignals()) }

func underSignals() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return execute(ctx, terminal{out: os.Stdout, err: os.Stderr, signals: stop}, os.Args[1:])
}
