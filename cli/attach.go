package cli

import (
	"context"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// AttachCmd is `podstead attach`.
type AttachCmd struct {
	connection
	visiting
	Pod string `arg:"" name:"POD" help:"Pod, by its full name (web-n1) or as written in the manifest (web)."`
}

// Help says when it ends.
func (*AttachCmd) Help() string {
	return `Shows what the container's process writes from now on, until the container ends or you press ^C, which leaves the container as it is. What was written before is shown by ` + "`podstead logs`" + `.`
}

// Examples are shown below the help.
func (*AttachCmd) Examples() []Example {
	return []Example{
		{"what the pod's default container writes", "podstead attach web"},
		{"a certain container, and nothing else on the screen", "podstead attach web -c side -q"},
	}
}

// Run ends with the container.
func (c *AttachCmd) Run(ctx context.Context, t Terminal) error {
	client := c.client(t)
	pod, container, err := c.find(ctx, t, client, c.Pod)
	if err != nil {
		return err
	}
	if err := running(pod, container, "attach"); err != nil {
		return err
	}
	c.fit(t, specOf(pod, container))
	if !c.Quiet {
		t.Say("If you don't see a command prompt, try pressing enter.")
	}
	return c.serve(ctx, t, func(ctx context.Context, s runtime.Streams) error {
		return client.Attach(ctx, targetOf(pod, container), s)
	})
}

// fit asks for no more than the container's definition gives, and tells.
func (c *AttachCmd) fit(t Terminal, spec v1.Container) {
	if c.TTY && !spec.TTY {
		c.TTY = false
		if !c.Quiet {
			t.Say("Unable to use a TTY - container %s did not allocate one", spec.Name)
		}
	}
	if spec.TTY {
		c.TTY = true // its output is a terminal's, whether ours is one or not
	}
	if c.Stdin && !spec.Stdin {
		c.Stdin = false
		if !c.Quiet {
			t.Say("Unable to pass standard input - container %s does not read any (its manifest has no stdin: true)", spec.Name)
		}
	}
}
