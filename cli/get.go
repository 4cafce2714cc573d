package cli

import (
	"cmp"
	"context"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
)

// GetCmd is `podstead get`.
type GetCmd struct {
	Pods    getPodsCmd    `cmd:"" aliases:"pod,po" help:"Pods with their status, refused and finished ones included."`
	Sources getSourcesCmd `cmd:"" aliases:"source,src" help:"Where manifests come from, their revision, and what is wrong with them."`
	Events  getEventsCmd  `cmd:"" aliases:"event,ev" help:"What happened to pods in the last hour, and why."`
}

type getPodsCmd struct {
	connection
	namespaced
	listing
	Names []string `arg:"" optional:"" name:"NAME" help:"Pods, by their full name (web-n1) or as written in the manifest (web)."`
}

// Run prints the pods, and with -w each change to them.
func (c *getPodsCmd) Run(ctx context.Context, t Terminal) error {
	p := newPrinter(podView(), string(c.Output), c.AllNamespaces, t.Out)
	if c.Watch {
		return c.client(t).WatchPods(ctx, func(change api.Change[v1.Pod]) error {
			if !c.selects(&change.Object) {
				return nil
			}
			return p.one(change.Object, time.Now())
		})
	}
	all, err := c.client(t).Pods(ctx)
	if err != nil {
		return err
	}
	pods, err := selectPods(all, c.scope(), c.Names)
	if err != nil {
		return err
	}
	if len(pods) == 0 && (c.Output == "" || c.Output == "wide") {
		c.sayNothing(t, len(all))
		return nil
	}
	return p.all(pods, time.Now())
}

// selects is selectPods for one pod of a watch, which may come later.
func (c *getPodsCmd) selects(pod *v1.Pod) bool {
	if scope := c.scope(); scope != "" && pod.Namespace != scope {
		return false
	}
	for _, name := range c.Names {
		if podNamed(pod, name) {
			return true
		}
	}
	return len(c.Names) == 0
}

// sayNothing answers an empty list with kubectl's words and where pods are.
func (c *getPodsCmd) sayNothing(t Terminal, elsewhere int) {
	switch {
	case c.scope() == "":
		t.Say("No pods. `podstead get sources` shows where manifests are expected.")
	case elsewhere > 0:
		t.Say("No pods in namespace %s; %d in others (-A shows them).", c.Namespace, elsewhere)
	default:
		t.Say("No pods in namespace %s. `podstead get sources` shows where manifests are expected.", c.Namespace)
	}
}

type getEventsCmd struct {
	connection
	namespaced
	listing
	Names []string `arg:"" optional:"" name:"POD" help:"Only events of these pods."`
}

// Run prints the events, and with -w each new one.
func (c *getEventsCmd) Run(ctx context.Context, t Terminal) error {
	p := newPrinter(eventView(), string(c.Output), c.AllNamespaces, t.Out)
	client := c.client(t)
	filter := api.EventFilter{Namespace: c.scope()}
	if filter.Namespace == v1.NamespaceDefault {
		filter.Namespace = "" // events of the node and of sources have no namespace and are shown as if in it
	}
	wanted, err := c.wanted(ctx, client)
	if err != nil {
		return err
	}
	if c.Watch {
		return client.WatchEvents(ctx, filter, func(change api.Change[v1.Event]) error {
			if change.Type == "DELETED" || !wanted(&change.Object) {
				return nil
			}
			return p.one(change.Object, time.Now())
		})
	}
	all, err := client.Events(ctx, filter)
	if err != nil {
		return err
	}
	events := make([]v1.Event, 0, len(all))
	for i := range all {
		if wanted(&all[i]) {
			events = append(events, all[i])
		}
	}
	if len(events) == 0 && (c.Output == "" || c.Output == "wide") {
		c.sayNothing(t)
		return nil
	}
	return p.all(events, time.Now())
}

// sayNothing answers an empty list with kubectl's words.
func (c *getEventsCmd) sayNothing(t Terminal) {
	about := ""
	if len(c.Names) > 0 {
		about = " of " + strings.Join(c.Names, ", ")
	}
	where := "in namespace " + c.Namespace + " (-A looks in all namespaces)"
	if c.AllNamespaces {
		where = "in any namespace"
	}
	t.Say("No events found%s %s in the last hour.", about, where)
}

// wanted says which events are asked for. Names as written are looked up, since
// events know full names only; what is gone can be asked for by its full name.
func (c *getEventsCmd) wanted(ctx context.Context, client *api.Client) (func(*v1.Event) bool, error) {
	scope, names := c.scope(), map[string]bool{}
	for _, name := range c.Names {
		names[name] = true
	}
	if len(c.Names) > 0 {
		pods, err := client.Pods(ctx)
		if err != nil {
			return nil, err
		}
		for i := range pods {
			if names[WrittenName(&pods[i])] {
				names[pods[i].Name] = true
			}
		}
	}
	return func(e *v1.Event) bool {
		about := e.InvolvedObject
		inScope := scope == "" || scope == cmp.Or(about.Namespace, v1.NamespaceDefault)
		return inScope && (len(names) == 0 || names[about.Name])
	}, nil
}

type getSourcesCmd struct {
	connection
	Output form     `short:"o" placeholder:"wide|json|yaml|name" help:"More columns, or another form."`
	Names  []string `arg:"" optional:"" name:"NAME" help:"Only these sources."`
}

// Run prints the sources, and below the table what is wrong with them.
func (c *getSourcesCmd) Run(ctx context.Context, t Terminal) error {
	all, err := c.client(t).Sources(ctx)
	if err != nil {
		return err
	}
	sources, err := selectSources(all, c.Names)
	if err != nil {
		return err
	}
	if err := newPrinter(sourceView(), string(c.Output), false, t.Out).all(sources, time.Now()); err != nil {
		return err
	}
	if c.Output == "" || c.Output == "wide" {
		return PrintProblems(t.Out, sources, c.Output == "wide")
	}
	return nil
}
