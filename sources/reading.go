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
	nodes     int          // values and keys of what is for this node
	check     *PolicyCheck // of the pods' policy; nil until there is a pod
	named     map[manifests.ObjectRef]manifests.Place
	claimed   map[fullName]manifests.Place // by pods
}

func (r unitReader) begin(v *version) *reading {
	if r.policy == "" {
		r.policy = DefaultPolicy(r.kind)
	}
	return &reading{unitReader: r, version: v, here: nodeObject(r.node), named: map[manifests.ObjectRef]manifests.Place{}, claimed: map[fullName]manifests.Place{}}
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
	switch {
	case doc.Pod() != nil:
		g.pod(doc)
	case doc.IsObject():
		g.object(doc)
	default:
		g.other(doc)
	}
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
	if len(faults) == 0 {
		faults = g.forbidden(doc, pod.Pod)
	}
	g.warned(warnings...)
	g.blame(faults...)
	if len(faults) == 0 {
		g.claim(doc, Pod{Pod: pod, Origin: g.origin(doc)})
	}
}

// claim adds a pod, and warns when an earlier one of the unit has its name. It
// stays in the version: which of two runs is decided over all sources.
func (g *reading) claim(doc manifests.Document, pod Pod) {
	g.nodes += doc.Nodes
	g.version.pods = append(g.version.pods, pod)
	name := fullName{pod.Namespace, pod.Name}
	if first, taken := g.claimed[name]; taken {
		g.warned(manifests.Fault{Place: doc.Place, Message: fmt.Sprintf("Pod %s is not run: the one at %s has its name", pod.FullName(), first)})
		return
	}
	g.claimed[name] = doc.Place
}

// forbidden says what a pod may not do, coming from this source.
func (g *reading) forbidden(doc manifests.Document, pod *v1.Pod) []manifests.Fault {
	var faults []manifests.Fault
	if why := g.violation(pod); why != "" {
		faults = append(faults, manifests.Fault{Place: doc.Place, Message: why})
	}
	for i, volume := range pod.Spec.Volumes {
		if volume.HostPath == nil {
			continue
		}
		if why := g.paths.Forbids(volume.HostPath.Path); why != "" {
			faults = append(faults, manifests.Fault{
				Place:   doc.At(fmt.Sprintf("spec.volumes[%d].hostPath.path", i)),
				Message: why + "; set allowNodeControl: true on this source if you mean it",
			})
		}
	}
	return faults
}

func (g *reading) violation(pod *v1.Pod) string {
	if g.policy == PolicyPrivileged {
		return ""
	}
	if g.check == nil {
		check, err := NewPolicyCheck(g.policy)
		if err != nil {
			return err.Error()
		}
		g.check = check
	}
	return g.check.Violation(pod)
}

func (g *reading) object(doc manifests.Document) {
	object, warnings, faults := manifests.NewObject(doc, g.options())
	if reason := objectElsewhere(doc, g.here); reason != "" {
		g.skip(doc, reason, faults)
		return
	}
	g.warned(warnings...)
	g.blame(faults...)
	if len(faults) == 0 {
		g.keep(doc, object)
	}
}

// keep adds an object, unless another one of the unit has its name.
func (g *reading) keep(doc manifests.Document, object *manifests.Object) {
	ref := object.Ref()
	if first, taken := g.named[ref]; taken {
		g.warned(manifests.Fault{Place: doc.Place, Message: fmt.Sprintf("%s is not used: the one at %s has its name", ref, first)})
		return
	}
	g.named[ref] = doc.Place
	g.nodes += doc.Nodes
	g.version.objects = append(g.version.objects, Object{Object: object, Origin: g.origin(doc)})
}

// other names a document of a kind that is not run.
func (g *reading) other(doc manifests.Document) {
	f := manifests.Fault{Place: doc.Place, Message: NotRun(doc)}
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
	g.version.unit.Faults = told(g.version.unit, g.version.unit.Faults, faults)
}

func (g *reading) warned(warnings ...manifests.Fault) {
	g.version.unit.Warnings = told(g.version.unit, g.version.unit.Warnings, warnings)
}

// maxTold bounds the faults and the warnings that a unit keeps: as many as anybody
// mends at once.
const maxTold = 1000

// told adds to what is told of a unit; past the bound it says that there is more.
func told(unit Unit, before, more []manifests.Fault) []manifests.Fault {
	switch room := maxTold - len(before); {
	case len(more) <= room:
		return append(before, more...)
	case room < 0: // said already
		return before
	default:
		return append(append(before, more[:room]...), manifests.Fault{
			Place: manifests.Place{Unit: unit.Name}, Message: fmt.Sprintf("more than %d: the rest is not told", maxTold),
		})
	}
}

func (g *reading) options() manifests.Options {
	return manifests.Options{Node: g.node, Kind: string(g.kind), Warn: g.warn}
}

func (g *reading) origin(doc manifests.Document) Origin {
	return Origin{
		Source: g.source, Kind: g.kind, Unit: g.version.unit.Name, File: g.within,
		Document: doc.Place.Document, Line: doc.Place.Line, Revision: g.version.unit.Revision,
		NodeControl: g.paths == nil,
	}
}
