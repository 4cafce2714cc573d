package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/config"
)

// ConfigCmd is `podstead config`.
type ConfigCmd struct {
	Show   configShowCmd   `cmd:"" help:"Show each setting with its value and who set it."`
	Check  configCheckCmd  `cmd:"" help:"Tell every fault and warning of configuration files. Exit: 0 none is at fault, 1 one is."`
	Schema configSchemaCmd `cmd:"" help:"Print the JSON schema of podstead's own configuration document."`
}

// configShowCmd is `podstead config show`.
type configShowCmd struct {
	config.Flags
	Local  bool     `help:"Show what an agent that is started with these flags, and the variables set here, would have; ask none."`
	Output dataForm `short:"o" placeholder:"json|yaml" help:"Another form."`
}

// Help is shown by `podstead config show --help`.
func (configShowCmd) Help() string {
	return `Without flags it is what is in force in the running agent, after every change of the file. With
--local, or with any flag of ` + "`podstead run`" + `, it is what an agent would have that is started with them,
whether one runs or not. Precedence: flag, variable, file, default. Secrets are hidden.`
}

// Examples are those of `podstead config show`.
func (configShowCmd) Examples() []Example {
	return []Example{
		{"what is in force, and who set it", "podstead config show"},
		{"what these flags would make of it", "podstead config show --local --max-pods 20"},
		{"for a program", "podstead config show -o json"},
	}
}

// Run prints the settings of the agent, or of the flags.
func (c *configShowCmd) Run(ctx context.Context, t Terminal, try config.Try) error {
	settings, err := c.settings(ctx, t, try)
	if err != nil {
		return err
	}
	if c.Output != "" {
		return Encode(t.Out, string(c.Output), api.NewSettingList(settings))
	}
	return printSettings(t.Out, settings)
}

func (c *configShowCmd) settings(ctx context.Context, t Terminal, try config.Try) ([]api.Setting, error) {
	if !c.local() {
		settings, err := connection{RootDir: c.RootDir, Socket: c.Socket}.client(t).Settings(ctx)
		if err != nil {
			return nil, fmt.Errorf("%w; --local shows what an agent started here would have", err)
		}
		return settings, nil
	}
	loaded, warnings, err := config.Loader{Flags: c.Flags, Etc: config.DefaultEtcDir, Try: try}.Load()
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		t.Say("Warning: %s", w)
	}
	return SettingsOf(loaded), nil
}

// local reports whether the question is about flags: those that only say which
// agent is meant do not make it so.
func (c *configShowCmd) local() bool {
	for name := range c.OnLine {
		switch name {
		case "root-dir", "socket", "output", "local", "help":
		default:
			return true
		}
	}
	return c.Local || len(c.Kubelet) > 0
}

// SettingsOf are the settings of a configuration as the local API has them.
func SettingsOf(c config.Config) []api.Setting {
	var all []api.Setting
	for _, s := range c.Settings() {
		all = append(all, api.Setting{Name: s.Name, Field: s.Field, Value: s.Value, Origin: s.Origin.From, Place: s.Origin.Place})
	}
	return all
}

func printSettings(out io.Writer, settings []api.Setting) error {
	tabs := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(tabs, "SETTING\tVALUE\tORIGIN")
	for _, s := range settings {
		value, origin := OneLine(s.Value), s.Place
		if value == "" {
			value = "<none>"
		}
		switch s.Origin {
		case config.FromDefault:
			origin = s.Origin
		case config.FromEnvironment:
			origin = "$" + s.Place
		}
		fmt.Fprintf(tabs, "%s\t%s\t%s\n", s.Name, value, origin)
	}
	return tabs.Flush()
}

// configCheckCmd is `podstead config check`.
type configCheckCmd struct {
	Files []string `arg:"" name:"FILE" type:"path" help:"Files as --config takes them: a KubeletConfiguration, a Configuration, or both."`
}

// Examples are those of `podstead config check`.
func (configCheckCmd) Examples() []Example {
	return []Example{{"before it is put into force", "podstead config check config.yaml"}}
}

// Run tells what a start with each file would tell.
func (c *configCheckCmd) Run(t Terminal, try config.Try) error {
	wrong, odd := 0, 0
	for _, path := range c.Files {
		faults, warnings := config.CheckFile(path, nil, try)
		for _, fault := range faults {
			fmt.Fprintln(t.Out, OneLine(fault))
		}
		for _, w := range warnings {
			fmt.Fprintln(t.Out, "warning: "+OneLine(w))
		}
		wrong, odd = wrong+len(faults), odd+len(warnings)
	}
	fmt.Fprintf(t.Out, "%s: %s, %s\n", Count(len(c.Files), "file"), Count(wrong, "fault"), Count(odd, "warning"))
	if wrong > 0 {
		return &Exit{Code: ExitFailed}
	}
	return nil
}

// configSchemaCmd is `podstead config schema`.
type configSchemaCmd struct{}

// Examples are those of `podstead config schema`.
func (configSchemaCmd) Examples() []Example {
	return []Example{{"for an editor", "podstead config schema"}}
}

// Run prints the schema.
func (configSchemaCmd) Run(t Terminal) error {
	_, err := t.Out.Write(config.Schema())
	return err
}
