package cli

import (
	"embed"
)

// completionScripts are read only.
//
//go:embed completion
var completionScripts embed.FS

// CompletionCmd is `podstead completion`.
type CompletionCmd struct {
	Shell string `arg:"" name:"SHELL" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is shown by `podstead completion --help`.
func (CompletionCmd) Help() string {
	return `Commands, flags and their values complete, and so do names of pods, containers, namespaces and
sources, while an agent runs. To have it in every shell of this machine:

  podstead completion bash > /etc/bash_completion.d/podstead
  podstead completion zsh > /usr/local/share/zsh/site-functions/_podstead
  podstead completion fish > /etc/fish/completions/podstead.fish`
}

// Examples are those of `podstead completion`.
func (CompletionCmd) Examples() []Example {
	return []Example{
		{"in this bash", `source <(podstead completion bash)`},
		{"in this zsh", `source <(podstead completion zsh)`},
		{"in this fish", `podstead completion fish | source`},
	}
}

// Run prints the shell's script.
func (c *CompletionCmd) Run(t Terminal) error {
	script, err := completionScripts.ReadFile("completion/podstead." + c.Shell)
	if err != nil {
		return err
	}
	_, err = t.Out.Write(script)
	return err
}
