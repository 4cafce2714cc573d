package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/podstead/podstead/agent/api"
)

// VersionCmd is `podstead version`.
type VersionCmd struct {
	connection
	Output dataForm `short:"o" placeholder:"json|yaml" help:"Another form."`
	Client bool     `help:"This program only; do not ask the agent."`
}

// Examples are those of `podstead version`.
func (VersionCmd) Examples() []Example {
	return []Example{
		{"this program and the agent that runs", "podstead version"},
		{"this program alone, for a script", "podstead version --client -o json"},
	}
}

// Run prints the versions of this program and of the agent. That no agent runs is
// not an error here.
func (c *VersionCmd) Run(ctx context.Context, t Terminal, this api.Version) error {
	both := struct {
		Client api.Version  `json:"client"`
		Agent  *api.Version `json:"agent,omitempty"`
	}{Client: this}
	if !c.Client {
		running, err := c.client(t).Version(ctx)
		switch {
		case err == nil:
			both.Agent = &running
		case !errors.Is(err, api.ErrNotRunning):
			t.Say("Warning: %v", err)
		}
	}
	if c.Output != "" {
		return Encode(t.Out, string(c.Output), both)
	}
	fmt.Fprintln(t.Out, "podstead", describeVersion(both.Client))
	if both.Agent != nil {
		fmt.Fprintln(t.Out, "agent    ", describeVersion(*both.Agent))
	}
	return nil
}

func describeVersion(v api.Version) string {
	return fmt.Sprintf("%s (Kubernetes %s, %s, %s)", v.Version, cmp.Or(v.Kubernetes, "unknown"), v.GoVersion, v.Platform)
}
