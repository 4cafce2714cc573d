package events

import v1 "k8s.io/api/core/v1"

// Pod returns the reference of a pod.
func Pod(pod *v1.Pod) v1.ObjectReference {
	return v1.ObjectReference{}
}

// Container returns the reference of a container of a pod, with the kubelet's
// field path: spec.containers{name} or spec.initContainers{name}.
func Container(pod *v1.Pod, name string) v1.ObjectReference {
	return v1.ObjectReference{}
}

// Node returns the reference of a node.
func Node(name string) v1.ObjectReference { return v1.ObjectReference{} }

// Source returns the reference of a source by its configured name.
func Source(name string) v1.ObjectReference { return v1.ObjectReference{} }
