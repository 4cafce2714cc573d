package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// shape is how a list is shown, with kubectl's flags.
type shape struct {
	coloured
	Output      form   `short:"o" placeholder:"wide|json|yaml|name|jsonpath=…|go-template=…|custom-columns=…" help:"More columns, another form, or a template (also jsonpath-file=, jsonpath-as-json=, go-template-file=, custom-columns-file=)."`
	SortBy      string `placeholder:"JSONPATH" help:"Sort by what a path finds in each, such as .metadata.name."`
	NoHeaders   bool   `help:"Tables without their line of headers."`
	MissingKeys bool   `name:"allow-missing-template-keys" default:"true" help:"A key of a template that is not there prints nothing; =false makes it an error."`
}

// style is the printer's, for a list that goes to the terminal's output.
func (s shape) style(t Terminal, withNamespace bool) style {
	return style{form: s.Output, withNamespace: withNamespace, noHeaders: s.NoHeaders, strictKeys: !s.MissingKeys, colour: s.on(t.Out)}
}

// listing is a shape of what can be watched.
type listing struct {
	shape
	Watch bool `short:"w" help:"Go on and show each change."`
}

// labelFlags select by labels and show them.
type labelFlags struct {
	Selector     string   `short:"l" placeholder:"SELECTOR" help:"Only what has these labels, such as app=web,tier!=test."`
	ShowLabels   bool     `help:"All labels as a last column."`
	LabelColumns []string `short:"L" placeholder:"LABEL" help:"Columns of these labels."`
}

// podChoice is a parsed choice of pods beyond their names.
type podChoice struct {
	labels labels.Selector
	fields fields.Selector
}

// newPodChoice reads the selectors. What can be selected by is what an API server
// knows of pods.
func newPodChoice(byLabel, byField string, names []string) (podChoice, error) {
	wrong := func(format string, args ...any) (podChoice, error) {
		return podChoice{}, &Exit{Code: ExitConfig, Err: fmt.Errorf(format, args...)}
	}
	if len(names) > 0 && byLabel+byField != "" {
		return wrong("names cannot be together with a selector: drop %s, or --selector and --field-selector", strings.Join(names, ", "))
	}
	byLabels, err := labels.Parse(byLabel)
	if err != nil {
		return wrong("--selector %q cannot be read: %w; want something like app=web,tier!=test", byLabel, err)
	}
	byFields, err := parseFields(byField, podFields(&v1.Pod{}))
	if err != nil {
		return wrong("%w", err)
	}
	return podChoice{labels: byLabels, fields: byFields}, nil
}

func (c podChoice) selects(pod *v1.Pod) bool {
	return c.labels.Matches(labels.Set(pod.Labels)) && (c.fields.Empty() || c.fields.Matches(podFields(pod)))
}

// podFields are the fields of a pod that an API server selects by.
func podFields(p *v1.Pod) fields.Set {
	return fields.Set{
		"metadata.name": p.Name, "metadata.namespace": p.Namespace, "spec.nodeName": p.Spec.NodeName,
		"spec.restartPolicy": string(p.Spec.RestartPolicy), "spec.hostNetwork": fmt.Sprint(p.Spec.HostNetwork),
		"status.phase": string(p.Status.Phase), "status.podIP": p.Status.PodIP,
	}
}

// eventFields are the fields of an event that an API server selects by.
func eventFields(e *v1.Event) fields.Set {
	about := e.InvolvedObject
	return fields.Set{
		"metadata.name": e.Name, "metadata.namespace": e.Namespace, "type": e.Type, "reason": e.Reason,
		"involvedObject.kind": about.Kind, "involvedObject.namespace": about.Namespace, "involvedObject.name": about.Name,
		"involvedObject.uid": string(about.UID), "involvedObject.fieldPath": about.FieldPath, "source": e.Source.Component,
	}
}

// parseFields reads a selector over the fields that known has.
func parseFields(text string, known fields.Set) (fields.Selector, error) {
	selector, err := fields.ParseSelector(text)
	if err != nil {
		return nil, fmt.Errorf("--field-selector %q cannot be read: %w; want something like status.phase=Running", text, err)
	}
	for _, r := range selector.Requirements() {
		if !known.Has(r.Field) {
			return nil, fmt.Errorf("--field-selector: %q is not one of %s", r.Field, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return selector, nil
}
