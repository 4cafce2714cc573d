//go:build e2e

package docker

import (
	"slices"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
)

// BenchmarkPodStart compares a pod's way through the manager with the bare
// calls for the same containers, in turn, from nothing to a running process.
func BenchmarkPodStart(b *testing.B) {
	n := newNode(b, "")
	n.sandbox(runtime.SandboxConfig{Pod: n.pod()}) // the image and the network are there
	var bare, managed []time.Duration
	for b.Loop() {
		bare = append(bare, n.timed(n.startBare))
		managed = append(managed, n.timed(func(pod runtime.PodRef) {
			started := n.sandbox(runtime.SandboxConfig{Pod: pod})
			n.run(script(pod, started.ID, "sleep 1000"))
		}))
	}
	b.ReportMetric(median(bare), "bare-ms")
	b.ReportMetric(median(managed), "managed-ms")
	b.ReportMetric(median(managed)/median(bare), "ratio")
	b.ReportMetric(0, "ns/op")
}

// timed starts a pod, and takes it away when the time has been taken.
func (n *node) timed(start func(runtime.PodRef)) time.Duration {
	pod := n.pod()
	begin := time.Now()
	start(pod)
	took := time.Since(begin)
	found, err := n.Pod(n.t.Context(), pod.UID)
	must(n.t, err)
	for _, c := range found.Containers {
		must(n.t, n.Remove(n.t.Context(), c.ID))
	}
	for _, s := range found.Sandboxes {
		must(n.t, n.Remove(n.t.Context(), s.ID))
	}
	return took
}

func (n *node) startBare(pod runtime.PodRef) {
	in, err := n.surroundings(n.t.Context())
	must(n.t, err)
	in.networkID, err = n.network.get(n.t.Context(), n.findOrMakeNetwork)
	must(n.t, err)
	api := n.engine.current()
	start := func(s spec) string {
		created, err := api.ContainerCreate(n.t.Context(), s.config, s.host, s.network, nil, s.name)
		must(n.t, err)
		must(n.t, api.ContainerStart(n.t.Context(), created.ID, container.StartOptions{}))
		return created.ID
	}
	sandbox := start(sandboxSpec(runtime.SandboxConfig{Pod: pod}, in))
	start(containerSpec(script(pod, sandbox, "sleep 1000"), in))
}

func median(of []time.Duration) float64 {
	slices.Sort(of)
	return float64(of[len(of)/2].Microseconds()) / 1000
}
