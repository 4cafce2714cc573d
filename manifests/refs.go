package manifests

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// references are the objects that a pod names anywhere, in their order and each
// once.
func references(pod *v1.Pod) []ObjectRef {
	var refs []ObjectRef
	add := func(kind string) podutil.Visitor {
		return func(name string) bool {
			refs = append(refs, ObjectRef{kind, pod.Namespace, name})
			return true
		}
	}
	podutil.VisitPodConfigmapNames(pod, add(KindConfigMap))
	podutil.VisitPodSecretNames(pod, add(KindSecret))
	slices.SortFunc(refs, ObjectRef.compare)
	return slices.Compact(refs)
}
