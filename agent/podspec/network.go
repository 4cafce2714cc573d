package podspec

import (
	"cmp"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

const (
	defaultDomain  = "cluster.local"
	hostnameLength = 63 // what the kernel takes, less the final zero
)

// hostname is spec.hostname, else the pod's name, cut to what a kernel takes as
// the kubelet cuts it: no dash or dot is left at the end.
func hostname(pod *v1.Pod) string {
	name := cmp.Or(pod.Spec.Hostname, pod.Name)
	if len(name) <= hostnameLength {
		return name
	}
	return strings.TrimRight(name[:hostnameLength], "-.")
}

// names are those under which other pods find this one: by its full name, and
// by its name as written, which a node's manifest bears on every node. All end
// in the pod's namespace, so that none can take another's.
func names(pod *v1.Pod, n Node) []string {
	domain := cmp.Or(n.Domain, defaultDomain)
	all := []string{fmt.Sprintf("%s.%s.pod.%s", pod.Name, pod.Namespace, domain)}
	if written, ok := strings.CutSuffix(pod.Name, "-"+n.Name); ok && n.Name != "" {
		all = append(all, fmt.Sprintf("%s.%s.%s.pod.%s", written, n.Name, pod.Namespace, domain))
	}
	return all
}

// HostPorts returns the ports that a pod takes on the host, in the order
// written: those of its regular containers, then those of its sidecars. On the
// host's network they are taken by the processes themselves.
func HostPorts(pod *v1.Pod) []runtime.PortMapping {
	var all []runtime.PortMapping
	for i := range pod.Spec.Containers {
		all = appendPorts(all, pod.Spec.Containers[i].Ports)
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways {
			all = appendPorts(all, c.Ports)
		}
	}
	return all
}

func appendPorts(all []runtime.PortMapping, ports []v1.ContainerPort) []runtime.PortMapping {
	for _, p := range ports {
		if p.HostPort == 0 {
			continue
		}
		all = append(all, runtime.PortMapping{
			Protocol:      cmp.Or(string(p.Protocol), string(v1.ProtocolTCP)),
			HostIP:        p.HostIP,
			HostPort:      p.HostPort,
			ContainerPort: p.ContainerPort,
		})
	}
	return all
}
