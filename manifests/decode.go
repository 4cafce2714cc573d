package manifests

import (
	"encoding/json"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // what kinds apiVersion v1 has, and their defaults
)

// Limits bound what a unit may cost, whatever its bytes say.
type Limits struct {
	Bytes     int64 // of the unit, and of its strings and keys with aliases expanded
	Depth     int   // of nesting
	Nodes     int   // values and keys, those of expanded aliases included
	Documents int   // items of lists included
}

// DefaultLimits are those of a manifest file. Manifests have a value or a key
// every ten bytes, and the parsers need about 400 bytes of memory for each: where a
// source takes larger units, Nodes is what bounds their cost.
func DefaultLimits() Limits {
	return Limits{Bytes: 1 << 20, Depth: 100, Nodes: 100_000, Documents: 1000}
}

// Document is one document of a unit, or one item of a list in it, as its
// author wrote it: nothing is defaulted.
type Document struct {
	Place       Place
	APIVersion  string // both are "" for an object that is not Kubernetes' (a kustomization)
	Kind        string
	Namespace   string
	Name        string
	Labels      map[string]string
	Annotations map[string]string
	// Written is the whole document as RFC 8785 canonical JSON, nulls dropped.
	Written json.RawMessage
	// Nodes are its values and keys, aliases expanded.
	Nodes int

	root   *node
	pod    *v1.Pod
	object Object      // its ConfigMap or Secret, as far as it could be read; none of another kind
	faults []typeFault // what is wrong with either, for Static and NewObject to tell
}

// Pod is the document as a pod, or nil when it is of another kind. It holds all
// that could be read: a filter can ask for whom a faulty pod is meant. Whether
// something is wrong with it Static says. Shared: read only.
func (d Document) Pod() *v1.Pod { return d.pod }

// IsObject reports a ConfigMap or a Secret. What is in it, and what is wrong
// with it, NewObject says.
func (d Document) IsObject() bool { return d.object.ConfigMap != nil || d.object.Secret != nil }

// At is the place of a field, or of the nearest one above it that the author
// wrote.
func (d Document) At(field string) Place {
	at := d.root.find(field)
	return Place{Unit: d.Place.Unit, Document: d.Place.Document, Line: at.line, Column: at.column, Field: field}
}

// Decode turns the bytes of a unit, YAML or JSON, into its documents; lists
// become a document for each item. Empty and comment-only documents are skipped.
// Documents that are neither pod nor object are for the caller to name.
//
// The faults are those of the unit and of the frame of its documents: bytes,
// syntax, limits, something that is no object, a missing or unknown kind. What
// is wrong inside a pod or an object (unknown fields, wrong types) is told by
// Static and NewObject, so that a caller can first find out whether it is meant
// for this node. No fault tells a value: it may be a secret. A unit
// without any document is at fault, unless it holds an explicit empty list.
func Decode(unit string, data []byte, lim Limits) ([]Document, []Fault) {
	data, fault := cleanText(unit, data, lim)
	if fault != nil {
		return nil, []Fault{*fault}
	}
	read := yamlTrees
	if looksLikeJSON(data) {
		read = jsonTrees
	}
	trees, faults := read(unit, data, lim)
	d := decoder{unit: unit, lim: lim, types: typeReader{}, faults: faults}
	for _, tree := range trees {
		d.document(tree, schema.GroupVersionKind{})
	}
	if len(trees) == 0 && len(d.faults) == 0 {
		d.fault(nil, "", "holds no manifest; to run nothing, remove it or write an empty List")
	}
	return d.documents, d.faults
}

type decoder struct {
	unit      string
	lim       Limits
	types     typeReader
	number    int // of the document at hand, broken ones counted
	documents []Document
	faults    []Fault
}

// maxFaults bounds what is told of one unit, beside what is told of each pod and
// object in it.
const maxFaults = 1000

func (d *decoder) fault(at *node, path, format string, args ...any) {
	if len(d.faults) >= maxFaults {
		return
	}
	place := Place{Unit: d.unit, Document: d.number, Field: path}
	if at != nil {
		place.Line, place.Column = at.line, at.column
	}
	d.faults = append(d.faults, Fault{Place: place, Message: fmt.Sprintf(format, args...)})
}

// document takes in one document, or one item of a list whose items may leave
// out their kind.
func (d *decoder) document(tree *node, implied schema.GroupVersionKind) {
	d.number++
	switch {
	case d.number > d.lim.Documents+1: // told once
		return
	case d.number > d.lim.Documents:
		d.fault(tree, "", "more than the limit of %d documents", d.lim.Documents)
		return
	case tree.kind != object:
		d.fault(tree, "", "not an object, but %s", tree.kind)
		return
	}
	if implied.Kind != "" {
		tree.setDefault("kind", implied.Kind)
		tree.setDefault("apiVersion", implied.GroupVersion().String())
	}
	gvk, ok := d.kindOf(tree)
	switch {
	case !ok:
	case isList(gvk):
		d.list(tree, gvk)
	default:
		d.take(tree, gvk)
	}
}

// kindOf is what kind of object a document is; the zero kind for an object
// that does not look like one of Kubernetes at all.
func (d *decoder) kindOf(tree *node) (schema.GroupVersionKind, bool) {
	foreign := len(tree.fields) > 0
	for _, key := range []string{"apiVersion", "kind", "metadata", "spec"} {
		foreign = foreign && tree.get(key) == nil
	}
	if foreign {
		return schema.GroupVersionKind{}, true
	}
	ok := true
	for _, key := range []string{"apiVersion", "kind"} {
		switch v := tree.get(key); {
		case v == nil || v.kind == null || v.kind == text && v.scalar == "":
			d.fault(tree, key, "missing")
			ok = false
		case v.kind != text:
			d.fault(v, key, "want a string, got %s", v.kind)
			ok = false
		}
	}
	if !ok {
		return schema.GroupVersionKind{}, false
	}
	return d.knownKind(tree)
}

// knownKind refuses what nobody can mean: a truncated kind: Po, kind: pod, or
// a Pod of another API. Of other groups every kind may exist.
func (d *decoder) knownKind(tree *node) (schema.GroupVersionKind, bool) {
	gv, err := schema.ParseGroupVersion(tree.getText("apiVersion"))
	if err != nil {
		d.fault(tree.get("apiVersion"), "apiVersion", "%q is no group and version", cut(tree.getText("apiVersion"), 60))
		return schema.GroupVersionKind{}, false
	}
	gvk := gv.WithKind(tree.getText("kind"))
	core := v1.SchemeGroupVersion
	if gv == core && !legacyscheme.Scheme.Recognizes(gvk) {
		d.fault(tree.get("kind"), "kind", "apiVersion v1 has no kind %q", cut(gvk.Kind, 60))
		return gvk, false
	}
	switch gvk.Kind {
	case "Pod", "PodList", "List", KindConfigMap, "ConfigMapList", KindSecret, "SecretList":
		if gv != core {
			d.fault(tree.get("apiVersion"), "apiVersion", "want v1 for kind %s", gvk.Kind)
			return gvk, false
		}
	}
	return gvk, true
}

func isList(gvk schema.GroupVersionKind) bool {
	return gvk.Group == "" && (gvk.Kind == "List" || itemKind(gvk.Kind) != "")
}

// itemKind is what a list of one kind holds, "" for any other kind.
func itemKind(list string) string {
	switch list {
	case "PodList", "ConfigMapList", "SecretList":
		return strings.TrimSuffix(list, "List")
	}
	return ""
}

// list takes in the items of a List, which may be lists again, or of a list of
// one kind, which need not say what they are.
func (d *decoder) list(tree *node, gvk schema.GroupVersionKind) {
	for _, f := range tree.fields {
		switch f.key {
		case "apiVersion", "kind", "metadata", "items":
		default:
			d.fault(&node{line: f.line, column: f.column}, f.key, "unknown field")
		}
	}
	for _, r := range tree.repeated {
		d.fault(&node{line: r.line, column: r.column}, r.key, "duplicate key, first at line %d", r.first)
	}
	items := tree.get("items")
	if items == nil || items.kind != list {
		d.fault(tree, "items", "want a list; for an empty set write []")
		return
	}
	implied := schema.GroupVersionKind{}
	if kind := itemKind(gvk.Kind); kind != "" {
		implied = v1.SchemeGroupVersion.WithKind(kind)
	}
	d.number-- // the items are the documents
	for _, item := range items.items {
		d.document(item, implied)
	}
}

func (d *decoder) take(tree *node, gvk schema.GroupVersionKind) {
	metadata := tree.get("metadata")
	doc := Document{
		Place:       Place{Unit: d.unit, Document: d.number, Line: tree.line, Column: tree.column},
		APIVersion:  gvk.GroupVersion().String(),
		Kind:        gvk.Kind,
		Namespace:   metadata.getText("namespace"),
		Name:        metadata.getText("name"),
		Nodes:       tree.size(),
		Labels:      metadata.get("labels").texts(),
		Annotations: metadata.get("annotations").texts(),
		root:        tree,
	}
	written, err := canonical(tree)
	if err != nil {
		d.fault(tree, "", "cannot be written as canonical JSON: a number too large")
		return
	}
	doc.Written = written
	d.read(&doc, gvk)
	d.documents = append(d.documents, doc)
}

// read makes of a document what it says it is.
func (d *decoder) read(doc *Document, gvk schema.GroupVersionKind) {
	switch gvk {
	case v1.SchemeGroupVersion.WithKind("Pod"):
		doc.pod = &v1.Pod{}
		doc.faults = d.types.read(doc.root, doc.pod, showAll)
	case v1.SchemeGroupVersion.WithKind(KindConfigMap):
		doc.object.ConfigMap = &v1.ConfigMap{}
		doc.faults = d.types.read(doc.root, doc.object.ConfigMap, showNames)
	case v1.SchemeGroupVersion.WithKind(KindSecret):
		doc.object.Secret = &v1.Secret{}
		doc.faults = d.types.read(doc.root, doc.object.Secret, showNames)
	}
}

// cut keeps what a message quotes short.
func cut(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
