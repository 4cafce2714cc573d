// Package podspec turns the words of a manifest into what an engine is asked
// for. A pod, and the things a worker has looked up for it (image, volumes,
// sandbox), come in; fully resolved configurations come out. All of it is pure.
package podspec

import (
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
	return runtime.SandboxConfig{}
}

// HostPorts returns the ports a pod publishes on the host, in the order written.
func HostPorts(pod *v1.Pod) []runtime.PortMapping { return nil }
