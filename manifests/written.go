package manifests

import (
	"encoding/json"

	"github.com/gowebpki/jcs"
)

// canonical is a tree as its author wrote it, in RFC 8785 canonical JSON with
// the members of objects that are null left out. Comments, key order, quoting
// and syntax leave no trace. It depends on the text alone, never on Go types.
func canonical(n *node) (json.RawMessage, error) {
	return jcs.Transform(n.appendJSON(nil, asWritten))
}
