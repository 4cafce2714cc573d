package main

import (
	"errors"
	"fmt"
)

// measure is one thing that must not grow, and by how much it may from the middle
// of the run to its end. Bounds of memory allow for the collector's whims; those
// of everything else for what is counted while the pod is being looked after.
type measure struct {
	name, unit string
	of         func(sample) float64
	may        float64
	// counted measures mean something in a short run too.
	counted bool
}

func measures() []measure {
	return []measure{
		{name: "resident memory", unit: "MiB", of: func(s sample) float64 { return s.RSS }, may: 3},
		{name: "heap", unit: "MiB", of: func(s sample) float64 { return s.Heap }, may: 3},
		{name: "descriptors", of: func(s sample) float64 { return float64(s.Files) }, may: 1, counted: true},
		{name: "goroutines", of: func(s sample) float64 { return float64(s.Goroutines) }, may: 2, counted: true},
		{name: "files on disk", of: func(s sample) float64 { return float64(s.DiskFiles) }, may: 1, counted: true},
		{name: "bytes on disk", unit: "KiB", of: func(s sample) float64 { return s.DiskKiB }, may: 1},
		{name: "files in memory", of: func(s sample) float64 { return float64(s.Memory) }, may: 1, counted: true},
		{name: "containers", of: func(s sample) float64 { return float64(s.Containers) }, may: 0.5, counted: true},
	}
}

// growth is what the line through the second half of the samples rises by.
func (m measure) growth(samples []sample) float64 {
	half := samples[len(samples)/2:]
	var x, y, xx, xy float64
	n := float64(len(half))
	for i, s := range half {
		at, value := float64(i), m.of(s)
		x, y, xx, xy = x+at, y+value, xx+at*at, xy+at*value
	}
	if spread := n*xx - x*x; spread > 0 {
		return (n*xy - x*y) / spread * (n - 1)
	}
	return 0
}

func (m measure) flat(samples []sample) bool { return m.growth(samples) <= m.may }

// verdict names everything that grows.
func (r *report) verdict() error { return judge(measures(), r.Samples) }

func judge(measures []measure, samples []sample) error {
	var faults []error
	for _, m := range measures {
		if !m.flat(samples) {
			faults = append(faults, fmt.Errorf("%s grow by %.3g %s in half of the run, and may by %.3g", m.name, m.growth(samples), m.unit, m.may))
		}
	}
	return errors.Join(faults...)
}
