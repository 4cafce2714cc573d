package cli

import (
	"context"
	"fmt"
	"strings"
)

// ResumeCmd is `podstead resume`.
type ResumeCmd struct {
	connection
	Names []string `arg:"" optional:"" name:"SOURCE" help:"Suspended sources; without any, the drained node."`
}

// Help says what it ends.
func (*ResumeCmd) Help() string {
	return `Without a name it ends what podstead drain began: the node's pods run again, as their sources want them now. With the names of sources it ends what podstead suspend began: they are looked at again, at once.`
}

// Examples are shown below the help.
func (*ResumeCmd) Examples() []Example {
	return []Example{
		{"run the pods of a drained node again", "podstead resume"},
		{"look at a suspended source again", "podstead resume file"},
	}
}

// Run resumes the node or the sources.
func (c *ResumeCmd) Run(ctx context.Context, t Terminal) error {
	client := c.client(t)
	for _, name := range c.Names {
		s, err := client.ResumeSource(ctx, bareSource(name), asker())
		if err != nil {
			return err
		}
		fmt.Fprintf(t.Out, "source/%s %s\n", s.Source, whether(s.Changed, "resumed", "was not suspended"))
	}
	if len(c.Names) > 0 {
		return nil
	}
	d, err := client.Resume(ctx, asker())
	if err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "node %s\n", whether(d.Changed, "resumed", "was not drained"))
	if d.Changed {
		return nil
	}
	sources, err := client.Sources(ctx)
	var suspended []string
	for _, s := range sources {
		if s.Suspended != nil {
			suspended = append(suspended, s.Name)
		}
	}
	if len(suspended) > 0 {
		t.Say("podstead: suspended are these sources: %s; `podstead resume SOURCE` has one looked at again", strings.Join(suspended, ", "))
	}
	return err
}
