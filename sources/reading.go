package sources

import (
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/manifests"
)

// reading is a unit on its way to a version. One goroutine uses it, once.
type reading struct {
	unitReader
	version *version
	here    *v1.Node // this node
	within  string   // file at hand, where the unit is a commit
	// documents counts those of all files, other nodes' included; expanded is
	// what they are long with their aliases written out.
	documents int
	expanded  int
}

func (r unitReader) begin(v *version) *reading {
	return &reading{unitReader: r, version: v, here: nodeObject(r.node)}
}

// end takes away what a unit at fault must not have.
func (g *reading) end() *version {
	if g.version.faulty() {
		g.version.pods, g.version.objects, g.version.data = nil, nil, nil
	}
	return g.version
}

// file adds what the bytes of a file or body say, whose places are named so.
func (g *reading) file(name string, data []byte) {
	docs, faults := manifests.Decode(name, data, g.limits)
	g.blame(faults...)
	g.documents += len(docs)
	for _, doc := range docs {
		g.expanded += len(doc.Written)
		g.document(doc)
	}
}

func (g *reading) document(doc manifests.Document) {
	if doc.Pod() == nil {
		g.other(doc)
		return
	}
	g.pod(doc)
}

func (g *reading) pod(doc manifests.Document) {
	pod, warnings, faults := manifests.Static(doc, g.options())
	reason, err := elsewhere(doc.Pod(), g.here)
	if reason != "" {
		g.skip(doc, reason, faults)
		return
	}
	if err != nil && len(faults) == 0 {
		faults = []manifests.Fault{{Place: doc.Place, Message: err.Error()}}
	}
	g.warned(warnings...)
	g.blame(faults...)
	if len(faults) == 0 {
		g.version.pods = append(g.version.pods, Pod{Pod: pod, Origin: g.origin(doc)})
	}
}

// other names a document of a kind that is not run.
func (g *reading) other(doc manifests.Document) {
	f := manifests.Fault{Place: doc.Place, Message: fmt.Sprintf("kind %s of %s is not supported", doc.Kind, doc.APIVersion)}
	if doc.Kind == "" {
		f.Message = "not supported: this is no Kubernetes object"
	}
	if g.unsupported == UnsupportedStrict {
		g.blame(f)
		return
	}
	g.warned(f)
}

// skip lists a document that is for another node; what is wrong with it is no
// fault here.
func (g *reading) skip(doc manifests.Document, reason string, faults []manifests.Fault) {
	g.version.unit.Skipped = append(g.version.unit.Skipped, Skipped{
		Place: doc.Place, Kind: doc.Kind, Name: writtenName(doc), Reason: reason,
	})
	g.warned(faults...)
}

func (g *reading) blame(faults ...manifests.Fault) {
	g.version.unit.Faults = append(g.version.unit.Faults, faults...)
}

func (g *reading) warned(warnings ...manifests.Fault) {
	g.version.unit.Warnings = append(g.version.unit.Warnings, warnings...)
}

func (g *reading) options() manifests.Options {
	return manifests.Options{Node: g.node, Kind: string(g.kind), Warn: g.warn}
}

func (g *reading) origin(doc manifests.Document) Origin {
	return Origin{
		Source: g.source, Kind: g.kind, Unit: g.version.unit.Name, File: g.within,
		Document: doc.Place.Document, Line: doc.Place.Line, Revision: g.version.unit.Revision,
	}
}
