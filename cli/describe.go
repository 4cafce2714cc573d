package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
)

// DescribeCmd is `podstead describe`.
type DescribeCmd struct {
	Pod    describePodCmd    `cmd:"" aliases:"pods,po" help:"All that is known of pods: containers, why they are as they are, where they come from, events."`
	Source describeSourceCmd `cmd:"" aliases:"sources,src" help:"All that is known of sources: what is in force, what is wrong, what is skipped, events."`
	Node   describeNodeCmd   `cmd:"" aliases:"nodes,no" help:"This node: agent, engine, pods with their requests, events."`
}

// describing is what the kinds have in common.
type describing struct {
	connection
	ShowEvents bool `default:"true" help:"Events below; =false leaves them out."`
}

type describePodCmd struct {
	describing
	namespaced
	Selector string   `short:"l" placeholder:"SELECTOR" help:"Only pods with these labels, such as app=web,tier!=test."`
	Names    []string `arg:"" optional:"" name:"POD" help:"Pods, by their full name (web-n1) or as written in the manifest (web); all when none is named."`
}

// Help is shown by `podstead describe pod --help`.
func (describePodCmd) Help() string {
	return `Beside kubectl's sections: the source, manifest and revision that a pod comes from, what was done
to it last and why, and what keeps a newer version of its manifest from running. Contents of Secrets
are never shown.`
}

// Examples are those of `podstead describe pod`.
func (describePodCmd) Examples() []Example {
	return []Example{
		{"why is it not well", "podstead describe pod web"},
		{"every pod with a label", "podstead describe pods -A -l app=web"},
	}
}

// Run describes the pods, one after the other.
func (c *describePodCmd) Run(ctx context.Context, t Terminal) error {
	choice, err := newPodChoice(c.Selector, "", c.Names)
	if err != nil {
		return err
	}
	client := c.client(t)
	all, err := client.Pods(ctx)
	if err != nil {
		return err
	}
	pods, err := selectPods(all, c.scope(), c.Names)
	if err != nil {
		return err
	}
	pods = slices.DeleteFunc(pods, func(p v1.Pod) bool { return !choice.selects(&p) })
	if len(pods) == 0 {
		t.Say("No pods are here to describe; `podstead get pods -A` lists them all.")
		return nil
	}
	sources, err := client.Sources(ctx)
	if err != nil {
		return err
	}
	for i := range pods {
		d := podDescription{pod: &pods[i], now: time.Now()}
		d.versions = slices.DeleteFunc(slices.Clone(all), func(p v1.Pod) bool {
			return p.Namespace != d.pod.Namespace || p.Name != d.pod.Name || p.UID == d.pod.UID
		})
		d.setSource(sources)
		if d.events, err = c.events(ctx, client, api.EventFilter{Kind: "Pod", Namespace: d.pod.Namespace, Name: d.pod.Name}); err != nil {
			return err
		}
		p := newPage(t.Out)
		if i > 0 {
			p.text(0, "")
			p.text(0, "")
		}
		d.print(p)
		if c.ShowEvents {
			p.events(d.events, d.now)
		}
		if err := p.w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// events are those about one thing; none when they are not wanted.
func (c *describing) events(ctx context.Context, client *api.Client, about api.EventFilter) ([]v1.Event, error) {
	if !c.ShowEvents {
		return nil, nil
	}
	return client.Events(ctx, about)
}

// events writes the section that every description ends with.
func (p page) events(events []v1.Event, now time.Time) {
	if len(events) == 0 {
		p.line(0, "Events", "<none>")
		return
	}
	p.head(0, "Events")
	p.row(1, "Type", "Reason", "Age", "From", "Message")
	p.row(1, "----", "------", "----", "----", "-------")
	for _, e := range events {
		seen := age(e.LastTimestamp.Time, now)
		if e.Count > 1 {
			seen = fmt.Sprintf("%s (x%d over %s)", seen, e.Count, age(e.FirstTimestamp.Time, now))
		}
		p.row(1, e.Type, e.Reason, seen, e.Source.Component, strings.TrimSpace(e.Message))
	}
}
