package manifests

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// maxTypeFaults bounds what is told of one document.
const maxTypeFaults = 100

// typeFault is a difference between a document and the Go type it is to fill.
type typeFault struct {
	line, column int
	path         string
	message      string
	// lenient faults become warnings where a source is set to warn: unknown and
	// repeated fields, as with kubectl --validate=warn.
	lenient bool
}

// typeReader knows the JSON fields of the struct types it has met.
type typeReader map[reflect.Type]map[string]reflect.Type

// read decodes a tree strictly into a struct: every unknown or repeated field
// and every value of a wrong type is a fault, and dropped from the tree as it
// will be run, so that the struct holds all the rest.
func (r typeReader) read(tree *node, into any, show keyShower) []typeFault {
	t := reflect.TypeOf(into).Elem()
	c := typeCheck{types: r, show: show}
	c.check(tree, t, "")
	if kjson.Unmarshal(tree.appendJSON(nil, asRun), into) != nil { // whose error may quote a value
		c.drop(tree, "", "cannot be read as a "+t.Name())
	}
	return c.faults
}

// fields are the JSON names of a struct's fields, those of embedded structs included.
func (r typeReader) fields(t reflect.Type) map[string]reflect.Type {
	if known, ok := r[t]; ok {
		return known
	}
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Anonymous:
			for name, inner := range r.fields(f.Type) {
				fields[name] = inner
			}
		case name != "":
			fields[name] = f.Type
		}
	}
	r[t] = fields
	return fields
}

// typeCheck walks a tree against a type and marks what does not fit as dropped.
type typeCheck struct {
	types  typeReader
	show   keyShower
	faults []typeFault
}

func (c *typeCheck) add(f typeFault) {
	if !c.full() {
		c.faults = append(c.faults, f)
	}
}

func (c *typeCheck) full() bool { return len(c.faults) >= maxTypeFaults }

func (c *typeCheck) drop(n *node, path, message string) {
	n.dropped = true
	c.add(typeFault{line: n.line, column: n.column, path: path, message: message})
}

func (c *typeCheck) check(n *node, t reflect.Type, path string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case isScalarType(t):
		if problem := scalarProblem(n, t); problem != "" {
			c.drop(n, path, problem)
		}
	case n.kind != containerKind(t):
		c.drop(n, path, want(containerKind(t), n))
	case t.Kind() == reflect.Struct:
		c.checkStruct(n, t, path)
	case t.Kind() == reflect.Map:
		c.checkMap(n, t, path)
	default:
		c.checkSlice(n, t, path)
	}
}

func (c *typeCheck) checkStruct(n *node, t reflect.Type, path string) {
	c.repeated(n, path)
	known := c.types.fields(t)
	for _, f := range n.fields {
		ft, ok := known[f.key]
		if !ok {
			f.value.dropped = true
			if c.full() {
				continue
			}
			c.add(typeFault{line: f.line, column: f.column, path: child(path, c.show(path, f.key, f.value)), message: unknownField(f.key, known), lenient: true})
			continue
		}
		at := child(path, f.key)
		switch {
		case f.value.kind == null: // as if it were not there
		case ft == reflect.TypeFor[v1.PodStatus]() || ft == reflect.TypeFor[[]metav1.ManagedFieldsEntry]():
			// A server's, of whatever version: never run, named by Static.
			f.value.dropped = true
		default:
			c.check(f.value, ft, at)
		}
	}
}

func (c *typeCheck) checkMap(n *node, t reflect.Type, path string) {
	c.repeated(n, path)
	for _, f := range n.fields {
		c.check(f.value, t.Elem(), path+"["+c.show(path, f.key, f.value)+"]")
	}
}

func (c *typeCheck) checkSlice(n *node, t reflect.Type, path string) {
	for i, item := range n.items {
		c.check(item, t.Elem(), path+"["+strconv.Itoa(i)+"]")
	}
}

func (c *typeCheck) repeated(n *node, path string) {
	for _, r := range n.repeated {
		if c.full() {
			return
		}
		message := fmt.Sprintf("duplicate key, first at line %d", r.first)
		c.add(typeFault{line: r.line, column: r.column, path: child(path, c.show(path, r.key, n.get(r.key))), message: message, lenient: true})
	}
}

// keyShower is how a message writes the key of a value in the object at path.
type keyShower func(path, key string, value *node) string

func showAll(_, key string, _ *node) string { return cut(key, maxKey) }

// maxKey is how much of a key a message tells.
const maxKey = 253

func child(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func unknownField(key string, known map[string]reflect.Type) string {
	for name := range known {
		if strings.EqualFold(name, key) {
			return fmt.Sprintf("unknown field; its name is written %s", name)
		}
	}
	return "unknown field"
}

func containerKind(t reflect.Type) kind {
	if t.Kind() == reflect.Slice {
		return list
	}
	return object
}

// want says what was expected. The value itself is never told: it may be a
// secret.
func want(k kind, got *node) string {
	switch {
	case k == text && (got.kind == number || got.kind == boolean):
		return fmt.Sprintf("want %s, got %s: quote it", k, got.kind)
	case k == text && got.kind == null:
		return fmt.Sprintf(`want %s, got %s: write ""`, k, got.kind)
	}
	return fmt.Sprintf("want %s, got %s", k, got.kind)
}

func isScalarType(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString](), reflect.TypeFor[metav1.Time](),
		reflect.TypeFor[metav1.FieldsV1](), reflect.TypeFor[[]byte]():
		return true
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice:
		return false
	}
	return true
}

// scalarProblem says why a value does not fit a scalar type, "" if it does.
func scalarProblem(n *node, t reflect.Type) string {
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		return quantityProblem(n)
	case reflect.TypeFor[intstr.IntOrString]():
		if n.kind == text {
			return ""
		}
		return integerProblem(n, 32)
	case reflect.TypeFor[metav1.Time]():
		if n.kind != text {
			return want(text, n)
		}
		if _, err := time.Parse(time.RFC3339, n.scalar); err != nil {
			return "not a time as RFC 3339 has it"
		}
		return ""
	case reflect.TypeFor[metav1.FieldsV1]():
		return ""
	case reflect.TypeFor[[]byte]():
		return base64Problem(n)
	}
	switch t.Kind() {
	case reflect.String:
		return kindProblem(n, text)
	case reflect.Bool:
		return kindProblem(n, boolean)
	case reflect.Int32:
		return integerProblem(n, 32)
	}
	return integerProblem(n, 64)
}

func kindProblem(n *node, k kind) string {
	if n.kind != k {
		return want(k, n)
	}
	return ""
}

func base64Problem(n *node) string {
	if n.kind != text {
		return want(text, n)
	}
	if _, err := base64.StdEncoding.DecodeString(n.scalar); err != nil {
		return "not base64"
	}
	return ""
}

func integerProblem(n *node, bits int) string {
	if n.kind != number {
		return want(number, n)
	}
	if _, err := strconv.ParseInt(n.scalar, 10, bits); err != nil {
		return fmt.Sprintf("want an integer of %d bits", bits)
	}
	return inexact(n)
}

func quantityProblem(n *node) string {
	if n.kind != text && n.kind != number {
		return fmt.Sprintf("want a quantity such as 500m, 2 or 64Mi, got %s", n.kind)
	}
	if _, err := resource.ParseQuantity(n.scalar); err != nil {
		return fmt.Sprintf("%q is not a quantity such as 500m, 2 or 64Mi", cut(n.scalar, 60))
	}
	if n.kind == number {
		return inexact(n)
	}
	return ""
}

// inexact refuses integers that JSON, and with it what identifies the pod,
// cannot tell from their neighbours.
func inexact(n *node) string {
	const limit = 1 << 53
	if i, err := strconv.ParseInt(n.scalar, 10, 64); err == nil && i <= limit && i >= -limit {
		return ""
	}
	if strings.ContainsAny(n.scalar, ".eE") {
		return ""
	}
	return "a number beyond 2^53 is not exact in JSON: write it as a string"
}
