package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/manifests"
)

type describeSourceCmd struct {
	describing
	Names []string `arg:"" optional:"" name:"SOURCE" help:"Sources by name; all when none is named."`
}

// Examples are those of `podstead describe source`.
func (describeSourceCmd) Examples() []Example {
	return []Example{{"what is in force, what is wrong, what is skipped", "podstead describe source file"}}
}

// Run describes the sources, one after the other.
func (c *describeSourceCmd) Run(ctx context.Context, t Terminal) error {
	client := c.client(t)
	all, err := client.Sources(ctx)
	if err != nil {
		return err
	}
	sources, err := selectSources(all, c.Names)
	if err != nil {
		return err
	}
	pods, err := client.KnownPods(ctx)
	if err != nil {
		return err
	}
	for i := range sources {
		s := &sources[i]
		events, err := c.events(ctx, client, api.EventFilter{Kind: "Source", Name: s.Name})
		if err != nil {
			return err
		}
		p, now := newPage(t.Out), time.Now()
		if i > 0 {
			p.text(0, "")
			p.text(0, "")
		}
		p.source(s, pods, now)
		if c.ShowEvents {
			p.events(events, now)
		}
		if err := p.w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// source writes all that is known of a source, and the pods that come from it.
func (p page) source(s *api.Source, pods []v1.Pod, now time.Time) {
	p.line(0, "Name", s.Name)
	p.line(0, "Kind", s.Kind)
	p.line(0, "Place", s.Place)
	p.line(0, "State", stateText(s)+asideOf(s))
	p.line(0, "Revision", cmp.Or(s.Revision, "<none>"))
	if s.Held != "" {
		p.line(0, "Held", s.Held)
	}
	p.line(0, "Taken", since(s.Taken, now))
	p.line(0, "Last Success", since(s.LastSuccess, now))
	next := "<none>"
	if !s.NextPoll.IsZero() {
		next = "in " + age(now, s.NextPoll)
	}
	p.line(0, "Next Poll", next)
	var own []string
	for i := range pods {
		if pods[i].Annotations[manifests.AnnotationSource] == s.Name {
			own = append(own, fmt.Sprintf("%s/%s of %s", pods[i].Namespace, pods[i].Name, pods[i].Annotations[manifests.AnnotationManifest]))
		}
	}
	p.list(0, "Pods", own)
	p.found(s)
}

// found writes what the source found at its place.
func (p page) found(s *api.Source) {
	var faults, warnings, skipped, losers, objects []string
	for _, f := range s.Problems() {
		faults = append(faults, f.String())
	}
	for _, u := range s.Units {
		for _, w := range u.Warnings {
			warnings = append(warnings, w.String())
		}
		for _, k := range u.Skipped {
			skipped = append(skipped, fmt.Sprintf("%s %s of %s: %s", k.Kind, k.Name, k.Place, k.Reason))
		}
	}
	for _, l := range s.Losers {
		losers = append(losers, fmt.Sprintf("%s of %s: its name is taken by %s", l.Name, l.Place, l.Winner))
	}
	for _, o := range s.Objects {
		objects = append(objects, fmt.Sprintf("%s %s of %s", o.Kind, o.Name, o.Place))
	}
	p.list(0, "Objects", objects)
	p.list(0, "Faults", faults)
	p.list(0, "Warnings", warnings)
	p.list(0, "Skipped", skipped)
	p.list(0, "Not Run", losers)
}

// since is a time and how long ago it was.
func since(t, now time.Time) string {
	if t.IsZero() {
		return "<never>"
	}
	return at(t) + " (" + age(t, now) + " ago)"
}
