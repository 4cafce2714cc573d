package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"k8s.io/kubernetes/pkg/capabilities"

	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/config"
	"github.com/podstead/podstead/runtime/docker"
)

// runCmd is `podstead run`.
type runCmd struct {
	config.Flags
	Output string `name:"output" short:"o" placeholder:"json" help:"Report of --runonce as JSON."`
}

// Help is shown by `podstead run --help`.
func (runCmd) Help() string {
	return `Every flag has an environment variable. Precedence: flag, variable, configuration file, default.
The configuration file holds a kubelet's KubeletConfiguration, a Configuration of
podstead/v1alpha1 with any number of named sources and a webhook, or both, parted by ---:
docs/configuration.md says of every field what it does. Fields and flags of a kubelet that
have no effect here are named in the log. When the file changes, or at SIGHUP, it
is read again: sources come and go without touching the pods of others.

Stopping the agent leaves the pods running; starting it again adopts them.`
}

// Examples are those of `podstead run`.
func (runCmd) Examples() []cli.Example {
	return []cli.Example{
		{For: "the pods of a folder", Line: "podstead run --pod-manifest-path /etc/podstead/manifests"},
		{
			For:  "this node's folder of a repository",
			Line: "podstead run --git-url https://git.example/org/fleet.git --git-path 'nodes/$(NODE_NAME)' --git-username bot --git-password-file /etc/podstead/git-token",
		},
		{For: "everything that a file says", Line: "podstead run --config /etc/podstead/config.yaml"},
		{For: "until all is ready, then end", Line: "podstead run --runonce --pod-manifest-path ./manifests -o json"},
	}
}

// Run runs the agent until the terminal's context ends.
func (c *runCmd) Run(ctx context.Context, t cli.Terminal) error {
	c.Flags.Output = c.Output
	loader := config.Loader{Flags: c.Flags, Etc: config.DefaultEtcDir, Try: trySources}
	cfg, warnings, err := loader.Load()
	if err != nil {
		return err
	}
	logger := newLogger(t.Err, cfg.LogLevel, cfg.LogFormat)
	bridgeKlog(logger)
	for _, w := range warnings {
		logger.Warn("configuration", "err", w)
	}
	allowPrivileged()
	leanHeap()
	machine, err := thisHost()
	if err != nil {
		return err
	}
	hangup := make(chan os.Signal, 1)
	out := surroundings{logger: logger, host: machine, runDir: config.DefaultRunDir, newEngine: newDocker}
	if cfg.Once {
		return runOnce(ctx, t, cfg, out)
	}
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	out.hangup, out.reload = hangup, &rereading{loader: loader}
	return run(ctx, cfg, out, nil)
}

func newDocker(cfg docker.Config) (engine, error) { return docker.New(cfg) }

// allowPrivileged lets Kubernetes' validation accept privileged containers, as
// the kubelet does. The setting is the process's and freezes at its first use.
func allowPrivileged() {
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
}

// leanHeap trades a little processor time for memory: an agent that mostly
// sleeps has no use for a heap grown to twice its need. GOGC overrides it.
func leanHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}
