package cli

import (
	"bytes"
	"testing"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

func someUsage() *statsapi.Summary {
	container := func(name string, nano, bytes uint64) statsapi.ContainerStats {
		return statsapi.ContainerStats{Name: name, CPU: &statsapi.CPUStats{UsageNanoCores: &nano}, Memory: &statsapi.MemoryStats{WorkingSetBytes: &bytes}}
	}
	anew := container("b", 0, 3<<20)
	anew.CPU.UsageNanoCores = nil
	return &statsapi.Summary{Pods: []statsapi.PodStats{
		{PodRef: statsapi.PodReference{UID: "u1"}, Containers: []statsapi.ContainerStats{container("main", 1_250_000_001, 12<<20+5)}},
		{PodRef: statsapi.PodReference{UID: "u2"}, Containers: []statsapi.ContainerStats{container("a", 1, 100<<20), anew}},
		{PodRef: statsapi.PodReference{UID: "gone"}, Containers: []statsapi.ContainerStats{container("x", 1, 1)}},
	}}
}

func TestTopPrintsKubectlsColumns(t *testing.T) {
	var out bytes.Buffer
	for _, c := range []topPodsCmd{
		{},
		{namespaced: namespaced{AllNamespaces: true}, SortBy: "cpu"},
		{Containers: true, SortBy: "memory"},
		{namespaced: namespaced{AllNamespaces: true}, Containers: true},
		{NoHeaders: true},
	} {
		lines := usedBy(somePods(), someUsage(), c.Containers)
		sortUsed(lines, c.SortBy)
		if err := c.print(&out, lines); err != nil {
			t.Fatal(err)
		}
		out.WriteString("\n")
	}
	golden(t, "top.txt", out.String())
}
