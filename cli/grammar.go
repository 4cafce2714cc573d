package cli

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// child is the command of that name or alias below a node; nil for none.
func child(node *kong.Node, word string) *kong.Node {
	for _, byAlias := range []bool{false, true} {
		for _, c := range node.Children {
			if !byAlias && c.Name == word || byAlias && slices.Contains(c.Aliases, word) {
				return c
			}
		}
	}
	return nil
}

// flagNamed is the flag that a word such as --output or -o names, among those of
// the node, of what is above it, and with below of all commands below it; nil for
// none.
func flagNamed(node *kong.Node, word string, below bool) *kong.Flag {
	for n := node; n != nil; n = n.Parent {
		if f := ownFlag(n, word); f != nil {
			return f
		}
	}
	if !below {
		return nil
	}
	for _, c := range node.Children {
		if f := ownFlag(c, word); f != nil {
			return f
		}
		if f := flagNamed(c, word, true); f != nil {
			return f
		}
	}
	return nil
}

func ownFlag(node *kong.Node, word string) *kong.Flag {
	for _, f := range node.Flags {
		if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// takesValue reports whether the word after a flag is the flag's.
func takesValue(f *kong.Flag) bool { return !f.IsBool() && !f.IsCounter() }

// isFlag reports whether a word is one or more flags.
func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' && word != "--" }

// Arrange puts flags that stand before the command behind it, and parts kind and
// name where they are one word, so that what kubectl's users type is understood:
//
//	-n data get pods     get pods -n data
//	get pod/web          get pods pod/web
//
// Words that it does not know it leaves to the parser.
func Arrange(app *kong.Node, args []string) []string {
	node, flags := app, []string(nil)
	var words []string
	for i := 0; i < len(args); i++ {
		word := args[i]
		if isFlag(word) {
			flags = append(flags, word)
			if f := flagNamed(node, word, true); f != nil && takesValue(f) && i+1 < len(args) {
				i++
				flags = append(flags, args[i])
			}
			continue
		}
		next := child(node, word)
		rest := args[i+1:]
		if kind, _, ok := strings.Cut(word, "/"); next == nil && ok {
			next, rest = child(node, kind), args[i:]
		}
		if next == nil {
			return args
		}
		words, node = append(words, next.Name), next
		if node.Leaf() {
			return slices.Concat(words, flags, rest)
		}
	}
	return slices.Concat(words, flags)
}
