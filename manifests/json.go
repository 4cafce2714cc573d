package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// looksLikeJSON reports whether the text is one JSON value or several in a
// row. Flow-style YAML that is no JSON begins with a brace too.
func looksLikeJSON(data []byte) bool {
	start := bytes.TrimLeft(data, " \t\r\n")
	if len(start) == 0 || start[0] != '{' && start[0] != '[' {
		return false
	}
	if json.Valid(data) {
		return true
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// jsonTrees reads every value of a JSON stream.
func jsonTrees(unit string, data []byte, lim Limits) ([]*node, []Fault) {
	b := jsonBuilder{data: data, dec: json.NewDecoder(bytes.NewReader(data)), line: 1, column: 1, budget: budget{lim: lim}}
	b.dec.UseNumber()
	var trees []*node
	for len(trees) <= lim.Documents { // one more, which is told
		tree, err := b.build(1)
		if errors.Is(err, io.EOF) {
			return trees, nil
		}
		if err != nil {
			return trees, []Fault{placed(unit, err)}
		}
		trees = append(trees, tree)
	}
	return trees, nil
}

// jsonBuilder follows the tokens of a decoder and knows the line and column of
// each.
type jsonBuilder struct {
	data   []byte
	dec    *json.Decoder
	offset int // of the character at line and column
	line   int
	column int
	budget budget
}

// next is the next token and leaves line and column at its start.
func (b *jsonBuilder) next() (json.Token, error) {
	b.advance(int(b.dec.InputOffset()))
	tok, err := b.dec.Token()
	if err != nil {
		return nil, err
	}
	rest := bytes.TrimLeft(b.data[b.offset:], " \t\r\n,:")
	b.advance(len(b.data) - len(rest))
	return tok, nil
}

func (b *jsonBuilder) advance(to int) {
	passed := b.data[b.offset:to]
	if lines := bytes.Count(passed, []byte("\n")); lines > 0 {
		b.line += lines
		b.column = 1
		passed = passed[bytes.LastIndexByte(passed, '\n')+1:]
	}
	b.column += utf8.RuneCount(passed)
	b.offset = to
}

func (b *jsonBuilder) build(depth int) (*node, error) {
	tok, err := b.next()
	if err != nil {
		return nil, err
	}
	if err := b.budget.spend(b.line, b.column, depth); err != nil {
		return nil, err
	}
	out := &node{line: b.line, column: b.column}
	switch v := tok.(type) {
	case json.Delim:
		if v == '[' {
			return b.items(out, depth)
		}
		return b.members(depth)
	case string:
		out.kind, out.scalar = text, v
		return out, b.wholeText(out)
	case bool:
		out.kind, out.scalar = boolean, strconv.FormatBool(v)
	case json.Number:
		out.kind, out.scalar = number, plainNumber(v.String())
	}
	return out, nil
}

func (b *jsonBuilder) items(out *node, depth int) (*node, error) {
	out.kind = list
	for b.dec.More() {
		item, err := b.build(depth + 1)
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, item)
	}
	_, err := b.next()
	return out, err
}

func (b *jsonBuilder) members(depth int) (*node, error) {
	out := newObject(b.line, b.column, 0)
	for b.dec.More() {
		tok, err := b.next()
		if err != nil {
			return nil, err
		}
		key, _ := tok.(string) // the decoder lets nothing else be a key
		if err := b.budget.spendKey(b.line, b.column, key); err != nil {
			return nil, err
		}
		f := member{key: key, line: b.line, column: b.column}
		if f.value, err = b.build(depth + 1); err != nil {
			return nil, err
		}
		out.set(f)
	}
	_, err := b.next()
	return out.node, err
}

// wholeText refuses half of a surrogate pair, which the decoder would replace.
func (b *jsonBuilder) wholeText(n *node) error {
	raw := b.data[b.offset:b.dec.InputOffset()]
	if strings.ContainsRune(n.scalar, utf8.RuneError) && bytes.Contains(bytes.ToLower(raw), []byte(`\ud`)) {
		return placeError{n.line, n.column, "a string with half a surrogate pair"}
	}
	return noNUL(n)
}

// plainNumber writes a JSON number as sigs.k8s.io/yaml does, so that 1e3 is
// 1000 in either syntax.
func plainNumber(s string) string {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return strconv.FormatInt(i, 10)
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return strconv.FormatUint(u, 10)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	plain, err := json.Marshal(f)
	if err != nil {
		return s
	}
	return string(plain)
}
