package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// lookTime is how long a person who presses Tab is made to wait for the agent.
const lookTime = time.Second

// CompleteCmd is what the completion scripts ask: the words of a command line, the
// last of which, maybe empty, is to be completed. Each answer is a line: a word, a
// tab, what it is. A line ":files" says that files are wanted.
type CompleteCmd struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints the answers; that there are none is no error.
func (c *CompleteCmd) Run(ctx context.Context, t Terminal, k *kong.Kong) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, a := range complete(k.Model.Node, words, func(conn connection) looker { return newLooker(ctx, conn) }) {
		fmt.Fprintln(t.Out, strings.TrimRight(OneLine(a.word)+"\t"+OneLine(a.about), "\t"))
	}
	return nil
}

// answer is one word that may stand there.
type answer struct{ word, about string }

// files is the answer that leaves the rest to the shell.
const files = ":files"

// line is a command line on its way to the word that is completed.
type line struct {
	node  *kong.Node
	given []string // positional arguments
	flags map[string]string
	open  *kong.Flag // the flag whose value comes next
	ended bool       // after --
}

// complete returns what may stand in the place of the last word.
func complete(app *kong.Node, words []string, look func(connection) looker) []answer {
	if len(words) == 0 {
		words = []string{""}
	}
	l := &line{node: app, flags: map[string]string{}}
	words, last := slices.Clone(words[:len(words)-1]), words[len(words)-1]
	for _, w := range Arrange(app, words) {
		l.read(w)
	}
	ask := func() looker { return look(l.connection()) }
	switch {
	case l.open != nil:
		return matching(valuesOf(l, l.open.Value, last, ask), last, "")
	case l.ended:
		return matching(l.positionals(last, ask), last, "")
	case strings.HasPrefix(last, "--") && strings.Contains(last, "="):
		name, value, _ := strings.Cut(last, "=")
		if f := flagNamed(l.node, name, true); f != nil {
			return matching(valuesOf(l, f.Value, value, ask), value, name+"=")
		}
		return nil
	case strings.HasPrefix(last, "-"):
		return matching(l.flagAnswers(), last, "")
	}
	if kind, _, ok := strings.Cut(last, "/"); ok && len(l.given) == 0 && child(l.node, kind) != nil {
		l.node = child(l.node, kind) // get pod/w
	}
	return matching(append(l.commands(), l.positionals(last, ask)...), last, "")
}

// read takes one word in.
func (l *line) read(word string) {
	switch {
	case l.open != nil:
		l.flags[l.open.Name] = word
		l.open = nil
	case l.ended:
		l.given = append(l.given, word)
	case word == "--":
		l.ended = true
	case isFlag(word):
		name, value, hasValue := strings.Cut(word, "=")
		f := flagNamed(l.node, name, true)
		switch {
		case f == nil && len(word) > 2 && word[1] != '-': // -nweb, or several in one
			if f = flagNamed(l.node, word[:2], true); f != nil && takesValue(f) {
				l.flags[f.Name] = word[2:]
			}
		case f == nil:
		case hasValue || !takesValue(f):
			l.flags[f.Name] = value
		default:
			l.open = f
		}
	default:
		if next := child(l.node, word); next != nil && len(l.given) == 0 {
			l.node = next
			return
		}
		l.given = append(l.given, word)
	}
}

// connection is the agent that the line means.
func (l *line) connection() connection {
	return connection{
		RootDir: cmp.Or(l.flags["root-dir"], os.Getenv("PODSTEAD_ROOT_DIR")),
		Socket:  cmp.Or(l.flags["socket"], os.Getenv("PODSTEAD_SOCKET")),
	}
}

// commands are those that may come next.
func (l *line) commands() []answer {
	if len(l.given) > 0 {
		return nil
	}
	var answers []answer
	for _, c := range l.node.Children {
		if !c.Hidden {
			answers = append(answers, answer{c.Name, firstSentence(c.Help)})
		}
	}
	return answers
}

// flagAnswers are the flags that may come next; one that was given does not come
// again, unless it may.
func (l *line) flagAnswers() []answer {
	var answers []answer
	for n := l.node; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if _, given := l.flags[f.Name]; f.Hidden || given && !f.IsCumulative() {
				continue
			}
			answers = append(answers, answer{"--" + f.Name, firstSentence(f.Help)})
		}
	}
	return answers
}

// positionals are the answers for the argument that is next.
func (l *line) positionals(typed string, ask func() looker) []answer {
	all := l.node.Positional
	switch n := len(l.given); {
	case n < len(all):
		return valuesOf(l, all[n], typed, ask)
	case len(all) > 0 && all[len(all)-1].IsCumulative():
		return valuesOf(l, all[len(all)-1], typed, ask)
	}
	return nil
}

// matching are the answers that begin with what was typed, with a prefix put before.
func matching(answers []answer, typed, prefix string) []answer {
	var found []answer
	for _, a := range answers {
		if a.word == files || strings.HasPrefix(a.word, typed) {
			if a.word != files {
				a.word = prefix + a.word
			}
			found = append(found, a)
		}
	}
	return found
}

// firstSentence is the beginning of a help text.
func firstSentence(help string) string {
	if i := strings.IndexAny(help, ".;:"); i > 0 {
		return help[:i]
	}
	return help
}
