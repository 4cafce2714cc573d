package cli

import (
	"os"
	"strings"
)

// hue is the colour of a word that says how something is.
type hue string

// The hues: as it should be, on its way, not as it should be.
const (
	plain  hue = ""
	green  hue = "\x1b[32m"
	yellow hue = "\x1b[33m"
	red    hue = "\x1b[31m"
)

const uncoloured = "\x1b[0m"

// coloured is the flag of commands that print status words.
type coloured struct {
	Color string `enum:"auto,always,never" default:"auto" placeholder:"auto|always|never" help:"Colour status words: on a terminal (auto, the default; NO_COLOR turns it off), always or never."`
}

// on reports whether words are coloured that go to out.
func (c coloured) on(out any) bool {
	switch c.Color {
	case "always":
		return true
	case "never":
		return false
	}
	return IsTerminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// paint puts a text into a colour.
func (h hue) paint(text string) string {
	if h == plain || text == "" {
		return text
	}
	return string(h) + text + uncoloured
}

// columnGap is what parts the columns of a table at least.
const columnGap = "   "

// paintColumn colours one column of a line that is aligned already, so that the
// alignment knows nothing of it. No cell before that one holds a gap.
func paintColumn(line string, column int, h hue) string {
	if h == plain {
		return line
	}
	at := 0
	for range column {
		gap := strings.Index(line[at:], columnGap)
		if gap < 0 {
			return line
		}
		rest := strings.TrimLeft(line[at+gap:], " ")
		at = len(line) - len(rest)
	}
	end := strings.Index(line[at:], columnGap)
	if end < 0 {
		end = len(strings.TrimRight(line[at:], "\n"))
	}
	return line[:at] + h.paint(line[at:at+end]) + line[at+end:]
}
