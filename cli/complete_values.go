package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
)

// looker finds what the agent knows. When none runs it knows nothing.
type looker struct {
	pods    func() []v1.Pod
	sources func() []api.Source
}

// newLooker asks the agent behind a connection, within ctx, without making it look
// at the engine.
func newLooker(ctx context.Context, conn connection) looker {
	client := conn.client(Terminal{})
	client.Warn = func(string) {}
	return looker{
		pods:    func() []v1.Pod { pods, _ := client.KnownPods(ctx); return pods },
		sources: func() []api.Source { sources, _ := client.Sources(ctx); return sources },
	}
}

// valuesOf are the values that a flag or an argument may have, as far as its name
// and its type tell.
func valuesOf(l *line, v *kong.Value, typed string, ask func() looker) []answer {
	if v.Enum != "" {
		return words(v.EnumSlice()...)
	}
	switch v.Target.Interface().(type) {
	case form:
		var forms []string
		for _, f := range templateForms() {
			forms = append(forms, f+"=")
		}
		if name, path, ok := strings.Cut(typed, "="); ok && strings.HasSuffix(name, "file") {
			return []answer{{files, path}}
		}
		return words(append(plainForms(), forms...)...)
	case dataForm:
		return words("json", "yaml")
	}
	if v.Flag != nil {
		return flagValues(l, v, ask)
	}
	return argumentValues(l, v, typed, ask)
}

func flagValues(l *line, v *kong.Value, ask func() looker) []answer {
	switch v.Name {
	case "namespace":
		return namespaces(ask().pods())
	case "container":
		return containers(l.pods(ask().pods()))
	case "sort-by":
		if alternatives := alternatives(v); alternatives != nil {
			return alternatives
		}
		return words(".metadata.name", ".metadata.namespace", ".status.startTime", ".lastTimestamp")
	case "field-selector":
		return words("status.phase=", "metadata.name=", "metadata.namespace=", "type=Warning", "reason=", "involvedObject.name=")
	case "for":
		return words("ready", "running", "gone", "revision=")
	}
	if alternatives := alternatives(v); alternatives != nil {
		return alternatives
	}
	if ofFiles(v) {
		return []answer{{word: files}}
	}
	return nil
}

// alternatives are the words of a placeholder such as cpu|memory.
func alternatives(v *kong.Value) []answer {
	if v.Flag == nil || !strings.Contains(v.Flag.PlaceHolder, "|") {
		return nil
	}
	return words(strings.Split(v.Flag.PlaceHolder, "|")...)
}

// ofFiles reports whether a value is a path on this machine.
func ofFiles(v *kong.Value) bool {
	names := []string{v.Name}
	if v.Flag != nil {
		names = append(names, v.Flag.PlaceHolder)
	}
	for _, n := range names {
		n = strings.ToUpper(n)
		if strings.Contains(n, "FILE") || strings.Contains(n, "PATH") || n == "DIR" || n == "CONFIG" {
			return true
		}
	}
	return slices.Contains([]string{"path", "existingfile", "existingdir"}, v.Tag.Type)
}

// argumentValues go by the argument's name: POD, SOURCE, POD|SOURCE, PORT, FILE and
// so on.
func argumentValues(l *line, v *kong.Value, typed string, ask func() looker) []answer {
	var answers []answer
	name := strings.ToUpper(v.Name)
	if strings.Contains(name, "POD") {
		answers = append(answers, l.podNames(ask().pods(), typed)...)
	}
	if strings.Contains(name, "SOURCE") {
		for _, s := range ask().sources() {
			answers = append(answers, answer{s.Name, s.Kind + " " + s.Place})
		}
	}
	if strings.HasPrefix(name, "PORT") {
		answers = append(answers, ports(l.pods(ask().pods()))...)
	}
	copies := l.node.Name == "cp" // POD:PATH or a path here
	if copies {
		for _, p := range l.podNames(ask().pods(), "") {
			answers = append(answers, answer{p.word + ":", p.about})
		}
	}
	if copies || ofFiles(v) {
		answers = append(answers, answer{word: files})
	}
	return slices.DeleteFunc(answers, func(a answer) bool { return a.word != files && slices.Contains(l.given, a.word) })
}

// scoped are the pods of the namespace that the line names.
func (l *line) scoped(pods []v1.Pod) []v1.Pod {
	namespace, given := l.flags["namespace"]
	if !given {
		namespace = v1.NamespaceDefault
	}
	if _, all := l.flags["all-namespaces"]; all {
		return pods
	}
	return slices.DeleteFunc(slices.Clone(pods), func(p v1.Pod) bool { return p.Namespace != namespace })
}

// podNames are the pods of the namespace as written in their manifests.
func (l *line) podNames(pods []v1.Pod, typed string) []answer {
	prefix := ""
	if kind, _, ok := strings.Cut(typed, "/"); ok {
		prefix = kind + "/"
	}
	var answers []answer
	for _, p := range l.scoped(pods) {
		a := answer{prefix + WrittenName(&p), string(p.Status.Phase)}
		if !slices.ContainsFunc(answers, func(b answer) bool { return a.word == b.word }) {
			answers = append(answers, a)
		}
	}
	return answers
}

// pods are those that the line names; all of the namespace when it names none.
func (l *line) pods(pods []v1.Pod) []v1.Pod {
	pods = l.scoped(pods)
	named := slices.DeleteFunc(slices.Clone(pods), func(p v1.Pod) bool {
		return !slices.ContainsFunc(l.given, func(name string) bool { return podNamed(&p, name) })
	})
	if len(named) > 0 {
		return named
	}
	return pods
}

func containers(pods []v1.Pod) []answer {
	var names []string
	for _, p := range pods {
		for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
			names = append(names, c.Name)
		}
	}
	return unique(names)
}

func ports(pods []v1.Pod) []answer {
	var names []string
	for _, p := range pods {
		for _, c := range p.Spec.Containers {
			for _, port := range c.Ports {
				if port.Name != "" {
					names = append(names, port.Name)
				}
			}
		}
	}
	return unique(names)
}

func namespaces(pods []v1.Pod) []answer {
	var names []string
	for _, p := range pods {
		names = append(names, p.Namespace)
	}
	return unique(names)
}

// unique are words without repetition.
func unique(list []string) []answer {
	slices.Sort(list)
	return words(slices.Compact(list)...)
}

func words(list ...string) []answer {
	answers := make([]answer, len(list))
	for i, w := range list {
		answers[i].word = w
	}
	return answers
}
