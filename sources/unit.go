package sources

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

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

// check refuses what is no policy; "" is the default.
func (u UnsupportedKinds) check() error {
	switch u {
	case "", UnsupportedWarn, UnsupportedStrict:
		return nil
	}
	return fmt.Errorf("unsupportedKinds %q is neither %s nor %s", u, UnsupportedWarn, UnsupportedStrict)
}

// unitReader turns the bytes of one unit into what they mean on this node.
type unitReader struct {
	source      string
	kind        Kind
	node        manifests.Node
	limits      manifests.Limits // of a file, or of a unit that is one body
	unsupported UnsupportedKinds
	warn        bool   // unknown fields are warnings
	policy      Policy // what pods may ask for; "" for the default of the kind
	// paths are those that no pod may mount; nil for none.
	paths *NodePaths
}

// version is what a unit says at one time.
type version struct {
	// unit names the version and what is wrong with it.
	unit Unit
	// pods of this node in document order; none when there is a fault.
	pods []Pod
	// objects of this node in document order, each name once; none when there is
	// a fault.
	objects []Object
	// data as received, kept for the last good set; none when there is a fault,
	// and none of a unit of many files.
	data []byte
	sum  digest
}

// digest is the SHA-256 of a unit's bytes.
type digest [sha256.Size]byte

// revision names content by the first 12 hex digits of its digest.
func (d digest) revision() string { return "sha256:" + hex.EncodeToString(d[:6]) }

// Problems are the unit's faults, which say of what revision they are where it is
// not plain from the place.
func (u Unit) Problems() []manifests.Fault {
	if u.Newest == "" {
		return u.Faults
	}
	all := slices.Clone(u.Faults)
	for i := range all {
		all[i].Message += " (at " + shortRevision(u.Newest) + ")"
	}
	return all
}

// shortRevision is a revision as people name it: a commit by its first digits.
func shortRevision(revision string) string {
	const commit, shown = 40, 7
	if len(revision) >= commit && strings.Trim(revision, "0123456789abcdef") == "" {
		return revision[:shown]
	}
	return revision
}

func (v *version) faulty() bool { return len(v.unit.Faults) > 0 }

// read decodes a unit, leaves out what is for other nodes, and makes the rest
// pods and objects. Any fault in a document of this node is the whole unit's: it
// then has neither. Faults in documents of other nodes are warnings here. sum is
// the digest of data.
func (r unitReader) read(name string, data []byte, sum digest) *version {
	v := &version{unit: Unit{Name: name, Revision: sum.revision()}, data: data, sum: sum}
	g := r.begin(v)
	g.file(name, data)
	return g.end()
}

// writtenName is namespace/name as the author wrote them.
func writtenName(doc manifests.Document) string {
	namespace := doc.Namespace
	if namespace == "" {
		namespace = v1.NamespaceDefault
	}
	return namespace + "/" + doc.Name
}
