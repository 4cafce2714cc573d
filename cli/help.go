package cli

import (
	"strings"

	"github.com/alecthomas/kong"
)

// ExamplesOf are those of a command; none for one that only has others below it.
func ExamplesOf(node *kong.Node) []Example {
	if !node.Target.IsValid() || !node.Target.CanAddr() {
		return nil
	}
	command, ok := node.Target.Addr().Interface().(Exampled)
	if !ok {
		return nil
	}
	return command.Examples()
}

// ShowExamples puts its examples below the help of every command. It is for
// kong.PostBuild.
func ShowExamples(k *kong.Kong) error {
	for _, node := range k.Model.Leaves(false) {
		examples := ExamplesOf(node)
		if len(examples) == 0 {
			continue
		}
		text := "Examples:\n"
		for _, e := range examples {
			text += "\n  # " + e.For + "\n  " + e.Line + "\n"
		}
		node.Detail = strings.TrimLeft(strings.TrimRight(node.Detail, "\n")+"\n\n"+text, "\n")
	}
	return nil
}
