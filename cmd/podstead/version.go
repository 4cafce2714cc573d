package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"runtime/debug"

	"github.com/podstead/podstead/agent/api"
)

// version is set when a release is linked: -X main.version=…
var version string

// thisVersion is what this program was built from.
func thisVersion() api.Version {
	v := api.Version{Version: version, GoVersion: goruntime.Version(), Platform: goruntime.GOOS + "/" + goruntime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = cmp.Or(v.Version, info.Main.Version, "unknown")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	for _, m := range info.Deps {
		if m.Path == "k8s.io/kubernetes" {
			v.Kubernetes = m.Version
		}
	}
	return v
}

type versionCmd struct {
	connection
	Output dataForm `short:"o" placeholder:"json|yaml" help:"Another form."`
	Client bool     `help:"This program only; do not ask the agent."`
}

// Run prints both versions. That no agent runs is not an error here.
func (c *versionCmd) Run(ctx context.Context, t terminal) error {
	both := struct {
		Client api.Version  `json:"client"`
		Agent  *api.Version `json:"agent,omitempty"`
	}{Client: thisVersion()}
	if !c.Client {
		running, err := c.client(t).Version(ctx)
		switch {
		case err == nil:
			both.Agent = &running
		case !errors.Is(err, api.ErrNotRunning):
			t.say("Warning: %v", err)
		}
	}
	if c.Output != "" {
		return encode(t.out, string(c.Output), both)
	}
	fmt.Fprintln(t.out, "podstead", describeVersion(both.Client))
	if both.Agent != nil {
		fmt.Fprintln(t.out, "agent    ", describeVersion(*both.Agent))
	}
	return nil
}

func describeVersion(v api.Version) string {
	return fmt.Sprintf("%s (Kubernetes %s, %s, %s)", v.Version, cmp.Or(v.Kubernetes, "unknown"), v.GoVersion, v.Platform)
}
