package agent

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/resource"

	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/sources"
)

// NodeFacts is what admission judges against.
type NodeFacts struct {
	OS           string
	Architecture string
	MilliCPU     int64
	Memory       int64 // bytes
	MaxPods      int
}

// holds takes over what the engine's machine has, without what is reserved: what a
// kubelet calls allocatable.
func (n *NodeFacts) holds(engine runtime.Engine, cfg Config) {
	n.MilliCPU = max(int64(engine.CPUs)*1000-cfg.Reserved.MilliCPU, 0)
	n.Memory = max(engine.Memory-cfg.Reserved.Memory, 0)
	n.MaxPods = cfg.MaxPods
	if cfg.PodsPerCore > 0 {
		n.MaxPods = min(n.MaxPods, cfg.PodsPerCore*engine.CPUs)
	}
}

// Claims is what a pod takes from the node, computed once per pod.
type Claims struct {
	MilliCPU int64
	Memory   int64 // bytes
	Ports    []runtime.PortMapping
}

// claimsOf reads a pod's claims. Requests are counted as the scheduler and the
// kubelet count them: init containers as a maximum, regular ones as a sum.
func claimsOf(pod *v1.Pod, ports []runtime.PortMapping) Claims {
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
	return Claims{MilliCPU: atMost(requests.Cpu(), quantity.Milli), Memory: atMost(requests.Memory(), 0), Ports: ports}
}

// Candidate is one full name that wants to run.
type Candidate struct {
	Pod    sources.Pod
	Claims Claims
	// Runs: this very pod is on the node already. It is counted and never refused.
	Runs bool
	// Holds is what the predecessor takes, which goes on serving if Pod is refused.
	Holds *Claims
	// Since is the start time in the record of the pod or of its predecessor; zero for a newcomer.
	Since time.Time
}

// Refusal is why a pod does not fit, in the kubelet's words.
type Refusal struct {
	Reason  string
	Message string
}

// Admit judges the desired set: pods that run first, then pods with a record by
// their start time, then by (source, unit, document) as the source order gives
// it, so that a newcomer never takes what an older pod has. A successor stands
// in for its predecessor. It returns the refused, by full name.
func Admit(candidates []Candidate, node NodeFacts, order map[string]int) map[string]Refusal {
	sorted := slices.Clone(candidates)
	slices.SortStableFunc(sorted, func(a, b Candidate) int { return compareCandidates(a, b, order) })

	refused := map[string]Refusal{}
	taken := tally{ports: map[portKey][]portHolder{}}
	for _, c := range sorted {
		name := c.Pod.FullName()
		if !c.Runs {
			if refusal, no := taken.refuses(c, node); no {
				refused[name] = refusal
				if c.Holds != nil {
					taken.add(name, *c.Holds)
				}
				continue
			}
		}
		taken.add(name, c.Claims)
	}
	return refused
}

func compareCandidates(a, b Candidate, order map[string]int) int {
	return cmp.Or(
		compareBool(a.Runs, b.Runs),
		compareBool(!a.Since.IsZero(), !b.Since.IsZero()),
		a.Since.Compare(b.Since),
		cmp.Compare(order[a.Pod.Origin.Source], order[b.Pod.Origin.Source]),
		cmp.Compare(a.Pod.Origin.Unit, b.Pod.Origin.Unit),
		cmp.Compare(a.Pod.Origin.Document, b.Pod.Origin.Document),
		cmp.Compare(a.Pod.FullName(), b.Pod.FullName()),
	)
}

// atMost is a quantity in the given scale, and 2^52 for all that is beyond it
// (4 PiB): the quantity's own conversion and the sum over a node's pods would
// overflow, and an absurd request would then fit.
func atMost(q *quantity.Quantity, scale quantity.Scale) int64 {
	const most = 1 << 52
	if q.Cmp(*quantity.NewScaledQuantity(most, scale)) > 0 {
		return most
	}
	return q.ScaledValue(scale)
}

// compareBool sorts true first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// tally is what the pods admitted so far take.
type tally struct {
	pods     int
	milliCPU int64
	memory   int64
	ports    map[portKey][]portHolder
}

type portHolder struct {
	name string
	port runtime.PortMapping
}

func (t *tally) add(name string, c Claims) {
	t.pods++
	t.milliCPU += c.MilliCPU
	t.memory += c.Memory
	for _, p := range c.Ports {
		t.ports[keyOf(p)] = append(t.ports[keyOf(p)], portHolder{name, p})
	}
}

// refuses asks in the kubelet's order (predicates of lifecycle.PodAdmitHandler):
// operating system, pod count, resources, host ports; the first no is told.
func (t *tally) refuses(c Candidate, node NodeFacts) (Refusal, bool) {
	if refusal, no := wrongPlatform(c.Pod.Pod.Pod, node); no {
		return refusal, true
	}
	if t.pods >= node.MaxPods {
		return outOf("pods", 1, int64(t.pods), int64(node.MaxPods)), true
	}
	if c.Claims.MilliCPU > 0 && t.milliCPU+c.Claims.MilliCPU > node.MilliCPU {
		return outOf("cpu", c.Claims.MilliCPU, t.milliCPU, node.MilliCPU), true
	}
	if c.Claims.Memory > 0 && t.memory+c.Claims.Memory > node.Memory {
		return outOf("memory", c.Claims.Memory, t.memory, node.Memory), true
	}
	for _, want := range c.Claims.Ports {
		for _, held := range t.ports[keyOf(want)] {
			if portsCollide(want, held.port) {
				return Refusal{
					Reason: "NodePorts",
					Message: fmt.Sprintf("Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports: "+
						"host port %s is taken by pod %s", showPort(want), held.name),
				}, true
			}
		}
	}
	return Refusal{}, false
}

func outOf(what string, requested, used, capacity int64) Refusal {
	return Refusal{
		Reason: "OutOf" + what,
		Message: fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d",
			what, requested, used, capacity),
	}
}

// wrongPlatform compares the labels by which a pod asks for a platform, as the
// kubelet's PodOSSelector and PodOSNotSupported handlers do. Node selectors are
// the source filter's business.
func wrongPlatform(pod *v1.Pod, node NodeFacts) (Refusal, bool) {
	if os, asked := pod.Labels[v1.LabelOSStable]; asked && os != node.OS {
		return Refusal{
			Reason:  "PodOSSelectorNodeLabelDoesNotMatch",
			Message: fmt.Sprintf("Failed to admit pod as the `kubernetes.io/os` label %q doesn't match node label %q", os, node.OS),
		}, true
	}
	if pod.Spec.OS != nil && string(pod.Spec.OS.Name) != node.OS {
		return Refusal{
			Reason:  "PodOSNotSupported",
			Message: fmt.Sprintf("Failed to admit pod as the OS field %q doesn't match node OS %q", pod.Spec.OS.Name, node.OS),
		}, true
	}
	return Refusal{}, false
}
