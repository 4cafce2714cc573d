package manifests

import (
	"encoding/json"
	"slices"
	"strings"
)

// kind is what a node of a document holds, in JSON's words.
type kind int

const (
	null kind = iota
	boolean
	number
	text
	list
	object
)

// String is the kind with its article, as messages speak of it. They name
// kinds, never values: a value may be a secret.
func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// node is one value of a document, with the place where its author wrote it.
// Aliases and merge keys are expanded: a tree shares nothing.
type node struct {
	kind   kind
	scalar string // the string, or the JSON text of a number or boolean
	line   int
	column int
	items  []*node
	fields []member // in the order written, each key once: the last value wins
	// repeated are the later occurrences of keys that an object has twice.
	repeated []repeat
	// dropped nodes are part of what was written, but not of what is run:
	// unknown fields and values of a wrong type.
	dropped bool
}

// member is one key of an object with its value.
type member struct {
	key    string
	line   int
	column int
	value  *node
	merged bool // by a merge key, so that a key beside it is no repetition
}

// repeat is a key that was there before, at line first.
type repeat struct {
	key                 string
	line, column, first int
}

// objectBuilder collects the members of an object in constant time each.
type objectBuilder struct {
	node  *node
	index map[string]int // nil as long as a look at each member is cheaper
}

// fewMembers is up to how many members a key is looked for without an index.
const fewMembers = 16

// newObject begins an object of about size members.
func newObject(line, column, size int) *objectBuilder {
	return &objectBuilder{node: &node{kind: object, line: line, column: column, fields: make([]member, 0, size)}}
}

func (b *objectBuilder) set(f member) {
	at, there := b.find(f.key)
	if !there {
		if b.index != nil {
			b.index[f.key] = len(b.node.fields)
		}
		b.node.fields = append(b.node.fields, f)
		return
	}
	before := b.node.fields[at]
	if !before.merged && !f.merged {
		b.node.repeated = append(b.node.repeated, repeat{key: f.key, line: f.line, column: f.column, first: before.line})
	}
	b.node.fields[at] = f
}

func (b *objectBuilder) find(key string) (at int, there bool) {
	if len(b.node.fields) <= fewMembers {
		at = slices.IndexFunc(b.node.fields, func(f member) bool { return f.key == key })
		return at, at >= 0
	}
	if b.index == nil {
		b.index = make(map[string]int, cap(b.node.fields))
		for i, f := range b.node.fields {
			b.index[f.key] = i
		}
	}
	at, there = b.index[key]
	return at, there
}

// size is how many values and keys a tree holds.
func (n *node) size() int {
	total := 1 + len(n.fields)
	for _, f := range n.fields {
		total += f.value.size()
	}
	for _, item := range n.items {
		total += item.size()
	}
	return total
}

// get is the value of a key, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for _, f := range n.fields {
		if f.key == key {
			return f.value
		}
	}
	return nil
}

// getText is the string under a key, "" if there is none.
func (n *node) getText(key string) string {
	if v := n.get(key); v != nil && v.kind == text {
		return v.scalar
	}
	return ""
}

// texts are the members of an object whose values are strings.
func (n *node) texts() map[string]string {
	if n == nil || len(n.fields) == 0 {
		return nil
	}
	m := make(map[string]string, len(n.fields))
	for _, f := range n.fields {
		if f.value.kind == text {
			m[f.key] = f.value.scalar
		}
	}
	return m
}

// view selects what of a tree is rendered as JSON.
type view int

const (
	asWritten view = iota // everything but nulls
	asRun                 // what is dropped is left out too
)

func (n *node) appendJSON(b []byte, v view) []byte {
	switch n.kind {
	case null:
		return append(b, "null"...)
	case boolean, number:
		return append(b, n.scalar...)
	case text:
		return appendText(b, n.scalar)
	case list:
		return n.appendItems(b, v)
	}
	return n.appendFields(b, v)
}

func (n *node) appendItems(b []byte, v view) []byte {
	b = append(b, '[')
	first := true
	for _, item := range n.items {
		if v == asRun && item.dropped {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = item.appendJSON(b, v)
	}
	return append(b, ']')
}

func (n *node) appendFields(b []byte, v view) []byte {
	b = append(b, '{')
	first := true
	for _, f := range n.fields {
		if f.value.kind == null || v == asRun && f.value.dropped {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendText(b, f.key), ':')
		b = f.value.appendJSON(b, v)
	}
	return append(b, '}')
}

func appendText(b []byte, s string) []byte {
	if isPlainASCII(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	quoted, _ := json.Marshal(s) // a string always has a JSON form
	return append(b, quoted...)
}

// isPlainASCII reports whether JSON needs no escape for a string.
func isPlainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// find is the node at a field path as Kubernetes' validation writes it
// (spec.containers[0].ports[1], metadata.labels[example.com/role]), or the
// nearest node above it that the author wrote.
func (n *node) find(path string) *node {
	for path != "" {
		next, rest := n.step(path)
		if next == nil {
			return n
		}
		n, path = next, rest
	}
	return n
}

// step goes one element down the path: the child, and the path from there.
func (n *node) step(path string) (*node, string) {
	if n.kind == list {
		return n.stepIndex(path)
	}
	var child *node
	rest, longest := "", -1
	for _, f := range n.fields {
		after, ok := cutKey(path, f.key)
		if ok && len(f.key) > longest {
			child, rest, longest = f.value, after, len(f.key)
		}
	}
	return child, rest
}

func (n *node) stepIndex(path string) (*node, string) {
	digits, rest, ok := strings.Cut(strings.TrimPrefix(path, "["), "]")
	if !ok || digits == path {
		return nil, ""
	}
	i, err := parseIndex(digits)
	if err != nil || i >= len(n.items) {
		return nil, ""
	}
	return n.items[i], rest
}

// cutKey takes a key off the front of a path, in either of its spellings.
func cutKey(path, key string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(path, "["+key+"]"); ok {
		return rest, true
	}
	rest, ok = strings.CutPrefix(strings.TrimPrefix(path, "."), key)
	return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// setDefault adds a member that the author was free to leave out.
func (n *node) setDefault(key, value string) {
	if n.get(key) == nil {
		n.fields = append(n.fields, member{key: key, line: n.line, column: n.column, value: &node{kind: text, scalar: value, line: n.line, column: n.column}})
	}
}
