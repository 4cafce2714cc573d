// Package podspec turns the words of a manifest into what an engine is asked
// for. A pod, and the things a worker has looked up for it (image, volumes,
// sandbox), come in; fully resolved configurations come out. All of it is pure.
package podspec

import (
	"maps"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// Node is what a configuration needs to know of the node.
type Node struct {
	Name   string // lower-cased, as in the pods' full names
	Domain string // cluster domain; "" for cluster.local
}

// Sandbox returns the sandbox of the given attempt of a pod.
func Sandbox(pod *v1.Pod, attempt int, n Node) runtime.SandboxConfig {
	c := runtime.SandboxConfig{
		Pod:         ref(pod),
		Attempt:     attempt,
		Labels:      maps.Clone(pod.Labels),
		HostNetwork: pod.Spec.HostNetwork,
		HostPID:     pod.Spec.HostPID,
		HostIPC:     pod.Spec.HostIPC,
		SharePID:    sharePID(pod),
		User:        sandboxUser(pod),
		Seccomp:     seccompDefault,
	}
	if !pod.Spec.HostNetwork {
		c.Hostname = hostname(pod)
		c.Names = names(pod, n)
		c.Ports = HostPorts(pod)
	}
	return c
}

func ref(pod *v1.Pod) runtime.PodRef {
	return runtime.PodRef{UID: string(pod.UID), Namespace: pod.Namespace, Name: pod.Name}
}

// sharePID reports that the containers join the sandbox's PID namespace; the
// host's has precedence.
func sharePID(pod *v1.Pod) bool {
	return !pod.Spec.HostPID && pod.Spec.ShareProcessNamespace != nil && *pod.Spec.ShareProcessNamespace
}

// sandboxUser is the pod's user for the pause process, so that processes of the
// pod may signal it. A group alone says nothing here: the pause image has no
// user to add it to.
func sandboxUser(pod *v1.Pod) string {
	sc := pod.Spec.SecurityContext
	if sc == nil || sc.RunAsUser == nil {
		return ""
	}
	return userAndGroup(decimal(*sc.RunAsUser), sc.RunAsGroup)
}
