package cli

import (
	"context"
	"fmt"

	"github.com/podstead/podstead/agent/api"
)

// SuspendCmd is `podstead suspend`.
type SuspendCmd struct {
	connection
	Names []string `arg:"" name:"SOURCE" help:"Sources by name."`
}

// Help says what a suspension is.
func (*SuspendCmd) Help() string {
	return `A suspended source is not looked at: not at its interval, not when a file changes, not for a push, and sync refuses it. What is in force of it stays in force, and its pods go on being run and restarted. That lasts, over restarts of the agent and changes of the source's settings, until podstead resume SOURCE, or until the source is taken out of the configuration.`
}

// Examples are shown below the help.
func (*SuspendCmd) Examples() []Example {
	return []Example{
		{"let nothing new in while you look into something", "podstead suspend file"},
		{"the same, with the name that get sources -o name prints", "podstead suspend source/file"},
	}
}

// Run suspends one source after the other.
func (c *SuspendCmd) Run(ctx context.Context, t Terminal) error {
	client := c.client(t)
	for _, name := range c.Names {
		s, err := client.Suspend(ctx, bareSource(name), asker())
		if err != nil {
			return err
		}
		fmt.Fprintf(t.Out, "source/%s %s\n", s.Source, whether(s.Changed, "suspended", "is suspended already"))
		if s.Nothing {
			t.Say("podstead: source %s has never answered: nothing of it is in force, and nothing will be before `podstead resume %s`", s.Source, s.Source)
		}
	}
	return nil
}

// whether is one word or another.
func whether(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// suspendedWords says of a source that it is not looked at; "" if it is.
func suspendedWords(s *api.Source) string {
	if s.Suspended == nil {
		return ""
	}
	text := " (not looked at"
	if !s.Suspended.Since.IsZero() {
		text += " since " + at(s.Suspended.Since)
	}
	if s.Suspended.By != "" {
		text += ", asked for by " + s.Suspended.By
	}
	return text + ")"
}
