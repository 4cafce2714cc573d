package manifests

// Options is what a document is made a static pod for.
type Options struct {
	Node Node
	Kind string // of the source: file, http, git
	Warn bool   // unknown fields are warnings, not faults
}

// Static makes a document a pod that the node can run.
func Static(doc Document, opts Options) (Pod, []Fault, []Fault) { return Pod{}, nil, nil }
