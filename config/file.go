package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	yamlnode "go.yaml.in/yaml/v4"
	kubelet "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"
)

// MaxFile bounds what is read of a configuration file, in bytes.
const MaxFile = 1 << 20

// fileConfig is a configuration file that has been read.
type fileConfig struct {
	kubelet  kubelet.KubeletConfiguration
	document Document
	written  decoder  // where the document's fields stand
	set      []string // fields that the KubeletConfiguration sets, as paths
	places   map[string]string
	warnings []string // set fields without an effect
}

// readConfigFile reads a file, which may be a pipe.
func readConfigFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read --config: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read --config %s: %w", path, err)
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%s: over %d bytes long, which no configuration is", path, MaxFile)
	}
	return data, nil
}

// decodeConfig reads the documents of a file strictly: a KubeletConfiguration, a
// Configuration, or both in any order. The error holds every fault, with line
// and column.
func decodeConfig(path string, data []byte) (*fileConfig, error) {
	out := &fileConfig{written: decoder{file: path}}
	var bad []error
	seen := map[string]int{}
	for _, doc := range splitDocuments(data) {
		var node yamlnode.Node
		if err := yamlnode.Unmarshal(doc.text, &node); err != nil {
			bad = append(bad, fmt.Errorf("%s: document at line %d: %w", path, doc.line, err))
			continue
		}
		if len(node.Content) == 0 || node.Content[0].Tag == "!!null" {
			continue
		}
		kind, err := kindOf(path, doc.line, node.Content[0])
		if first := seen[kind]; err == nil && first > 0 {
			err = fmt.Errorf("%s:%d: a second %s; the first is at line %d", path, doc.line, kind, first)
		}
		if err != nil {
			bad = append(bad, err)
			continue
		}
		seen[kind] = doc.line
		bad = append(bad, out.decode(path, kind, doc.text, node.Content[0]))
	}
	if len(seen) == 0 && errors.Join(bad...) == nil {
		return out, fmt.Errorf("%s: holds no configuration", path)
	}
	return out, errors.Join(bad...)
}

// decode reads one document of the file.
func (f *fileConfig) decode(path, kind string, text []byte, root *yamlnode.Node) error {
	if kind == DocumentKind {
		f.document = *f.written.document(root)
		return f.written.err()
	}
	raw, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return fmt.Errorf("%s: not an object with fields", path)
	}
	return f.decodeFields(path, values, root)
}

// kindOf is the kind of a document that can be read.
func kindOf(path string, line int, root *yamlnode.Node) (string, error) {
	if root.Kind != yamlnode.MappingNode {
		return "", fmt.Errorf("%s:%d: not an object with fields", path, line)
	}
	meta := map[string]string{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		meta[root.Content[i].Value] = root.Content[i+1].Value
	}
	want := map[string]string{DocumentKind: DocumentVersion, "KubeletConfiguration": kubelet.SchemeGroupVersion.String()}
	if version, known := want[meta["kind"]]; known && version == meta["apiVersion"] {
		return meta["kind"], nil
	}
	return "", fmt.Errorf("%s:%d: is apiVersion %q, kind %q; must be %s, KubeletConfiguration or %s, %s", path, line,
		meta["apiVersion"], meta["kind"], want["KubeletConfiguration"], DocumentVersion, DocumentKind)
}

// part is one document of a file, moved to the line where it stood so that
// errors name it.
type part struct {
	text []byte
	line int // where it begins
}

// splitDocuments cuts at the lines that begin with ---; such a line becomes an
// empty one of the document it opens.
func splitDocuments(data []byte) []part {
	var docs []part
	doc, line := part{line: 1}, 0
	for text := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		line++
		rest, marker := bytes.CutPrefix(text, []byte("---"))
		if marker && (len(rest) == 0 || len(bytes.TrimLeft(rest, " \t\r\n")) != len(rest)) {
			docs = append(docs, doc)
			doc = part{text: append(bytes.Repeat([]byte("\n"), line-1), rest...), line: line}
			continue
		}
		doc.text = append(doc.text, text...)
	}
	return append(docs, doc)
}

// fieldsOf maps JSON names to the fields of a struct, those of embedded structs included.
func fieldsOf(v reflect.Value) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch {
		case name != "" && name != "-":
			fields[name] = v.Field(i)
		case v.Type().Field(i).Anonymous:
			for inner, field := range fieldsOf(v.Field(i)) {
				fields[inner] = field
			}
		}
	}
	return fields
}

// nearest finds what may have been meant by a key that differs in case alone.
func nearest(key string, fields map[string]reflect.Value) string {
	for name := range fields {
		if strings.EqualFold(name, key) {
			return "; did you mean " + name + "?"
		}
	}
	return ""
}

// plainly strips the words by which the decoders introduce themselves.
func plainly(err error) string {
	text := err.Error()
	for _, prefix := range []string{"error unmarshaling JSON: ", "while decoding JSON: ", "json: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
