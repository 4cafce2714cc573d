package main

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/podstead/podstead/test/rig"
)

// sample is how much of everything there was at one look.
type sample struct {
	Replacements int     `json:"replacements"`
	Status       int     `json:"status"`
	RSS          float64 `json:"rssMiB"`
	Heap         float64 `json:"heapMiB"` // live after the last collection, and garbage since
	Files        int     `json:"files"`   // descriptors
	Goroutines   int     `json:"goroutines"`
	DiskFiles    int     `json:"diskFiles"` // and folders, below root-dir
	DiskKiB      float64 `json:"diskKiB"`
	Memory       int     `json:"memoryFiles"` // and folders, of what is kept in memory
	Containers   int     `json:"containers"`  // of the node, dead ones included
}

func (a *agent) look(ctx context.Context) (sample, error) {
	var s sample
	metrics, err := a.metrics(ctx)
	if err != nil {
		return s, err
	}
	s.RSS, s.Heap = metrics["process_resident_memory_bytes"]/(1<<20), metrics["go_memstats_heap_alloc_bytes"]/(1<<20)
	s.Goroutines = int(metrics["go_goroutines"])
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", a.process.PID()))
	if err != nil {
		return s, err
	}
	s.Files = len(open)
	var bytes int64
	if s.DiskFiles, bytes, err = usage(a.root()); err != nil {
		return s, err
	}
	s.DiskKiB = float64(bytes) / 1024
	run, err := rig.RunDir(a.root())
	if err != nil {
		return s, err
	}
	if s.Memory, _, err = usage(run); err != nil {
		return s, err
	}
	boxes, err := a.engine.PS(ctx, a.node)
	s.Containers = len(boxes)
	return s, err
}

// metrics are the values without labels that the agent exports.
func (a *agent) metrics(ctx context.Context) (map[string]float64, error) {
	text, err := a.local.Open(ctx, "GET", "/metrics", nil)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	values := map[string]float64{}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " ")
		var n float64
		if _, err := fmt.Sscan(value, &n); ok && err == nil && !strings.HasPrefix(name, "#") {
			values[name] = n
		}
	}
	return values, lines.Err()
}

// usage counts what is below a folder. What goes meanwhile does not count.
func usage(dir string) (files int, bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return ignoreGone(err)
		}
		info, err := entry.Info()
		if err != nil {
			return ignoreGone(err)
		}
		files++
		if info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return files, bytes, err
}

func ignoreGone(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
