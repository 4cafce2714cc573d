package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	yamlnode "go.yaml.in/yaml/v4"
)

// decoder reads one document into its Go type, strictly, and gathers every
// fault with its place. It also remembers where each field stood, for faults of
// meaning that are found later.
type decoder struct {
	file   string
	places map[string]string // field path → :line:column
	faults []error
}

// document reads a Configuration.
func (d *decoder) document(root *yamlnode.Node) *Document {
	d.places = map[string]string{}
	var doc Document
	d.value(root, reflect.ValueOf(&doc).Elem(), "")
	return &doc
}

// fault notes what is wrong with a field that was read before.
func (d *decoder) fault(field, format string, args ...any) {
	place := d.places[field]
	for at := field; place == "" && at != ""; { // a field that is missing: where it belongs
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
		place = d.places[at]
	}
	d.faults = append(d.faults, fmt.Errorf("%s%s: %s: %s", d.file, place, field, fmt.Sprintf(format, args...)))
}

// wrong notes a fault of the node at hand.
func (d *decoder) wrong(node *yamlnode.Node, field, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if field != "" {
		text = field + ": " + text
	}
	d.faults = append(d.faults, fmt.Errorf("%s:%d:%d: %s", d.file, node.Line, node.Column, text))
}

func (d *decoder) err() error { return errors.Join(d.faults...) }

// value reads a node into v by v's type. null is the same as not written.
func (d *decoder) value(node *yamlnode.Node, v reflect.Value, field string) {
	if node.Kind == yamlnode.AliasNode {
		node = node.Alias
	}
	if node.Kind == yamlnode.ScalarNode && node.ShortTag() == "!!null" {
		return
	}
	if _, known := d.places[field]; !known {
		d.places[field] = fmt.Sprintf(":%d:%d", node.Line, node.Column)
	}
	switch into := v.Addr().Interface().(type) {
	case *Duration:
		scalar(d, node, field, into, "a duration like 30s or 5m", parseSpan)
		return
	case *Size:
		scalar(d, node, field, into, "a size like 64Mi", parseAmount)
		return
	case *Headers:
		d.headers(node, into, field)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(node, v.Elem(), field)
	case reflect.Struct:
		d.object(node, v, field)
	case reflect.Slice:
		d.list(node, v, field)
	case reflect.String:
		d.text(node, v, field)
	case reflect.Bool:
		d.truth(node, v, field)
	default:
		d.wrong(node, field, "podstead has no way to read a %s", v.Type())
	}
}

func (d *decoder) object(node *yamlnode.Node, v reflect.Value, field string) {
	if node.Kind != yamlnode.MappingNode {
		d.wrong(node, field, "must be an object with fields")
		return
	}
	fields := fieldsOf(v)
	var seen []string
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		path := join(field, key.Value)
		member, known := fields[key.Value]
		switch {
		case slices.Contains(seen, key.Value):
			d.wrong(key, path, "is written twice")
		case !known:
			d.wrong(key, path, "unknown field%s", nearest(key.Value, fields))
		default:
			d.places[path] = fmt.Sprintf(":%d:%d", key.Line, key.Column)
			d.value(node.Content[i+1], member, path)
		}
		seen = append(seen, key.Value)
	}
}

func (d *decoder) list(node *yamlnode.Node, v reflect.Value, field string) {
	if node.Kind != yamlnode.SequenceNode {
		d.wrong(node, field, "must be a list")
		return
	}
	for i, item := range node.Content {
		member := reflect.New(v.Type().Elem()).Elem()
		path := fmt.Sprintf("%s[%d]", field, i)
		if item.Kind == yamlnode.ScalarNode && item.ShortTag() == "!!null" {
			d.wrong(item, path, "is empty")
			continue
		}
		d.value(item, member, path)
		v.Set(reflect.Append(v, member))
	}
}

// text takes what YAML takes for text. A commit of digits alone, or a version
// like 1.10, would come out changed otherwise.
func (d *decoder) text(node *yamlnode.Node, v reflect.Value, field string) {
	switch {
	case node.Kind != yamlnode.ScalarNode:
		d.wrong(node, field, "must be text")
	case node.ShortTag() != "!!str":
		d.wrong(node, field, "must be text: put it in quotes")
	default:
		v.SetString(node.Value)
	}
}

func (d *decoder) truth(node *yamlnode.Node, v reflect.Value, field string) {
	if node.Kind != yamlnode.ScalarNode || node.ShortTag() != "!!bool" {
		d.wrong(node, field, "must be true or false")
		return
	}
	v.SetBool(strings.EqualFold(node.Value, "true"))
}

// headers take one value or a list of them for each name. No value is shown.
func (d *decoder) headers(node *yamlnode.Node, into *Headers, field string) {
	if node.Kind != yamlnode.MappingNode {
		d.wrong(node, field, "must be header names with their values")
		return
	}
	*into = Headers{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i].Value, node.Content[i+1]
		path := join(field, name)
		if _, twice := (*into)[name]; twice {
			d.wrong(node.Content[i], path, "is written twice")
			continue
		}
		d.places[path] = fmt.Sprintf(":%d:%d", node.Content[i].Line, node.Content[i].Column)
		if value.Kind == yamlnode.AliasNode {
			value = value.Alias
		}
		values := []Secret{""}
		if value.Kind == yamlnode.SequenceNode {
			values = nil
			d.list(value, reflect.ValueOf(&values).Elem(), path)
		} else {
			d.text(value, reflect.ValueOf(&values[0]).Elem(), path)
		}
		(*into)[name] = values
	}
}

// scalar reads text by its parser.
func scalar[T any](d *decoder, node *yamlnode.Node, field string, into *T, what string, parse func(string) (T, error)) {
	if node.Kind != yamlnode.ScalarNode {
		d.wrong(node, field, "must be %s", what)
		return
	}
	value, err := parse(node.Value)
	if err != nil {
		d.wrong(node, field, "must be %s, is %q", what, node.Value)
		return
	}
	*into = value
}

func parseSpan(text string) (Duration, error) {
	d, err := parseDuration(text)
	return Duration(d), err
}

func parseAmount(text string) (Size, error) {
	n, err := parseSize(text)
	return Size(n), err
}

func join(field, key string) string {
	if field == "" || key == "" {
		return field + key
	}
	return field + "." + key
}
