package podspec

import (
	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// The kernel's units of CPU time, as the kubelet uses them.
const (
	sharesPerCPU = 1024
	minShares    = 2
	maxShares    = 262144
	quotaPeriod  = 100_000 // microseconds
	minQuota     = 1_000   // microseconds; the kernel takes no less
)

// resources are a container's limits in the engine's units. The CPU request
// weighs it against others, and a limit without a request is both.
func resources(c *v1.Container) runtime.Resources {
	request, limit := c.Resources.Requests.Cpu().MilliValue(), c.Resources.Limits.Cpu().MilliValue()
	if _, asked := c.Resources.Requests[v1.ResourceCPU]; !asked {
		request = limit
	}
	r := runtime.Resources{
		CPUShares: cpuShares(request),
		CPUQuota:  cpuQuota(limit),
		Memory:    c.Resources.Limits.Memory().Value(),
	}
	if r.CPUQuota > 0 {
		r.CPUPeriod = quotaPeriod
	}
	return r
}

// cpuShares is the kubelet's MilliCPUToShares.
func cpuShares(milli int64) int64 {
	return min(max(milli*sharesPerCPU/1000, minShares), maxShares)
}

// cpuQuota is the kubelet's MilliCPUToQuota for its period; 0 is no limit.
func cpuQuota(milli int64) int64 {
	if milli == 0 {
		return 0
	}
	return max(milli*quotaPeriod/1000, minQuota)
}
