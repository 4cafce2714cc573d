package stats

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/podstead/podstead/runtime"
)

// Reading is a usage and when it was read. At has a monotonic clock: the time
// between two readings is right whatever is done to the machine's clock.
type Reading struct {
	runtime.Usage
	At time.Time
}

// Pair are two readings of one container. Before is nil when there was none.
type Pair struct {
	Before *Reading
	After  Reading
}

// Pod is what was read of one pod.
type Pod struct {
	*v1.Pod
	Containers map[string]Pair // by container name
	Sandbox    *Pair           // nil when it could not be read
}

// PodStats is the pod as the kubelet tells it: its own CPU and memory are those of
// all its containers and the sandbox. unlimited is the memory limit from which on
// there is none.
func PodStats(p Pod, unlimited uint64) statsapi.PodStats {
	out := statsapi.PodStats{
		PodRef:     statsapi.PodReference{Name: p.Name, Namespace: p.Namespace, UID: string(p.UID)},
		Containers: []statsapi.ContainerStats{},
	}
	if p.Status.StartTime != nil {
		out.StartTime = *p.Status.StartTime
	}
	var all []Pair
	for _, s := range containerStatuses(p.Pod) {
		pair, ok := p.Containers[s.Name]
		if !ok {
			continue
		}
		all = append(all, pair)
		c := statsapi.ContainerStats{Name: s.Name, CPU: cpu(pair), Memory: memory(pair, unlimited)}
		if s.State.Running != nil {
			c.StartTime = s.State.Running.StartedAt
		}
		out.Containers = append(out.Containers, c)
	}
	if p.Sandbox != nil {
		all = append(all, *p.Sandbox)
		out.Network = network(p.Sandbox.After)
	}
	if len(all) > 0 {
		out.CPU, out.Memory = sum(all)
	}
	return out
}

func containerStatuses(pod *v1.Pod) []v1.ContainerStatus {
	return append(append([]v1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...)
}

func cpu(p Pair) *statsapi.CPUStats {
	return &statsapi.CPUStats{
		Time: metav1.NewTime(p.After.At), UsageNanoCores: nanoCores(p), UsageCoreNanoSeconds: &p.After.CPU,
	}
}

// nanoCores is the rate between two readings, in billionths of a core. It is
// unknown, nil, when there are not two, or when the container was started anew
// between them and counts from 0 again.
func nanoCores(p Pair) *uint64 {
	if p.Before == nil || p.After.CPU < p.Before.CPU {
		return nil
	}
	apart := p.After.At.Sub(p.Before.At)
	if apart <= 0 {
		return nil
	}
	rate := uint64(float64(p.After.CPU-p.Before.CPU) / apart.Seconds())
	return &rate
}

func memory(p Pair, unlimited uint64) *statsapi.MemoryStats {
	u := p.After.Usage
	m := &statsapi.MemoryStats{
		Time: metav1.NewTime(p.After.At), UsageBytes: &u.Memory, WorkingSetBytes: &u.WorkingSet, RSSBytes: &u.RSS,
		PageFaults: &u.PageFaults, MajorPageFaults: &u.MajorPageFaults,
	}
	if u.MemoryLimit > 0 && u.MemoryLimit < unlimited {
		left := u.MemoryLimit - min(u.MemoryLimit, u.WorkingSet)
		m.AvailableBytes = &left
	}
	return m
}

// sum adds up; a rate that is unknown does not count.
func sum(pairs []Pair) (*statsapi.CPUStats, *statsapi.MemoryStats) {
	var all runtime.Usage
	var rate uint64
	var known bool
	var at time.Time
	for _, p := range pairs {
		u := p.After
		all.CPU += u.CPU
		all.Memory += u.Memory
		all.WorkingSet += u.WorkingSet
		all.RSS += u.RSS
		all.PageFaults += u.PageFaults
		all.MajorPageFaults += u.MajorPageFaults
		if r := nanoCores(p); r != nil {
			rate, known = rate+*r, true
		}
		if u.At.After(at) {
			at = u.At
		}
	}
	total := Pair{After: Reading{Usage: all, At: at}}
	c := cpu(total)
	if known {
		c.UsageNanoCores = &rate
	}
	return c, memory(total, 0)
}

// network tells the interfaces of a sandbox, eth0 as the default one.
func network(r Reading) *statsapi.NetworkStats {
	if len(r.Interfaces) == 0 {
		return nil
	}
	n := &statsapi.NetworkStats{Time: metav1.NewTime(r.At)}
	for _, i := range r.Interfaces {
		s := statsapi.InterfaceStats{Name: i.Name, RxBytes: &i.RxBytes, RxErrors: &i.RxErrors, TxBytes: &i.TxBytes, TxErrors: &i.TxErrors}
		if i.Name == "eth0" {
			n.InterfaceStats = s
		}
		n.Interfaces = append(n.Interfaces, s)
	}
	return n
}
