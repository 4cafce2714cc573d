package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	goruntime "runtime"
	"strings"

	"github.com/podstead/podstead/agent"
	"github.com/podstead/podstead/config"
	v1 "k8s.io/api/core/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// host is what the machine says of itself now.
type host struct {
	Hostname  string
	MachineID string // "" when the machine has none
}

// thisHost asks the machine.
func thisHost() (host, error) {
	name, err := os.Hostname()
	if err != nil {
		return host{}, fmt.Errorf("ask for the host name: %w", err)
	}
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		id = nil // a machine without one is never taken for another
	}
	return host{Hostname: name, MachineID: strings.TrimSpace(string(id))}, nil
}

// nodeLabels are the labels that manifests select by: those that every kubelet
// sets, and the configured ones, which win.
func nodeLabels(node string, configured map[string]string) map[string]string {
	labels := map[string]string{
		v1.LabelHostname:   node,
		v1.LabelOSStable:   goruntime.GOOS,
		v1.LabelArchStable: goruntime.GOARCH,
	}
	maps.Copy(labels, configured)
	return labels
}

// hostIPs is the address of the interface that has the default route, as the
// kubelet takes it; none on a machine without one.
func hostIPs() []string {
	ip, err := utilnet.ChooseHostInterface()
	if err != nil {
		return nil
	}
	return []string{ip.String()}
}

// reserved is what admission keeps from pods.
func reserved(c config.Config) agent.Claims {
	return agent.Claims{
		MilliCPU: c.KubeReserved.MilliCPU + c.SystemReserved.MilliCPU,
		Memory:   c.KubeReserved.Memory + c.SystemReserved.Memory,
	}
}

// pullLimits are the limits of image pulls: one at a time is the kubelet's other
// word for at most one.
func pullLimits(c config.Config) agent.PullLimits {
	limits := agent.PullLimits{AtOnce: c.MaxParallelImagePulls, QPS: c.RegistryQPS, Burst: c.RegistryBurst}
	if c.SerializeImagePulls {
		limits.AtOnce = 1
	}
	return limits
}

// engineHint is why the engine cannot be reached, with what helps where that is
// known.
func engineHint(err error) string {
	text := err.Error()
	if errors.Is(err, fs.ErrPermission) || strings.Contains(text, "permission denied") {
		text += "; run podstead as root, or join the group that owns the socket (usually docker)"
	}
	return text
}
