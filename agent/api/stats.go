package api

import (
	"context"
	"net/http"
	"net/url"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// stats answers the kubelet's Summary, measured now.
func (h Handlers) stats(w http.ResponseWriter, r *http.Request) {
	if h.Stats == nil {
		fail(w, errNotServed)
		return
	}
	q := query{values: r.URL.Query()}
	short := q.boolean("only_cpu_and_memory")
	if q.err != nil {
		fail(w, q.err)
		return
	}
	summary, err := h.Stats(r.Context())
	if err == nil && short {
		summary = cpuAndMemory(summary)
	}
	answer(w, summary, err)
}

// cpuAndMemory leaves the rest out, as the kubelet does.
func cpuAndMemory(s *statsapi.Summary) *statsapi.Summary {
	out := &statsapi.Summary{Node: statsapi.NodeStats{NodeName: s.Node.NodeName, StartTime: s.Node.StartTime, CPU: s.Node.CPU, Memory: s.Node.Memory}}
	out.Pods = make([]statsapi.PodStats, 0, len(s.Pods))
	for _, p := range s.Pods {
		p.Network = nil
		out.Pods = append(out.Pods, p)
	}
	return out
}

// Stats measures what the node and its pods use, which takes a second.
func (c *Client) Stats(ctx context.Context) (*statsapi.Summary, error) {
	var summary statsapi.Summary
	if err := c.get(ctx, "/stats/summary", url.Values{}, &summary); err != nil {
		return nil, err
	}
	return &summary, nil
}
