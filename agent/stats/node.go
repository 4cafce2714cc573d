package stats

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// tick is the unit of /proc/stat, USER_HZ, which is the same on all Linux.
const tick = 10 * time.Millisecond

// NodeReading is what the kernel tells of the machine at one time.
type NodeReading struct {
	At                         time.Time
	Booted                     time.Time
	CPU                        uint64 // nanoseconds of all cores, since the machine's start
	Capacity, Free             uint64 // bytes
	InactiveCache, Anonymous   uint64
	PageFaults, MajorPageFault uint64
}

// ReadNode reads a proc file system.
func ReadNode(proc string, now time.Time) (NodeReading, error) {
	r := NodeReading{At: now}
	cpus, err := readFields(filepath.Join(proc, "stat"))
	if err != nil {
		return NodeReading{}, err
	}
	// user nice system idle iowait irq softirq steal; guests are in user and nice
	for i, ticks := range cpus["cpu"] {
		if i != 3 && i != 4 && i < 8 {
			r.CPU += ticks * uint64(tick)
		}
	}
	r.Booted = time.Unix(int64(first(cpus, "btime")), 0)
	memory, err := readFields(filepath.Join(proc, "meminfo"))
	if err != nil {
		return NodeReading{}, err
	}
	const kB = 1024
	r.Capacity, r.Free = first(memory, "MemTotal:")*kB, first(memory, "MemFree:")*kB
	r.InactiveCache, r.Anonymous = first(memory, "Inactive(file):")*kB, first(memory, "AnonPages:")*kB
	faults, err := readFields(filepath.Join(proc, "vmstat"))
	if err != nil {
		return NodeReading{}, err
	}
	r.PageFaults, r.MajorPageFault = first(faults, "pgfault"), first(faults, "pgmajfault")
	return r, nil
}

// readFields reads the numbers of each line by its first word.
func readFields(path string) (map[string][]uint64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the machine's usage: %w", err)
	}
	all := map[string][]uint64{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		for _, word := range words[1:] {
			n, err := strconv.ParseUint(word, 10, 64)
			if err != nil {
				break // a unit
			}
			all[words[0]] = append(all[words[0]], n)
		}
	}
	return all, nil
}

func first(fields map[string][]uint64, name string) uint64 {
	if numbers := fields[name]; len(numbers) > 0 {
		return numbers[0]
	}
	return 0
}

// NodeStats is the machine as the kubelet tells it; before is a reading of some
// time earlier.
func NodeStats(name string, before, after NodeReading) statsapi.NodeStats {
	used := after.Capacity - min(after.Capacity, after.Free)
	working := used - min(used, after.InactiveCache)
	left := after.Capacity - working
	at := metav1.NewTime(after.At)
	s := statsapi.NodeStats{
		NodeName: name, StartTime: metav1.NewTime(after.Booted),
		CPU: &statsapi.CPUStats{Time: at, UsageCoreNanoSeconds: &after.CPU},
		Memory: &statsapi.MemoryStats{
			Time: at, AvailableBytes: &left, UsageBytes: &used, WorkingSetBytes: &working, RSSBytes: &after.Anonymous,
			PageFaults: &after.PageFaults, MajorPageFaults: &after.MajorPageFault,
		},
	}
	if apart := after.At.Sub(before.At); apart > 0 && after.CPU >= before.CPU {
		rate := uint64(float64(after.CPU-before.CPU) / apart.Seconds())
		s.CPU.UsageNanoCores = &rate
	}
	return s
}
