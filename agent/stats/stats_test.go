package stats

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/runtime"
)

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func reading(cpu uint64, at time.Duration) Reading {
	return Reading{Usage: runtime.Usage{CPU: cpu}, At: noon.Add(at)}
}

func TestRates(t *testing.T) {
	before := reading(1e9, 0)
	cases := []struct {
		name  string
		pair  Pair
		known bool
		want  uint64
	}{
		{name: "half a core", pair: Pair{&before, reading(15e8, time.Second)}, known: true, want: 5e8},
		{name: "over two seconds", pair: Pair{&before, reading(2e9, 2*time.Second)}, known: true, want: 5e8},
		{name: "idle", pair: Pair{&before, reading(1e9, time.Second)}, known: true},
		{name: "one reading only", pair: Pair{nil, reading(1e9, time.Second)}},
		{name: "started anew in between", pair: Pair{&before, reading(1e6, time.Second)}},
		{name: "no time in between", pair: Pair{&before, reading(2e9, 0)}},
		{name: "a clock that goes back", pair: Pair{&before, reading(2e9, -time.Second)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := nanoCores(c.pair)
			if (got != nil) != c.known || got != nil && *got != c.want {
				t.Errorf("got %v, want %d", got, c.want)
			}
		})
	}
}

func TestAPodIsTheSumOfWhatRunsInIt(t *testing.T) {
	started := metav1.NewTime(noon.Add(-time.Hour))
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-n1", Namespace: "default", UID: "u1"},
		Status: v1.PodStatus{StartTime: &started, InitContainerStatuses: []v1.ContainerStatus{{Name: "proxy"}}, ContainerStatuses: []v1.ContainerStatus{
			{Name: "main", State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: started}}}, {Name: "ended"},
		}},
	}
	pair := func(cpu, memory, limit uint64) Pair {
		before := reading(0, 0)
		after := reading(cpu, time.Second)
		after.Memory, after.WorkingSet, after.MemoryLimit = memory, memory/2, limit
		return Pair{&before, after}
	}
	sandbox := pair(1, 10, 1000)
	sandbox.After.Interfaces = []runtime.Interface{{Name: "eth0", RxBytes: 7}, {Name: "eth1"}}
	const unlimited = 1000
	got := PodStats(Pod{Pod: pod, Sandbox: &sandbox, Containers: map[string]Pair{"main": pair(20, 100, 400), "proxy": pair(300, 1000, unlimited)}}, unlimited)
	if len(got.Containers) != 2 || got.Containers[0].Name != "proxy" || got.Containers[1].Name != "main" {
		t.Fatalf("containers: %+v", got.Containers)
	}
	if proxy, main := got.Containers[0].Memory, got.Containers[1].Memory; proxy.AvailableBytes != nil || main.AvailableBytes == nil || *main.AvailableBytes != 350 {
		t.Errorf("available: %v and %v", proxy.AvailableBytes, main.AvailableBytes)
	}
	if *got.CPU.UsageNanoCores != 321 || *got.CPU.UsageCoreNanoSeconds != 321 || *got.Memory.UsageBytes != 1110 || *got.Memory.WorkingSetBytes != 555 || got.Memory.AvailableBytes != nil {
		t.Errorf("the pod: %+v, %+v", got.CPU, got.Memory)
	}
	if got.Network.Name != "eth0" || *got.Network.RxBytes != 7 || len(got.Network.Interfaces) != 2 {
		t.Errorf("network: %+v", got.Network)
	}
	if got.StartTime != started || got.Containers[1].StartTime != started || !got.CPU.Time.Equal(&metav1.Time{Time: noon.Add(time.Second)}) {
		t.Errorf("times: %+v", got)
	}
}

// The parts of the machine's time that are idle, or counted twice, are not used.
func TestTheNodeIsReadFromProc(t *testing.T) {
	r, err := ReadNode("testdata/proc", noon)
	if err != nil {
		t.Fatal(err)
	}
	if want := uint64((100 + 20 + 30 + 6 + 7 + 8) * 10 * time.Millisecond); r.CPU != want || r.Booted.Unix() != 1900000000 {
		t.Errorf("%d ns, want %d; booted %s", r.CPU, want, r.Booted)
	}
	earlier := r
	earlier.At, earlier.CPU = noon.Add(-2*time.Second), r.CPU-1e9
	s := NodeStats("n1", earlier, r)
	if *s.CPU.UsageNanoCores != 5e8 || s.NodeName != "n1" || s.StartTime.Unix() != 1900000000 {
		t.Errorf("%+v", s)
	}
	m := s.Memory
	if *m.UsageBytes != 600<<10 || *m.WorkingSetBytes != 350<<10 || *m.AvailableBytes != 650<<10 || *m.RSSBytes != 100<<10 || *m.PageFaults != 77 || *m.MajorPageFaults != 3 {
		t.Errorf("memory: %d used, %d working, %d left", *m.UsageBytes, *m.WorkingSetBytes, *m.AvailableBytes)
	}
	if _, err := ReadNode(t.TempDir(), noon); err == nil {
		t.Error("a machine without /proc is read")
	}
}
