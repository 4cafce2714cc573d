package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// budget counts what a unit has cost so far.
type budget struct {
	lim   Limits
	nodes int
	text  int64
}

func (b *budget) spend(line, column, depth int) error {
	b.nodes++
	switch {
	case b.nodes > b.lim.Nodes:
		return placeError{line, column, fmt.Sprintf("more than the limit of %d values and keys, aliases expanded", b.lim.Nodes)}
	case depth > b.lim.Depth:
		return placeError{line, column, fmt.Sprintf("nested deeper than the limit of %d", b.lim.Depth)}
	}
	return nil
}

// spendKey counts a key, which costs what a value does.
func (b *budget) spendKey(line, column int, key string) error {
	if err := b.spend(line, column, 0); err != nil {
		return err
	}
	return b.spendText(line, column, key)
}

// spendText counts a string or a key, which an alias repeats at no cost in bytes.
func (b *budget) spendText(line, column int, s string) error {
	if b.text += int64(len(s)); b.text > b.lim.Bytes {
		return placeError{line, column, fmt.Sprintf("more than the limit of %d bytes, aliases expanded", b.lim.Bytes)}
	}
	return nil
}

// placeError is a problem that the builders meet, before it is known in which
// unit they work.
type placeError struct {
	line, column int
	message      string
}

func (e placeError) Error() string { return e.message }

func placed(unit string, err error) Fault {
	var p placeError
	errors.As(err, &p)
	return Fault{Place: Place{Unit: unit, Line: p.line, Column: p.column}, Message: err.Error()}
}

// noNUL refuses strings that no process could be given.
func noNUL(n *node) error {
	if strings.IndexByte(n.scalar, 0) >= 0 {
		return placeError{n.line, n.column, "a string with a NUL character"}
	}
	return nil
}

// syntaxFault is the YAML parser's error in our words and at its place.
func syntaxFault(unit string, data []byte, err error) Fault {
	fault := Fault{Place: Place{Unit: unit}, Message: err.Error()}
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return fault
	}
	fault.Message = load.Message
	fault.Place.Line, fault.Place.Column = load.Mark.Line, load.Mark.Column
	if begun := load.ContextMark.Line; begun > 0 && begun < load.Mark.Line {
		fault.Message += fmt.Sprintf(" (%s begun at line %d)", load.ContextMsg, begun)
	}
	if strings.HasPrefix(load.Message, "unknown anchor") { // the parser names it, but it may be a password
		fault.Message = "unknown anchor: a text that begins with * must be quoted"
	}
	if tabIndented(data, fault.Place.Line) {
		fault.Message = "a tab in the indentation: YAML takes spaces only"
	}
	return fault
}

func tabIndented(data []byte, line int) bool {
	lines := bytes.SplitN(data, []byte("\n"), line+1)
	if line < 1 || line > len(lines) {
		return false
	}
	text := lines[line-1]
	indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
	return bytes.IndexByte(indent, '\t') >= 0
}

func parseIndex(digits string) (int, error) {
	i, err := strconv.ParseUint(digits, 10, 31)
	return int(i), err
}
