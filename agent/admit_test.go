package agent

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podstead/podstead/sources"
)

// candidate makes one from its requests and host ports.
func candidate(name, cpu, memory string, ports ...int32) Candidate {
	pod := makePod(name, "1", ports...)
	requests := v1.ResourceList{}
	if cpu != "" {
		requests[v1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		requests[v1.ResourceMemory] = resource.MustParse(memory)
	}
	pod.Spec.Containers[0].Resources.Requests = requests
	return Candidate{Pod: pod, Claims: claimsFor(pod)}
}

func claimsFor(pod sources.Pod) Claims { return newWant(pod).claims }

func TestAdmit(t *testing.T) {
	node := NodeFacts{OS: "linux", MilliCPU: 1000, Memory: 1 << 30, MaxPods: 3}
	since := func(c Candidate, seconds int64) Candidate {
		c.Since = time.Unix(seconds, 0)
		return c
	}
	runs := func(c Candidate) Candidate {
		c.Runs = true
		return c
	}
	holds := func(c, old Candidate) Candidate {
		c.Holds = &old.Claims
		return c
	}
	label := func(c Candidate, os string) Candidate {
		c.Pod.Labels = map[string]string{v1.LabelOSStable: os}
		return c
	}
	cases := []struct {
		name       string
		candidates []Candidate
		want       map[string]string // full name → reason and what its message must hold, "reason|part"
	}{
		{
			name:       "all fit",
			candidates: []Candidate{candidate("a", "400m", "", 80), candidate("b", "600m", "", 81)},
		},
		{
			name:       "cpu runs out for the later one",
			candidates: []Candidate{candidate("b", "600m", ""), candidate("a", "600m", "")},
			want:       map[string]string{"default/b": "OutOfcpu|cpu, requested: 600, used: 600, capacity: 1000"},
		},
		{
			name:       "memory",
			candidates: []Candidate{candidate("a", "", "2Gi")},
			want:       map[string]string{"default/a": "OutOfmemory|capacity: 1073741824"},
		},
		{
			name: "requests beyond every integer are refused, and leave room for the others",
			candidates: []Candidate{candidate("a", "1e30", ""), candidate("b", "100Ei", ""), candidate("c", "", "1e30"),
				candidate("d", "9223372036854775807m", ""), candidate("e", "100m", "1Mi")},
			want: map[string]string{"default/a": "OutOfcpu", "default/b": "OutOfcpu", "default/c": "OutOfmemory", "default/d": "OutOfcpu"},
		},
		{
			name: "pod count is asked before resources",
			candidates: []Candidate{candidate("a", "", ""), candidate("b", "", ""), candidate("c", "", ""),
				candidate("d", "9", "")},
			want: map[string]string{"default/d": "OutOfpods|requested: 1, used: 3, capacity: 3"},
		},
		{
			name:       "a host port goes to the older pod, whatever the names (B122)",
			candidates: []Candidate{candidate("a", "", "", 80), since(candidate("b", "", "", 80), 5)},
			want:       map[string]string{"default/a": "NodePorts|80/TCP is taken by pod default/b"},
		},
		{
			name:       "start time decides between two that have one",
			candidates: []Candidate{since(candidate("a", "", "", 80), 9), since(candidate("b", "", "", 80), 5)},
			want:       map[string]string{"default/a": "NodePorts|default/b"},
		},
		{
			name:       "a pod that runs is never refused, even beyond the limits",
			candidates: []Candidate{runs(candidate("a", "900m", "")), runs(candidate("b", "900m", "")), candidate("c", "1m", "")},
			want:       map[string]string{"default/c": "OutOfcpu|used: 1800"},
		},
		{
			name:       "a refused successor leaves what its predecessor has",
			candidates: []Candidate{runs(candidate("a", "", "", 80)), holds(since(candidate("b", "", "", 80), 1), candidate("b", "", "", 81)), candidate("c", "", "", 81)},
			want:       map[string]string{"default/b": "NodePorts|default/a", "default/c": "NodePorts|81/TCP is taken by pod default/b"},
		},
		{
			name:       "another operating system",
			candidates: []Candidate{label(candidate("a", "", ""), "windows")},
			want:       map[string]string{"default/a": "PodOSSelectorNodeLabelDoesNotMatch|windows"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Admit(c.candidates, node, map[string]int{"file": 0})
			if len(got) != len(c.want) {
				t.Errorf("refused %v, want %v", got, c.want)
			}
			for name, want := range c.want {
				reason, part, _ := strings.Cut(want, "|")
				if got[name].Reason != reason || !strings.Contains(got[name].Message, part) {
					t.Errorf("%s: got %+v, want reason %s and %q in the message", name, got[name], reason, part)
				}
			}
		})
	}
}
