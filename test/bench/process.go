package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// cpuTime is what all threads of a process have run, to the nanosecond, as the
// scheduler counts it (the ticks of /proc/PID/stat are too coarse for an idle
// process).
func cpuTime(pid int) (time.Duration, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	var total time.Duration
	for _, file := range threads {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		var ran, waited, slices int64
		if _, err := fmt.Sscan(string(text), &ran, &waited, &slices); err != nil {
			return 0, fmt.Errorf("read %s: %w", file, err)
		}
		total += time.Duration(ran)
	}
	return total, nil
}

// residentMiB is the resident set of a process, peakMiB the largest it ever was.
func residentMiB(pid int) (float64, error) { return memoryMiB(pid, "VmRSS:") }
func peakMiB(pid int) (float64, error)     { return memoryMiB(pid, "VmHWM:") }

func memoryMiB(pid int, key string) (float64, error) {
	file := fmt.Sprintf("/proc/%d/status", pid)
	kib, err := rig.Field(file, key)
	if err != nil {
		return 0, err
	}
	var n float64
	if _, err := fmt.Sscan(kib, &n); err != nil {
		return 0, fmt.Errorf("read %s: %w", file, err)
	}
	return n / 1024, nil
}
