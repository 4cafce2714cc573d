package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/podstead/podstead/agent/api"
)

// SyncCmd is `podstead sync`.
type SyncCmd struct {
	connection
	AllowRemoval bool          `help:"Let the state found now through, however many pods it removes; needs a SOURCE."`
	Timeout      time.Duration `default:"2m" placeholder:"2m" help:"How long to wait for the sources."`
	Output       dataForm      `short:"o" placeholder:"json|yaml" help:"Another form."`
	Source       string        `arg:"" optional:"" name:"SOURCE" help:"Source to look at; all when none is named."`
}

// Help is shown by `podstead sync --help`.
func (SyncCmd) Help() string {
	return `Every source named looks at its place at once, also one that waits after an error. The command
returns when what was found is in force, or says why it is not. A source that holds back a state
which removes too much (RemovalHeld) lets it through with --allow-removal.`
}

// Examples are those of `podstead sync`.
func (SyncCmd) Examples() []Example {
	return []Example{
		{"look at every source now", "podstead sync"},
		{"let through what a source holds back", "podstead sync --allow-removal fleet"},
		{"for a script", "podstead sync file -o json --timeout 30s"},
	}
}

// Run makes the agent's sources look and prints what came of it.
func (c *SyncCmd) Run(ctx context.Context, t Terminal) error {
	switch {
	case c.AllowRemoval && c.Source == "":
		return &Exit{Code: ExitConfig, Err: fmt.Errorf("--allow-removal needs the name of a source; `podstead get sources` shows which holds something back")}
	case c.Timeout <= 0 || c.Timeout > time.Hour:
		return &Exit{Code: ExitConfig, Err: fmt.Errorf("--timeout must be above 0 and up to 1h, is %s", c.Timeout)}
	}
	NewProgress(t).Show(fmt.Sprintf("waiting for %s to look, at most %s", cmp.Or(c.Source, "all sources"), c.Timeout))
	results, err := c.client(t).Sync(ctx, api.SyncRequest{Source: bareSource(c.Source), AllowRemoval: c.AllowRemoval}, c.Timeout)
	if err != nil {
		return err
	}
	if c.Output != "" {
		err = Encode(t.Out, string(c.Output), results)
	} else {
		err = printSync(t.Out, results)
	}
	for _, r := range results {
		if r.Error != "" && err == nil {
			err = &Exit{Code: ExitFailed}
		}
	}
	return err
}

// printSync says for each source what is in force, or why the newest is not.
func printSync(out io.Writer, results []api.SyncResult) error {
	for _, r := range results {
		text := "in force"
		if r.Error != "" {
			text = r.Error
		} else if r.Revision != "" {
			text += " at " + ShortRevision(r.Revision)
		}
		if _, err := fmt.Fprintf(out, "%s: %s\n", r.Source, OneLine(text)); err != nil {
			return err
		}
	}
	return nil
}
