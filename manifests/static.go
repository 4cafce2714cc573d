package manifests

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// Options is what a document is made a static pod for.
type Options struct {
	Node Node
	Kind string // of the source: file, http, git
	// Warn makes unknown and duplicate fields warnings instead of faults, as
	// kubectl --validate=warn does; they are ignored then.
	Warn bool
}

// Static makes a document a pod that the node can run: with Kubernetes'
// defaults, the kubelet's rules for static pods, our identity, and validated by
// Kubernetes' own code. With any fault the pod is not to be run. Each fault and
// each warning has its place in the document as its author wrote it.
//
// Whether a privileged container is valid is for the caller to say, through
// k8s.io/kubernetes/pkg/capabilities, before the first call.
func Static(doc Document, opts Options) (pod Pod, warnings, faults []Fault) {
	s := static{telling{doc: doc, opts: opts}}
	if doc.pod == nil {
		s.fault(typeFault{message: fmt.Sprintf("kind %s is not run", doc.Kind)})
		return Pod{}, nil, s.faults
	}
	s.tellTypes()
	s.tellSupport()
	if len(s.faults) == 0 { // what Kubernetes says of a pod that is only half read would mislead
		pod = Pod{Pod: s.make(), Written: doc.Written, Place: doc.Place}
		pod.Refs = references(pod.Pod)
		s.tellInvalid(pod.Pod)
		s.tellImages(pod.Pod)
	}
	s.sort()
	if len(s.faults) > 0 {
		return Pod{}, s.warnings, s.faults
	}
	return pod, s.warnings, nil
}

// static is the making of one pod.
type static struct{ telling }

func (s *static) tellSupport() {
	c := checkSupport(s.doc.root)
	c.checkAnnotations(s.doc.root.get("metadata").get("annotations"))
	s.tellChecked(c)
}

// make is the pod as the kubelet's static pod rules have it (its
// config.applyDefaults), except for the UID, and without config.seen, which
// would make two readings of one manifest differ.
func (s *static) make() *v1.Pod {
	node, _ := NodeName(s.opts.Node.Name)
	pod := s.doc.pod.DeepCopy()
	pod.ObjectMeta = metav1.ObjectMeta{
		Name:        pod.Name,
		Namespace:   pod.Namespace,
		Labels:      pod.Labels,
		Annotations: pod.Annotations,
	}
	legacyscheme.Scheme.Default(pod)
	uid, err := identity(s.doc, node)
	if err != nil {
		s.fault(typeFault{line: s.doc.Place.Line, column: s.doc.Place.Column, message: err.Error()})
	}
	pod.UID = uid
	if pod.Name != "" {
		pod.Name += "-" + node
	}
	if pod.Namespace == "" {
		pod.Namespace = metav1.NamespaceDefault
	}
	pod.Spec.NodeName = node
	pod.Spec.ServiceAccountName, pod.Spec.DeprecatedServiceAccount = "", ""
	s.annotate(pod)
	if s.opts.Kind == "file" {
		tolerateNoExecute(pod)
	}
	pod.Status = v1.PodStatus{Phase: v1.PodPending}
	return pod
}

func (s *static) annotate(pod *v1.Pod) {
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	delete(pod.Annotations, annotationSeen)
	pod.Annotations[annotationHash] = string(pod.UID)
	pod.Annotations[annotationSource] = s.opts.Kind
}

// tolerateNoExecute keeps pods of files on a node in trouble, as the kubelet does.
func tolerateNoExecute(pod *v1.Pod) {
	toleration := v1.Toleration{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute}
	for _, t := range pod.Spec.Tolerations {
		if t.MatchToleration(&toleration) && t.Effect == toleration.Effect {
			return
		}
	}
	pod.Spec.Tolerations = append(pod.Spec.Tolerations, toleration)
}

func (s *static) tellInvalid(pod *v1.Pod) {
	if pod.Name == "" {
		at := s.doc.root.find("metadata")
		s.fault(typeFault{line: at.line, column: at.column, path: "metadata.name", message: "missing: a static pod needs a name of its own"})
		return
	}
	errs, err := validate(pod)
	if err != nil {
		s.fault(typeFault{line: s.doc.Place.Line, column: s.doc.Place.Column, message: err.Error()})
	}
	for _, e := range errs {
		at := s.doc.root.find(e.Field)
		s.fault(typeFault{line: at.line, column: at.column, path: e.Field, message: describe(e)})
	}
}
