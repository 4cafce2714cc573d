package cli

import (
	"cmp"
	"context"
	"slices"
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
	labelFlags
	FieldSelector string   `placeholder:"SELECTOR" help:"Only pods with these fields, such as status.phase=Running; also metadata.name, metadata.namespace, spec.nodeName, spec.restartPolicy, spec.hostNetwork, status.podIP."`
	Names         []string `arg:"" optional:"" name:"POD" help:"Pods, by their full name (web-n1) or as written in the manifest (web)."`
}

// Help is shown by `podstead get pods --help`.
func (getPodsCmd) Help() string {
	return `With one name, json, yaml and templates see that pod alone, otherwise a List of kind v1. While a
pod is being replaced both versions are listed; with one name it is then the one that serves.`
}

// Examples are those of `podstead get pods`.
func (getPodsCmd) Examples() []Example {
	return []Example{
		{"what runs here", "podstead get pods -A"},
		{"where from, at which revision", "podstead get pods -o wide"},
		{"see each change", "podstead get pods -w"},
		{"the address of a pod", "podstead get pod web -o jsonpath='{.status.podIP}'"},
		{"columns of your own", "podstead get pods -o custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[*].image --sort-by=.metadata.name"},
		{"a line for each pod", `podstead get pods -o go-template='{{range .items}}{{.metadata.name}} {{.status.phase}}{{"\n"}}{{end}}'`},
		{"by label and phase", "podstead get pods -l app=web --field-selector status.phase=Running --show-labels"},
	}
}

// Run prints the pods, and with -w each change to them.
func (c *getPodsCmd) Run(ctx context.Context, t Terminal) error {
	choice, err := newPodChoice(c.Selector, c.FieldSelector, c.Names)
	if err != nil {
		return err
	}
	s := c.style(t, c.AllNamespaces)
	s.showLabels, s.labelColumns, s.single = c.ShowLabels, c.LabelColumns, len(c.Names) == 1
	p := newPrinter(podView(), s, t.Out)
	if c.Watch {
		return c.client(t).WatchPods(ctx, func(change api.Change[v1.Pod]) error {
			if !c.selects(&change.Object) || !choice.selects(&change.Object) {
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
	pods = slices.DeleteFunc(pods, func(p v1.Pod) bool { return !choice.selects(&p) })
	if s.single && !c.Output.table() && c.Output != "name" {
		pods = []v1.Pod{*serving(pods)}
	}
	if len(pods) == 0 && c.Output.table() {
		c.sayNothing(t, all)
		return nil
	}
	if pods, err = sorted(pods, c.SortBy); err != nil {
		return err
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
func (c *getPodsCmd) sayNothing(t Terminal, all []v1.Pod) {
	here := 0
	for i := range all {
		if c.scope() == "" || all[i].Namespace == c.scope() {
			here++
		}
	}
	switch {
	case here > 0:
		t.Say("No pods are selected; without --selector and --field-selector there are %d.", here)
	case c.scope() == "":
		t.Say("No pods. `podstead get sources` shows where manifests are expected.")
	case len(all) > 0:
		t.Say("No pods in namespace %s; %d in others (-A shows them).", c.Namespace, len(all))
	default:
		t.Say("No pods in namespace %s. `podstead get sources` shows where manifests are expected.", c.Namespace)
	}
}

type getEventsCmd struct {
	connection
	namespaced
	listing
	FieldSelector string   `placeholder:"SELECTOR" help:"Only events with these fields, such as type=Warning; also reason, involvedObject.kind, involvedObject.name."`
	Names         []string `arg:"" optional:"" name:"POD" help:"Only events of these pods."`
}

// Examples are those of `podstead get events`.
func (getEventsCmd) Examples() []Example {
	return []Example{
		{"what happened to a pod, and why", "podstead get events web"},
		{"what went wrong anywhere", "podstead get events -A --field-selector type=Warning"},
		{"follow what happens", "podstead get events -w"},
		{"for a script", "podstead get events -o custom-columns=WHEN:.lastTimestamp,WHY:.reason,WHAT:.message --no-headers"},
	}
}

// Run prints the events, and with -w each new one.
func (c *getEventsCmd) Run(ctx context.Context, t Terminal) error {
	byField, err := parseFields(c.FieldSelector, eventFields(&v1.Event{}))
	if err != nil {
		return &Exit{Code: ExitConfig, Err: err}
	}
	p := newPrinter(eventView(), c.style(t, c.AllNamespaces), t.Out)
	client := c.client(t)
	filter := api.EventFilter{Namespace: c.scope()}
	if filter.Namespace == v1.NamespaceDefault {
		filter.Namespace = "" // events of the node and of sources have no namespace and are shown as if in it
	}
	named, err := c.wanted(ctx, client)
	if err != nil {
		return err
	}
	wanted := func(e *v1.Event) bool { return named(e) && (byField.Empty() || byField.Matches(eventFields(e))) }
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
	if len(events) == 0 && c.Output.table() {
		c.sayNothing(t)
		return nil
	}
	if events, err = sorted(events, c.SortBy); err != nil {
		return err
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
		names[strings.TrimPrefix(strings.TrimPrefix(name, "pod/"), "pods/")] = true
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
	shape
	Names []string `arg:"" optional:"" name:"SOURCE" help:"Only these sources."`
}

// Examples are those of `podstead get sources`.
func (getSourcesCmd) Examples() []Example {
	return []Example{
		{"where manifests come from, and what is wrong with them", "podstead get sources"},
		{"with what is skipped, and objects", "podstead get sources -o wide"},
		{"the commit in force", "podstead get source file -o jsonpath='{.revision}'"},
	}
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
	if sources, err = sorted(sources, c.SortBy); err != nil {
		return err
	}
	s := c.style(t, false)
	s.single = len(c.Names) == 1
	if err := newPrinter(sourceView(), s, t.Out).all(sources, time.Now()); err != nil {
		return err
	}
	if c.Output.table() {
		return PrintProblems(t.Out, sources, c.Output == "wide")
	}
	return nil
}
