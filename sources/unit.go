package sources

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/manifests"
)

// UnsupportedKinds is what a source does with documents of kinds that podstead
// does not run.
type UnsupportedKinds string

// The policies for kinds that are not run.
const (
	UnsupportedWarn   UnsupportedKinds = "warn"   // named once, the rest goes on (default)
	UnsupportedStrict UnsupportedKinds = "strict" // a fault of the unit
)

// unitReader turns the bytes of one unit into what they mean on this node.
type unitReader struct {
	source      string
	kind        Kind
	node        manifests.Node
	limits      manifests.Limits
	unsupported UnsupportedKinds
	warn        bool // unknown fields are warnings
}

// version is what a unit says at one time.
type version struct {
	// unit names the version and what is wrong with it.
	unit Unit
	// pods of this node in document order; none when there is a fault.
	pods []Pod
	// data as received, kept for the last good set; none when there is a fault.
	data []byte
	sum  digest
}

// digest is the SHA-256 of a unit's bytes.
type digest [sha256.Size]byte

// revision names content by the first 12 hex digits of its digest.
func (d digest) revision() string { return "sha256:" + hex.EncodeToString(d[:6]) }

func (v *version) faulty() bool { return len(v.unit.Faults) > 0 }

// read decodes a unit, leaves out what is for other nodes, and makes the rest
// pods. Any fault in a document of this node is the whole unit's: it then has
// no pods. Faults in documents of other nodes are warnings here. sum is the
// digest of data.
func (r unitReader) read(name string, data []byte, sum digest) *version {
	docs, faults := manifests.Decode(name, data, r.limits)
	v := &version{unit: Unit{Name: name, Revision: sum.revision(), Faults: faults}, data: data, sum: sum}
	node := nodeObject(r.node)
	for _, doc := range docs {
		r.readDocument(v, doc, node)
	}
	if v.faulty() {
		v.pods, v.data = nil, nil
	}
	return v
}

// readDocument adds what one document says to v.
func (r unitReader) readDocument(v *version, doc manifests.Document, node *v1.Node) {
	if doc.Pod() == nil {
		r.readOther(v, doc)
		return
	}
	pod, warnings, faults := manifests.Static(doc, manifests.Options{
		Node: r.node, Kind: string(r.kind), Warn: r.warn,
	})
	reason, err := elsewhere(doc.Pod(), node)
	if reason != "" {
		v.unit.Skipped = append(v.unit.Skipped, Skipped{
			Place: doc.Place, Kind: doc.Kind, Name: writtenName(doc), Reason: reason,
		})
		v.unit.Warnings = append(v.unit.Warnings, faults...)
		return
	}
	if err != nil && len(faults) == 0 {
		faults = []manifests.Fault{{Place: doc.Place, Message: err.Error()}}
	}
	v.unit.Warnings = append(v.unit.Warnings, warnings...)
	v.unit.Faults = append(v.unit.Faults, faults...)
	if len(faults) == 0 {
		v.pods = append(v.pods, Pod{Pod: pod, Origin: r.origin(v, doc)})
	}
}

// readOther names a document of a kind that is not run.
func (r unitReader) readOther(v *version, doc manifests.Document) {
	f := manifests.Fault{Place: doc.Place, Message: fmt.Sprintf("kind %s of %s is not supported", doc.Kind, doc.APIVersion)}
	if doc.Kind == "" {
		f.Message = "not supported: this is no Kubernetes object"
	}
	if r.unsupported == UnsupportedStrict {
		v.unit.Faults = append(v.unit.Faults, f)
		return
	}
	v.unit.Warnings = append(v.unit.Warnings, f)
}

func (r unitReader) origin(v *version, doc manifests.Document) Origin {
	return Origin{
		Source: r.source, Kind: r.kind, Unit: v.unit.Name,
		Document: doc.Place.Document, Line: doc.Place.Line, Revision: v.unit.Revision,
	}
}

// writtenName is namespace/name as the author wrote them.
func writtenName(doc manifests.Document) string {
	namespace := doc.Namespace
	if namespace == "" {
		namespace = v1.NamespaceDefault
	}
	return namespace + "/" + doc.Name
}
