package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"
)

// maxTemplateFile bounds what is read of a template from a file.
const maxTemplateFile = 1 << 20

// template prints one value, a list or one object, as its user wrote it down.
type template interface {
	print(value *unstructured.Unstructured, out io.Writer) error
}

// newTemplate compiles a form such as jsonpath={.metadata.name}. With lenient a key
// that is not there prints nothing (jsonpath) or <no value> (go-template); without
// it is an error. Errors quote the template.
func newTemplate(text string, lenient bool) (template, error) {
	name, source, _ := strings.Cut(text, "=")
	kind := name
	switch {
	case name == "templatefile":
		kind = "go-template-file"
	case name == "template":
		kind = "go-template"
	}
	if bare, fromFile := strings.CutSuffix(kind, "-file"); fromFile {
		data, err := readTemplate(source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		kind, source = bare, data
		if kind == "custom-columns" {
			return columnsOfFile(source)
		}
	}
	switch kind {
	case "jsonpath", "jsonpath-as-json":
		path := jsonpath.New("out").AllowMissingKeys(lenient)
		path.EnableJSONOutput(kind == "jsonpath-as-json")
		if err := path.Parse(source); err != nil {
			return nil, fmt.Errorf("jsonpath %q cannot be read: %w", source, err)
		}
		return jsonPath{path: path, source: source}, nil
	case "go-template":
		printer, err := printers.NewGoTemplatePrinter([]byte(source))
		if err != nil {
			return nil, fmt.Errorf("go-template %q cannot be read: %w", source, err)
		}
		printer.AllowMissingKeys(lenient)
		return goTemplate{printer}, nil
	}
	return columnsOf(source)
}

func readTemplate(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTemplateFile))
	return string(data), err
}

// jsonPath is kubectl's -o jsonpath: text with {expressions} in it, and no line end
// of its own.
type jsonPath struct {
	path   *jsonpath.JSONPath
	source string
}

func (j jsonPath) print(value *unstructured.Unstructured, out io.Writer) error {
	if err := j.path.Execute(out, value.Object); err != nil {
		return fmt.Errorf("jsonpath %q: %w", j.source, err)
	}
	return nil
}

// goTemplate is kubectl's -o go-template.
type goTemplate struct{ printer *printers.GoTemplatePrinter }

func (g goTemplate) print(value *unstructured.Unstructured, out io.Writer) error {
	var text bytes.Buffer // of a failure it prints the whole object
	if err := g.printer.PrintObj(value, &text); err != nil {
		return err
	}
	_, err := out.Write(text.Bytes())
	return err
}

// untyped is a value as templates see it: by its JSON, whole numbers as such.
func untyped(value any) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	if err := utiljson.Unmarshal(data, &object); err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: object}, nil
}

// relaxed is a path as people write it, .metadata.name or metadata.name, in the
// braces that jsonpath wants.
func relaxed(path string) (string, error) {
	inner, open := strings.CutPrefix(path, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	inner = strings.TrimPrefix(inner, ".")
	if open != closed || inner == "" || strings.ContainsAny(inner, "{}") {
		return "", fmt.Errorf("path %q is not of the form name1.name2, .name1.name2, {name1.name2} or {.name1.name2}", path)
	}
	return "{." + inner + "}", nil
}

// newPath compiles a relaxed path, in which keys may be missing.
func newPath(path string) (*jsonpath.JSONPath, error) {
	strict, err := relaxed(path)
	if err != nil {
		return nil, err
	}
	compiled := jsonpath.New("path").AllowMissingKeys(true)
	if err := compiled.Parse(strict); err != nil {
		return nil, fmt.Errorf("path %q cannot be read: %w", path, err)
	}
	return compiled, nil
}
