package events

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Kinds of objects that events are about.
const (
	KindPod    = "Pod"
	KindNode   = "Node"
	KindSource = "Source"
)

// Pod returns the reference of a pod.
func Pod(pod *v1.Pod) v1.ObjectReference {
	return v1.ObjectReference{
		APIVersion: "v1", Kind: KindPod,
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
	}
}

// Container returns the reference of a container of a pod, with the kubelet's
// field path: spec.containers{name} or spec.initContainers{name}.
func Container(pod *v1.Pod, name string) v1.ObjectReference {
	about := Pod(pod)
	list := "spec.containers"
	if slices.ContainsFunc(pod.Spec.InitContainers, func(c v1.Container) bool { return c.Name == name }) {
		list = "spec.initContainers"
	}
	about.FieldPath = list + "{" + name + "}"
	return about
}

// Node returns the reference of a node; as the kubelet has it, its UID is its name.
func Node(name string) v1.ObjectReference {
	return v1.ObjectReference{APIVersion: "v1", Kind: KindNode, Name: name, UID: types.UID(name)}
}

// Source returns the reference of a source by its configured name.
func Source(name string) v1.ObjectReference {
	return v1.ObjectReference{APIVersion: "podstead/v1alpha1", Kind: KindSource, Name: name}
}

// logKeys says in a log line's words what an event is about.
func logKeys(about v1.ObjectReference) []any {
	switch about.Kind {
	case KindSource:
		return []any{"source", about.Name}
	case KindNode:
		return []any{"node", about.Name}
	}
	keys := []any{"pod", about.Namespace + "/" + about.Name, "uid", string(about.UID)}
	if _, name, ok := strings.Cut(about.FieldPath, "{"); ok {
		keys = append(keys, "container", strings.TrimSuffix(name, "}"))
	}
	return keys
}
