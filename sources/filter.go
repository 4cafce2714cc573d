package sources

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/podstead/podstead/manifests"
)

// nodeObject is the node as Kubernetes' own selector code wants to see it, under
// its name as a node name has to be written.
func nodeObject(node manifests.Node) *v1.Node {
	name, _ := manifests.NodeName(node.Name)
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   name,
		Labels: node.Labels,
	}}
}

// elsewhere tells why a pod, as its author wrote it, is not for this node: its
// node name, node selector or required node affinity says so. "" means that it
// is. An error means that its affinity can't be read, which is a fault of the
// document wherever it was meant to run.
func elsewhere(pod *v1.Pod, node *v1.Node) (reason string, err error) {
	if written := pod.Spec.NodeName; written != "" {
		if name, _ := manifests.NodeName(written); name != node.Name {
			return fmt.Sprintf("nodeName is %s", written), nil
		}
	}
	if reason := unselected(pod.Spec.NodeSelector, node.Labels); reason != "" {
		return reason, nil
	}
	match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	if err != nil {
		return "", fmt.Errorf("read required node affinity: %w", err)
	}
	if !match {
		return "required node affinity does not match this node's labels or name", nil
	}
	return "", nil
}

// objectElsewhere tells why an object, as its author wrote it, is not for this
// node. "" means that it is, or that its selector can't be read, which is a fault
// of the object on every node.
func objectElsewhere(doc manifests.Document, node *v1.Node) (reason string) {
	selector, ok := doc.Annotations[manifests.AnnotationNodeSelector]
	if !ok {
		return ""
	}
	wanted, err := labels.Parse(selector)
	if err != nil || wanted.Matches(labels.Set(node.Labels)) {
		return ""
	}
	return fmt.Sprintf("%s wants %s, which this node's labels do not match", manifests.AnnotationNodeSelector, wanted)
}

// unselected names the first label of a node selector that the node lacks.
func unselected(selector, have map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		want := selector[key]
		switch value, ok := have[key]; {
		case !ok:
			return fmt.Sprintf("nodeSelector wants %s=%s, this node has no such label", key, want)
		case value != want:
			return fmt.Sprintf("nodeSelector wants %s=%s, this node has %s", key, want, value)
		}
	}
	return ""
}
