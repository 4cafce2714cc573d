package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/agent/status"
	"github.com/podstead/podstead/manifests"
)

func podView() view[v1.Pod] {
	return view[v1.Pod]{
		resource: "pod",
		columns: []column{{name: "Name"}, {name: "Ready"}, {name: "Status"}, {name: "Restarts"}, {name: "Age"},
			{"IP", true}, {"Node", true}, {"Source", true}, {"Revision", true}, {"UID", true}},
		cells:  podCells,
		name:   func(p *v1.Pod) string { return p.Name },
		object: func(p *v1.Pod) apiruntime.Object { return p },
		typed:  typedPod,
		hued:   2,
		hue:    podHue,
		list: func(items []v1.Pod) any {
			for i := range items {
				typedPod(&items[i])
			}
			return v1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, Items: items}
		},
	}
}

func typedPod(p *v1.Pod) { p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"} }

func typedEvent(e *v1.Event) { e.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Event"} }

func podCells(p *v1.Pod, now time.Time) []any {
	word, ready, total, restarts, last := status.Reason(p)
	counted := fmt.Sprint(restarts)
	if restarts > 0 && !last.IsZero() {
		counted = fmt.Sprintf("%d (%s ago)", restarts, age(last, now))
	}
	born := p.CreationTimestamp.Time
	if born.IsZero() && p.Status.StartTime != nil {
		born = p.Status.StartTime.Time
	}
	return []any{
		p.Name, fmt.Sprintf("%d/%d", ready, total), word, counted, age(born, now),
		cmp.Or(p.Status.PodIP, "<none>"), cmp.Or(p.Spec.NodeName, "<none>"), cmp.Or(p.Annotations[manifests.AnnotationSource], "<none>"),
		cmp.Or(p.Annotations[manifests.AnnotationRevision], "<none>"), string(p.UID),
	}
}

func eventView() view[v1.Event] {
	return view[v1.Event]{
		resource: "event",
		columns: []column{{name: "Last Seen"}, {name: "Type"}, {name: "Reason"}, {name: "Object"}, {"Subobject", true},
			{"Source", true}, {name: "Message"}, {"First Seen", true}, {"Count", true}, {"Name", true}},
		cells:  eventCells,
		name:   func(e *v1.Event) string { return e.Name },
		object: func(e *v1.Event) apiruntime.Object { return e },
		typed:  typedEvent,
		hued:   1,
		hue:    eventHue,
		list: func(items []v1.Event) any {
			for i := range items {
				typedEvent(&items[i])
			}
			return v1.EventList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, Items: items}
		},
	}
}

func eventCells(e *v1.Event, now time.Time) []any {
	about := e.InvolvedObject
	seen := age(e.LastTimestamp.Time, now)
	if e.Count > 1 {
		seen = fmt.Sprintf("%s (x%d over %s)", seen, e.Count, age(e.FirstTimestamp.Time, now))
	}
	return []any{
		seen, e.Type, e.Reason, strings.ToLower(about.Kind) + "/" + about.Name, about.FieldPath,
		e.Source.Component + ", " + e.Source.Host, OneLine(strings.TrimSpace(e.Message)), age(e.FirstTimestamp.Time, now), fmt.Sprint(e.Count), e.Name,
	}
}

func sourceView() view[api.Source] {
	return view[api.Source]{
		resource: "source",
		columns: []column{{name: "Name"}, {name: "Kind"}, {name: "State"}, {name: "Revision"}, {name: "Pods"}, {name: "Objects"},
			{name: "Age"}, {name: "Next Poll"}, {name: "Place"}, {"Last Success", true}, {"Faults", true}, {"Full Revision", true}},
		cells: sourceCells,
		name:  func(s *api.Source) string { return s.Name },
		typed: func(s *api.Source) { s.TypeMeta = metav1.TypeMeta{APIVersion: api.APIVersion, Kind: "Source"} },
		hued:  2,
		hue:   sourceHue,
		list: func(items []api.Source) any {
			return api.SourceList{TypeMeta: metav1.TypeMeta{APIVersion: api.APIVersion, Kind: "SourceList"}, Items: items}
		},
	}
}

func sourceCells(s *api.Source, now time.Time) []any {
	next := "<none>"
	if !s.NextPoll.IsZero() {
		next = "in " + age(now, s.NextPoll)
	}
	return []any{
		s.Name, s.Kind, stateText(s), cmp.Or(ShortRevision(s.Revision), "<none>"), fmt.Sprint(s.Pods), fmt.Sprint(distinct(s.Objects)), age(s.Taken, now),
		next, s.Place, age(s.LastSuccess, now), fmt.Sprint(len(s.Problems())), cmp.Or(s.Revision, "<none>"),
	}
}

// stateText is the state, with a mark when the set in force is the last good one
// because the place itself has not been heard yet.
func stateText(s *api.Source) string {
	if s.LastGood && s.State != api.SourceLastGood {
		return string(s.State) + "," + string(api.SourceLastGood)
	}
	return string(s.State)
}

// ShortRevision is a revision as people name it: a commit by its first seven digits.
func ShortRevision(revision string) string {
	if len(revision) >= 40 && strings.Trim(revision, "0123456789abcdef") == "" {
		return revision[:7]
	}
	return revision
}

// distinct counts the objects that are in force: of two of one name one is.
func distinct(objects []api.Object) int {
	names := map[string]bool{}
	for _, o := range objects {
		names[o.Kind+" "+o.Name] = true
	}
	return len(names)
}

// selectSources returns the named sources, or all.
func selectSources(all []api.Source, names []string) ([]api.Source, error) {
	if len(names) == 0 {
		return all, nil
	}
	var found []api.Source
	for _, name := range names {
		bare := bareSource(name)
		i := slices.IndexFunc(all, func(s api.Source) bool { return s.Name == bare })
		if i < 0 {
			var have []string
			for _, s := range all {
				have = append(have, s.Name)
			}
			return nil, fmt.Errorf("no source %q; there are: %s", name, cmp.Or(strings.Join(have, ", "), "none"))
		}
		found = append(found, all[i])
	}
	return found, nil
}

// bareSource is a source's name without the source/ that -o name prints.
func bareSource(name string) string { return strings.TrimPrefix(name, "source/") }

// PrintProblems lists below the table what each source has to say: faults and
// pods that lost their name; with wide also warnings and what is of other nodes.
func PrintProblems(out io.Writer, sources []api.Source, wide bool) error {
	var lines []string
	for _, s := range sources {
		for _, f := range s.Problems() {
			lines = append(lines, fmt.Sprintf("%s: error: %s", s.Name, f))
		}
		if len(s.WaitsFor) > 0 {
			lines = append(lines, fmt.Sprintf("%s: retired: it is configured no more, and its pods stay until these have answered: %s", s.Name, strings.Join(s.WaitsFor, ", ")))
		}
		if s.Held != "" {
			lines = append(lines, fmt.Sprintf("%s: %s", s.Name, s.Held))
		}
		if s.Suspended != nil {
			lines = append(lines, fmt.Sprintf("%s: suspended%s: what is in force stays; `podstead resume %s` has it looked at again", s.Name, suspendedWords(&s), s.Name))
		}
		for _, l := range s.Losers {
			lines = append(lines, fmt.Sprintf("%s: not run: %s of %s: its name is taken by %s", s.Name, l.Name, l.Place, l.Winner))
		}
		if wide {
			lines = append(lines, asides(s)...)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	for i := range lines {
		lines[i] = OneLine(lines[i])
	}
	_, err := fmt.Fprintf(out, "\n%s\n", strings.Join(lines, "\n"))
	return err
}

func asides(s api.Source) []string {
	var lines []string
	for _, o := range s.Objects {
		lines = append(lines, fmt.Sprintf("%s: object: %s %s of %s", s.Name, o.Kind, o.Name, o.Place))
	}
	for _, u := range s.Units {
		for _, w := range u.Warnings {
			lines = append(lines, fmt.Sprintf("%s: warning: %s", s.Name, w))
		}
		for _, k := range u.Skipped {
			lines = append(lines, fmt.Sprintf("%s: skipped: %s %s of %s: %s", s.Name, k.Kind, k.Name, k.Place, k.Reason))
		}
	}
	return lines
}

// PrintPods writes the table of `podstead get pods -A`.
func PrintPods(out io.Writer, pods []v1.Pod, now time.Time) error {
	return newPrinter(podView(), style{withNamespace: true}, out).all(pods, now)
}
