package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/podstead/podstead/cli"
)

var update = flag.Bool("update", false, "write docs/cli.md anew")

// referencePath is the reference of all commands, made from the program's own model.
func referencePath() string { return filepath.Join("..", "..", "docs", "cli.md") }

func TestTheCommandReferenceIsWhatTheProgramSays(t *testing.T) {
	got := reference(model(t))
	if *update {
		if err := os.WriteFile(referencePath(), []byte(got), 0o644); err != nil { //nolint:gosec // it is for all to read
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(referencePath())
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is stale; write it anew: go test ./cmd/podstead -run Reference -update", referencePath())
	}
}

// model is the grammar of the command line.
func model(t *testing.T) *kong.Node {
	t.Helper()
	k, err := newParser(new(commands), cli.Terminal{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return k.Model.Node
}

// visible are the commands that people use, those with others below them left out.
func visible(root *kong.Node) []*kong.Node { return root.Leaves(true) }

// words are a command's, from podstead on.
func words(node *kong.Node) string {
	if node.Parent == nil {
		return node.Name
	}
	return words(node.Parent) + " " + node.Name
}

const referenceHead = `# Command reference

Made from the program's own help by ` + "`go test ./cmd/podstead -run Reference -update`" + `; a test fails when
it is stale, and another runs every example. ` + "`podstead COMMAND --help`" + ` shows the same.

Commands, flags and words are kubectl's wherever kubectl has the thing: flags may
also stand before the command (` + "`podstead -n data get pods`" + `), kind and name may be one
word (` + "`podstead get pod/web`" + `), and a command that podstead has not (` + "`apply`, `delete`" + `)
says what to do instead. Pods are named by their full name (` + "`web-n1`" + `) or as written in
the manifest (` + "`web`" + `). Client commands ask the agent of this machine at its socket,
which is root's: they need sudo.

| exit code | meaning |
|---|---|
| 0 | done; what was asked about is as it should be |
| 1 | something is not as it should be, or could not be done |
| 2 | it was asked for wrongly: flags, arguments, configuration |
| 3 | no agent is running here |
| 4 | ` + "`run --runonce`" + `: the engine cannot be reached |

` + "`exec` and `attach`" + ` end with the exit code of the program in the container. Tables and
status words are coloured on a terminal, unless NO_COLOR is set or ` + "`--color=never`" + ` is
given; in a pipe they are plain, and nothing tells of progress.

`

func reference(root *kong.Node) string {
	var out strings.Builder
	out.WriteString(referenceHead)
	out.WriteString("| command | |\n|---|---|\n")
	for _, node := range visible(root) {
		fmt.Fprintf(&out, "| [%s](#%s) | %s |\n", words(node), strings.ReplaceAll(words(node), " ", "-"), cell(node.Help))
	}
	for _, node := range visible(root) {
		command(&out, node)
	}
	return out.String()
}

func command(out *strings.Builder, node *kong.Node) {
	fmt.Fprintf(out, "\n## %s\n\n%s\n\n", words(node), node.Help)
	usage := words(node)
	for _, arg := range node.Positional {
		usage += " " + arg.Summary()
	}
	fmt.Fprintf(out, "```\n%s [flags]\n```\n", usage)
	if detail, _, _ := strings.Cut(node.Detail, "Examples:\n"); strings.TrimSpace(detail) != "" {
		fmt.Fprintf(out, "\n%s\n", fenced(strings.TrimSpace(detail)))
	}
	if len(node.Aliases) > 0 {
		fmt.Fprintf(out, "\nAlso: `%s`.\n", strings.Join(node.Aliases, "`, `"))
	}
	if len(node.Positional) > 0 {
		out.WriteString("\n| argument | |\n|---|---|\n")
		for _, arg := range node.Positional {
			fmt.Fprintf(out, "| `%s` | %s |\n", arg.Name, cell(arg.Help))
		}
	}
	out.WriteString("\n| flag | variable | default | |\n|---|---|---|---|\n")
	for _, f := range node.Flags {
		if !f.Hidden {
			row(out, f)
		}
	}
	if examples := cli.ExamplesOf(node); len(examples) > 0 {
		out.WriteString("\n```sh\n")
		for i, e := range examples {
			if i > 0 {
				out.WriteString("\n")
			}
			fmt.Fprintf(out, "# %s\n%s\n", e.For, e.Line)
		}
		out.WriteString("```\n")
	}
}

func row(out *strings.Builder, f *kong.Flag) {
	name := "--" + f.Name
	if f.Short != 0 {
		name = "-" + string(f.Short) + ", " + name
	}
	if !f.IsBool() && !f.IsCounter() {
		name += "=" + cmp.Or(f.PlaceHolder, strings.ToUpper(f.Name))
	}
	quoted := func(s string) string {
		if s == "" {
			return ""
		}
		return "`" + cell(s) + "`"
	}
	fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", cell(name), quoted(strings.Join(f.Envs, ", ")), quoted(f.Default), cell(f.Help))
}

// cell is a text as a table of Markdown takes it.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "|", `\|`)
}

// fenced puts the indented lines of a help text between fences, so that Markdown
// leaves them as they are.
func fenced(text string) string {
	var out []string
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		indented := strings.HasPrefix(line, "  ")
		if indented != inside && strings.TrimSpace(line) != "" {
			out = append(out, "```")
			inside = indented
		}
		out = append(out, strings.TrimPrefix(line, "  "))
	}
	if inside {
		out = append(out, "```")
	}
	return strings.Join(out, "\n")
}
