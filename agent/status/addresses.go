package status

import (
	"net/netip"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// setAddresses fills in the node's addresses and the pod's: its running
// sandbox's, else those it had, as the kubelet keeps showing the address of a
// pod that ended; on the host's network the node's.
func setAddresses(in Input, s *v1.PodStatus) {
	for _, ip := range onePerFamily(in.HostIPs) {
		s.HostIPs = append(s.HostIPs, v1.HostIP{IP: ip})
	}
	if len(s.HostIPs) > 0 {
		s.HostIP = s.HostIPs[0].IP
	}
	for _, ip := range podIPs(in) {
		s.PodIPs = append(s.PodIPs, v1.PodIP{IP: ip})
	}
	if len(s.PodIPs) > 0 {
		s.PodIP = s.PodIPs[0].IP
	}
}

func podIPs(in Input) []string {
	if in.Pod.Spec.HostNetwork {
		return onePerFamily(in.HostIPs)
	}
	if newest, ok := in.Observed.Sandbox(); ok && newest.State == runtime.StateRunning && len(newest.IPs) > 0 {
		return onePerFamily(newest.IPs)
	}
	var before []string
	for _, ip := range in.Previous.PodIPs {
		before = append(before, ip.IP)
	}
	return before
}

// onePerFamily keeps the first address of each family, in the order given.
func onePerFamily(ips []string) []string {
	var kept []string
	var v4, v6 bool
	for _, text := range ips {
		ip, err := netip.ParseAddr(text)
		if err != nil {
			continue
		}
		seen := &v6
		if ip.Unmap().Is4() {
			seen = &v4
		}
		if !*seen {
			*seen = true
			kept = append(kept, ip.String())
		}
	}
	return kept
}
