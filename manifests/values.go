package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	sigsyaml "sigs.k8s.io/yaml"
)

// kubernetesValue is what the first YAML document of data means to Kubernetes:
// by YAML 1.1, where yes and off are booleans, 0x10 and 010 are numbers.
func kubernetesValue(data []byte) (any, error) {
	raw, err := sigsyaml.YAMLToJSON(data)
	if err != nil {
		return nil, errors.New(onlySyntax(err.Error()))
	}
	return readValue(raw)
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

// fill puts the values into a tree. Where the two parsers see another
// structure, nobody can say what the author means: that is an error, at the
// place.
func (n *node) fill(value any) error {
	var ok bool
	switch v := value.(type) {
	case map[string]any:
		return n.fillFields(v)
	case []any:
		return n.fillItems(v)
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

func (n *node) fillItems(values []any) error {
	if n.kind != list || len(n.items) != len(values) {
		return n.ambiguous()
	}
	for i, item := range n.items {
		if err := item.fill(values[i]); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) fillFields(values map[string]any) error {
	if n.kind != object || len(n.fields) != len(values) {
		return n.ambiguous()
	}
	for _, f := range n.fields {
		value, ok := values[f.key]
		if !ok {
			return n.ambiguous()
		}
		if err := f.value.fill(value); err != nil {
			return err
		}
	}
	return nil
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
	value, err := kubernetesValue([]byte(plain + ": 0\n"))
	if err != nil {
		return "", errNoKey
	}
	m, _ := value.(map[string]any)
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
