package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/podstead/podstead/agent/api"
)

type describeNodeCmd struct {
	describing
	Name string `arg:"" optional:"" name:"NODE" help:"This node's name; there is no other."`
}

// Examples are those of `podstead describe node`.
func (describeNodeCmd) Examples() []Example {
	return []Example{{"this node, its engine, and what its pods ask for", "podstead describe node"}}
}

// Run describes the node.
func (c *describeNodeCmd) Run(ctx context.Context, t Terminal) error {
	client := c.client(t)
	h, err := ask(ctx, client)
	if err != nil {
		return err
	}
	if name := strings.TrimPrefix(c.Name, "node/"); name != "" && name != h.Agent.Node {
		return fmt.Errorf("no node %q here: an agent knows its own, which is %s; ask the other on its machine", name, h.Agent.Node)
	}
	events, err := c.events(ctx, client, api.EventFilter{Kind: "Node"})
	if err != nil {
		return err
	}
	p, now := newPage(t.Out), time.Now()
	p.node(h, now)
	if c.ShowEvents {
		p.events(events, now)
	}
	return p.w.Flush()
}

// node writes the agent, the engine, and the pods with their requests and limits.
func (p page) node(h health, now time.Time) {
	a := h.Agent
	p.line(0, "Name", a.Node)
	p.line(0, "Node ID", a.NodeID)
	p.line(0, "Agent", fmt.Sprintf("podstead %s, process %d, started %s", a.Version, a.PID, since(a.Started, now)))
	p.line(0, "Root Dir", a.RootDir)
	engine := fmt.Sprintf("%s %s (API %s) at %s", a.Engine.Name, a.Engine.Version, a.Engine.APIVersion, a.Engine.Endpoint)
	if a.Engine.Error != "" {
		engine = fmt.Sprintf("not reachable at %s: %s", a.Engine.Endpoint, a.Engine.Error)
	}
	p.line(0, "Engine", engine)
	if a.Drained != nil {
		p.line(0, "Drained", drainedWords(*a.Drained))
	}
	var sources []string
	for i := range h.Sources {
		s := &h.Sources[i]
		sources = append(sources, fmt.Sprintf("%s: %s, %s, from %s", s.Name, stateText(s), Count(s.Pods, "pod"), s.Place))
	}
	p.list(0, "Sources", sources)
	p.line(0, "Non-terminated Pods", fmt.Sprintf("(%d in total)", len(unfinished(h.Pods))))
	p.row(1, "Namespace", "Name", "CPU Requests", "CPU Limits", "Memory Requests", "Memory Limits", "Age")
	p.row(1, "---------", "----", "------------", "----------", "---------------", "-------------", "---")
	for _, pod := range unfinished(h.Pods) {
		requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
		limits := resource.PodLimits(pod, resource.PodResourcesOptions{})
		born := pod.CreationTimestamp.Time
		if born.IsZero() && pod.Status.StartTime != nil {
			born = pod.Status.StartTime.Time
		}
		p.row(1, pod.Namespace, pod.Name, requests.Cpu().String(), limits.Cpu().String(), requests.Memory().String(), limits.Memory().String(), age(born, now))
	}
}

func unfinished(pods []v1.Pod) []*v1.Pod {
	var list []*v1.Pod
	for i := range pods {
		if phase := pods[i].Status.Phase; phase != v1.PodSucceeded && phase != v1.PodFailed {
			list = append(list, &pods[i])
		}
	}
	return list
}
