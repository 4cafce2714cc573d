package manifests

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"
)

// Limits bound what a unit may cost, whatever its bytes say.
type Limits struct {
	Bytes     int64 // of the unit
	Depth     int   // of nesting
	Nodes     int   // of the tree, aliases expanded
	Documents int   // items of lists included
}

// DefaultLimits are those of a manifest file.
func DefaultLimits() Limits {
	return Limits{Bytes: 1 << 20, Depth: 100, Nodes: 250_000, Documents: 1000}
}

// Document is one document of a unit, or one item of a list in it, as its
// author wrote it: strictly decoded, nothing defaulted.
type Document struct {
	Place       Place
	APIVersion  string
	Kind        string
	Namespace   string
	Name        string
	Labels      map[string]string
	Annotations map[string]string
	Written     json.RawMessage

	pod *v1.Pod
}

// Pod is the document as a pod, or nil when it is of another kind.
func (d Document) Pod() *v1.Pod { return d.pod }

// Decode turns a unit into its documents.
func Decode(unit string, data []byte, lim Limits) ([]Document, []Fault) { return nil, nil }
