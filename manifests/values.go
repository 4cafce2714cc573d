package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	sigsyaml "sigs.k8s.io/yaml"
)

// kubernetesJSON is what the first YAML document of data means to Kubernetes: by
// YAML 1.1, where yes and off are booleans, 0x10 and 010 are numbers. The members
// of its objects are sorted by key.
func kubernetesJSON(data []byte) ([]byte, error) {
	raw, err := sigsyaml.YAMLToJSON(data)
	if err != nil {
		return nil, errors.New(onlySyntax(err.Error()))
	}
	return raw, nil
}

// onlySyntax keeps of the parser's error what cannot quote a value.
func onlySyntax(message string) string {
	const general = "not a document that JSON can hold, or not YAML 1.1"
	message, ok := strings.CutPrefix(message, "yaml: ")
	if !ok || strings.ContainsAny(message, "`\"") {
		return general
	}
	if _, after, ok := strings.Cut(message, ": "); ok {
		return after + " (as Kubernetes reads it)" // its line counts from the document
	}
	return message + " (as Kubernetes reads it)"
}

// filling puts the values of a document into its tree, one after the other, so
// that nothing needs to hold them all beside it.
type filling struct{ dec *json.Decoder }

func newFilling(raw []byte) filling {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return filling{dec: dec}
}

// fill takes the next value for n. Where the two parsers see another structure,
// nobody can say what the author means: that is an error, at the place.
func (f filling) fill(n *node) error {
	tok, err := f.dec.Token()
	if err != nil {
		return n.ambiguous()
	}
	var ok bool
	switch v := tok.(type) {
	case json.Delim:
		if v == '{' {
			return f.fields(n)
		}
		return f.items(n)
	case nil:
		ok = n.fillScalar(null, "")
	case bool:
		ok = n.fillScalar(boolean, strconv.FormatBool(v))
	case json.Number:
		ok = n.fillScalar(number, v.String())
	case string:
		ok = n.fillScalar(text, v)
	}
	if !ok {
		return n.ambiguous()
	}
	return noNUL(n)
}

func (n *node) fillScalar(k kind, scalar string) bool {
	ok := n.kind == text
	n.kind, n.scalar = k, scalar
	return ok
}

func (f filling) items(n *node) error {
	if n.kind != list {
		return n.ambiguous()
	}
	for _, item := range n.items {
		if !f.dec.More() {
			return n.ambiguous()
		}
		if err := f.fill(item); err != nil {
			return err
		}
	}
	return f.end(n)
}

// fields goes through the members in the order in which their values come.
func (f filling) fields(n *node) error {
	if n.kind != object {
		return n.ambiguous()
	}
	for _, at := range n.sorted() {
		key, err := f.dec.Token()
		if err != nil || key != json.Token(n.fields[at].key) {
			return n.ambiguous()
		}
		if err := f.fill(n.fields[at].value); err != nil {
			return err
		}
	}
	return f.end(n)
}

// end takes the bracket that closes n, behind the last of its values.
func (f filling) end(n *node) error {
	if f.dec.More() {
		return n.ambiguous()
	}
	if _, err := f.dec.Token(); err != nil {
		return n.ambiguous()
	}
	return nil
}

// sorted is the order of the members by their keys.
func (n *node) sorted() []int32 {
	order := make([]int32, len(n.fields))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(n.fields[a].key, n.fields[b].key) })
	return order
}

func (n *node) ambiguous() error {
	return placeError{n.line, n.column, "YAML that is read differently by version 1.1 and 1.2: write it more plainly, or quote it"}
}

// keyNames are the names that unquoted keys have when they look like another
// kind of value: 8080 is "8080", on is "true".
type keyNames map[string]string

var errNoKey = errors.New("a key must be a string")

func (k keyNames) of(plain string) (string, error) {
	if name, ok := k[plain]; ok {
		return name, nil
	}
	raw, err := kubernetesJSON([]byte(plain + ": 0\n"))
	if err != nil {
		return "", errNoKey
	}
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return "", errNoKey
	}
	for name := range m {
		k[plain] = name
		return name, nil
	}
	return "", errNoKey
}

// mayResolve reports whether a plain scalar can be anything but a string, from
// its looks.
func mayResolve(plain string) bool {
	if plain == "" || strings.ContainsAny(plain, " \t\r\n") {
		return plain == ""
	}
	switch c := plain[0]; {
	case c >= '0' && c <= '9':
		return true
	case c == '+' || c == '-':
		return len(plain) > 1 && strings.IndexByte("0123456789._", plain[1]) >= 0
	case c == '.':
		return len(plain) > 1 && strings.IndexByte("0123456789iInN", plain[1]) >= 0
	}
	switch strings.ToLower(plain) {
	case "~", "null", "y", "yes", "n", "no", "on", "off", "true", "false":
		return true
	}
	return false
}

func notFinite(plain string) bool {
	switch strings.ToLower(plain) {
	case ".inf", "+.inf", "-.inf", ".nan":
		return true
	}
	return false
}

// lineFinder finds the lines of a text, as YAML counts them, in one pass.
type lineFinder struct {
	data []byte // from the start of line on
	line int
}

// from is the text from a line on. Lines are asked for in rising order.
func (l *lineFinder) from(line int) []byte {
	for ; l.line < line && len(l.data) > 0; l.line++ {
		l.data = l.data[lineLength(l.data):]
	}
	return l.data
}

// lineLength is the length of the first line with its break: any of YAML 1.1.
func lineLength(data []byte) int {
	i := bytes.IndexAny(data, "\n\r\u0085\u2028\u2029")
	switch {
	case i < 0:
		return len(data)
	case bytes.HasPrefix(data[i:], []byte("\r\n")):
		return i + 2
	}
	_, size := utf8.DecodeRune(data[i:])
	return i + size
}
