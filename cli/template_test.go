package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
)

func TestTemplatesPrintAsKubectlsDo(t *testing.T) {
	file := func(text string) string { return templateFile(t, text) }
	cases := []struct {
		name, form string
		single     bool
		noHeaders  bool
		strict     bool
		want       string // "!" and part of the error
	}{
		{name: "jsonpath over the list", form: "jsonpath={.items[*].metadata.name}", want: "db-n1 web-n1"},
		{name: "jsonpath over the one that was named", form: "jsonpath={.metadata.name}", single: true, want: "web-n1"},
		{name: "no line end of its own", form: `jsonpath={range .items[*]}{.metadata.name}{"\t"}{.status.phase}{"\n"}{end}`, want: "db-n1\tPending\nweb-n1\tRunning\n"},
		{name: "a filter", form: `jsonpath={.items[?(@.status.phase=="Running")].metadata.uid}`, want: "u1"},
		{name: "text without braces is text", form: "jsonpath=.metadata.name", single: true, want: ".metadata.name"},
		{name: "a missing key prints nothing", form: "jsonpath=<{.metadata.nope}>", single: true, want: "<>"},
		{name: "a missing key, strictly", form: "jsonpath={.metadata.nope}", single: true, strict: true, want: `!jsonpath "{.metadata.nope}": nope is not found`},
		{name: "a jsonpath that is none", form: "jsonpath={.metadata", want: `!jsonpath "{.metadata" cannot be read: unclosed action`},
		{name: "whole numbers stay whole", form: "jsonpath={.status.containerStatuses[0].restartCount}", single: true, want: "3"},
		{name: "as JSON", form: "jsonpath-as-json={.metadata.name}", single: true, want: "[\n    \"web-n1\"\n]\n"},
		{name: "jsonpath from a file", form: "jsonpath-file=" + file("{.kind}"), want: "List"},
		{name: "a template file that is not there", form: "go-template-file=/nowhere/t", want: "!go-template-file: open /nowhere/t"},
		{name: "go-template", form: `go-template={{range .items}}{{.metadata.name}}{{"\n"}}{{end}}`, want: "db-n1\nweb-n1\n"},
		{name: "go-template by its old name", form: "template={{.kind}}", single: true, want: "Pod"},
		{name: "go-template from a file", form: "go-template-file=" + file("{{.kind}}"), want: "List"},
		{name: "a missing key of a go-template", form: "go-template={{.metadata.nope}}", single: true, want: "<no value>"},
		{name: "a missing key of a go-template, strictly", form: "go-template={{.metadata.nope}}", single: true, strict: true, want: `!error executing template "{{.metadata.nope}}"`},
		{name: "a go-template that is none", form: "go-template={{.x", want: `!go-template "{{.x" cannot be read`},
		{name: "columns", form: "custom-columns=NAME:.metadata.name,IP:status.podIP,ALL:{.spec.containers[*].name}", want: "NAME     IP           ALL\ndb-n1    <none>       a,b\nweb-n1   10.112.0.2   main\n"},
		{name: "columns without headers", form: "custom-columns=NAME:.metadata.name", noHeaders: true, want: "db-n1\nweb-n1\n"},
		{name: "columns of one", form: "custom-columns=NAME:{metadata.name}", single: true, want: "NAME\nweb-n1\n"},
		{name: "columns from a file", form: "custom-columns-file=" + file("NAME UID\nmetadata.name metadata.uid\n"), want: "NAME     UID\ndb-n1    u2\nweb-n1   u1\n"},
		{name: "columns of unequal number", form: "custom-columns-file=" + file("NAME UID\nmetadata.name\n"), want: "!want a line of headers and a line of as many paths, have 2 and 1"},
		{name: "a column without a path", form: "custom-columns=NAME", want: `!"NAME" is not of the form HEADER:PATH`},
		{name: "a path that is none", form: "custom-columns=NAME:{.a", want: `!path "{.a" is not of the form`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			pods := somePods()
			if c.single {
				pods = pods[1:]
			}
			var out bytes.Buffer
			err := newPrinter(podView(), style{form: form(c.form), single: c.single, noHeaders: c.noHeaders, strictKeys: c.strict}, &out).all(pods, noon)
			if part, bad := strings.CutPrefix(c.want, "!"); bad {
				if err == nil || !strings.Contains(err.Error(), part) || out.Len() > 0 {
					t.Errorf("error %v, want %q; printed %q", err, part, &out)
				}
				return
			}
			if err != nil || out.String() != c.want {
				t.Errorf("%q, %v; want %q", &out, err, c.want)
			}
		})
	}
}

func TestSourcesAreSeenByTemplatesToo(t *testing.T) {
	var out bytes.Buffer
	if err := newPrinter(sourceView(), style{form: "jsonpath={.items[?(@.state==\"Held\")].name} {.kind}"}, &out).all(someSources(), noon); err != nil || out.String() != "git SourceList" {
		t.Errorf("%q, %v", &out, err)
	}
	out.Reset()
	if err := newPrinter(sourceView(), style{form: "jsonpath={.kind}/{.name}", single: true}, &out).all(someSources()[:1], noon); err != nil || out.String() != "Source/file" {
		t.Errorf("%q, %v", &out, err)
	}
}

func TestAWatchWithColumnsHasOneLineOfHeaders(t *testing.T) {
	var out bytes.Buffer
	p := newPrinter(podView(), style{form: "custom-columns=NAME:.metadata.name,PHASE:.status.phase"}, &out)
	for _, pod := range somePods() {
		if err := p.one(pod, noon); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); strings.Count(got, "NAME") != 1 || strings.Count(got, "\n") != 3 {
		t.Errorf("%q", got)
	}
}

func TestOfOnePodTheVersionThatServesIsShown(t *testing.T) {
	old, next := somePods()[1], somePods()[1]
	next.UID, next.Status.Conditions = "u9", nil
	gone := ago(0)
	ending := next
	ending.UID, ending.DeletionTimestamp = "u8", &gone
	cases := []struct {
		name string
		pods []v1.Pod
		want string
	}{
		{"the ready one", []v1.Pod{next, old}, "u1"},
		{"none is ready: the one that stays", []v1.Pod{ending, next}, "u9"},
		{"the last of all", []v1.Pod{ending}, "u8"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := serving(c.pods); string(got.UID) != c.want {
				t.Errorf("%s, want %s", got.UID, c.want)
			}
		})
	}
}

func TestListsAreSortedByWhatAPathFinds(t *testing.T) {
	type thing struct {
		Name  string `json:"name,omitempty"`
		Count int    `json:"count,omitempty"`
		Size  string `json:"size,omitempty"`
	}
	cases := []struct {
		name, path string
		things     []thing
		want       string // names, or "!" and part of the error
	}{
		{"texts with numbers in them", ".name", []thing{{Name: "web-10"}, {Name: "web-9"}, {Name: "db-1"}}, "db-1 web-9 web-10"},
		{"numbers", "{.count}", []thing{{Name: "a", Count: 10}, {Name: "b", Count: 9}}, "b a"},
		{"quantities", "size", []thing{{Name: "a", Size: "1Gi"}, {Name: "b", Size: "900Mi"}}, "b a"},
		{"what lacks it comes first", ".count", []thing{{Name: "a", Count: 1}, {Name: "b"}}, "b a"},
		{"equal ones stay in order", ".size", []thing{{Name: "a", Size: "x"}, {Name: "b", Size: "x"}}, "a b"},
		{"all lack it", ".nope", []thing{{Name: "a"}}, `!none of them has a field ".nope"`},
		{"no path", "{.a", []thing{{Name: "a"}}, "!--sort-by: path"},
		{"not asked for", "", []thing{{Name: "b"}, {Name: "a"}}, "b a"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := sorted(c.things, c.path)
			if part, bad := strings.CutPrefix(c.want, "!"); bad {
				var exit *Exit
				if !errors.As(err, &exit) || exit.Code != ExitConfig || !strings.Contains(err.Error(), part) {
					t.Errorf("error %v, want %q", err, part)
				}
				return
			}
			var names []string
			for _, g := range got {
				names = append(names, g.Name)
			}
			if err != nil || strings.Join(names, " ") != c.want {
				t.Errorf("%v, %v; want %s", names, err, c.want)
			}
		})
	}
}

func TestPodsAreChosenByLabelsAndFields(t *testing.T) {
	pod := somePods()[1]
	pod.Labels = map[string]string{"app": "web"}
	cases := []struct {
		name, labels, fields string
		names                []string
		want                 string // yes, no, or "!" and part of the error
	}{
		{name: "all", want: "yes"},
		{name: "a label", labels: "app=web", want: "yes"},
		{name: "another label", labels: "app in (db)", want: "no"},
		{name: "a phase", fields: "status.phase=Running", want: "yes"},
		{name: "not a phase", fields: "status.phase!=Running", want: "no"},
		{name: "both", labels: "app", fields: "metadata.namespace=default,metadata.name=web-n1", want: "yes"},
		{name: "an unknown field", fields: "status.ip=1", want: `!"status.ip" is not one of metadata.name, metadata.namespace`},
		{name: "no selector", labels: "app=a=b", want: "!--selector"},
		{name: "no field selector", fields: "phase", want: "!--field-selector"},
		{name: "names too", labels: "app=web", names: []string{"web"}, want: "!drop web, or --selector"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			choice, err := newPodChoice(c.labels, c.fields, c.names)
			if part, bad := strings.CutPrefix(c.want, "!"); bad {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("error %v, want %q", err, part)
				}
				return
			}
			if err != nil || choice.selects(&pod) != (c.want == "yes") {
				t.Errorf("%v, %v; want %s", choice.selects(&pod), err, c.want)
			}
		})
	}
}

func TestColoursLeaveTheColumnsWhereTheyWere(t *testing.T) {
	show := func(colour bool) string {
		var out bytes.Buffer
		for _, err := range []error{
			newPrinter(podView(), style{withNamespace: true, colour: colour}, &out).all(somePods(), noon),
			newPrinter(podView(), style{noHeaders: true, colour: colour}, &out).all(somePods(), noon),
			newPrinter(eventView(), style{form: "wide", colour: colour}, &out).all(someEvents(), noon),
			newPrinter(sourceView(), style{colour: colour}, &out).all(someSources(), noon),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return out.String()
	}
	bare, painted := show(false), show(true)
	if strings.Contains(bare, "\x1b") {
		t.Errorf("coloured without being asked:\n%s", bare)
	}
	stripped := painted
	for _, h := range []hue{green, yellow, red, uncoloured} {
		stripped = strings.ReplaceAll(stripped, string(h), "")
	}
	if stripped != bare {
		t.Errorf("without colours\n%s\nwant\n%s", stripped, bare)
	}
	for _, want := range []string{green.paint("Running"), red.paint("ErrImagePull"), yellow.paint("Warning"), red.paint("Error"), yellow.paint("Held"), yellow.paint("Waiting")} {
		if !strings.Contains(painted, want) {
			t.Errorf("not coloured: %q", want)
		}
	}
}

func TestWhenWordsAreColoured(t *testing.T) {
	cases := []struct {
		flag string
		want bool
	}{{"always", true}, {"never", false}, {"auto", false}} // a buffer is no terminal
	for _, c := range cases {
		if got := (coloured{Color: c.flag}).on(&bytes.Buffer{}); got != c.want {
			t.Errorf("--color=%s: %v", c.flag, got)
		}
	}
}

func TestHuesSayHowAPodIs(t *testing.T) {
	ready := somePods()[1]
	unready := somePods()[1]
	unready.Status.ContainerStatuses[0].Ready = false
	done := v1.Pod{Status: v1.PodStatus{Phase: v1.PodSucceeded}}
	cases := []struct {
		name string
		pod  v1.Pod
		want hue
	}{
		{"ready", ready, green}, {"running, not ready", unready, yellow}, {"no image", somePods()[0], red}, {"done", done, green},
		{"new", v1.Pod{Status: v1.PodStatus{Phase: v1.PodPending}}, yellow},
		{"failed", v1.Pod{Status: v1.PodStatus{Phase: v1.PodFailed, Reason: "Evicted"}}, red},
	}
	for _, c := range cases {
		if got := podHue(&c.pod); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if sourceHue(&api.Source{State: api.SourceReady}) != green {
		t.Error("a ready source is not green")
	}
}

// Templates print what manifests say, and a terminal may not obey it.
func TestTemplatesDoNotReachTheTerminalEither(t *testing.T) {
	var out bytes.Buffer
	if _, err := (guard{&out}).Write([]byte("a\tb\n\x1b]0;mine\a\u009b2J\r")); err != nil || out.String() != "a\tb\n"+`\x1b]0;mine\a\u009b2J\r` {
		t.Errorf("%q, %v", &out, err)
	}
	pod := somePods()[1]
	pod.Annotations["x"] = "\x1b[2J\nfleet"
	out.Reset()
	if err := newPrinter(podView(), style{form: "custom-columns=X:.metadata.annotations.x", noHeaders: true}, &out).all([]v1.Pod{pod}, time.Now()); err != nil || out.String() != `\x1b[2J; fleet`+"\n" {
		t.Errorf("%q, %v", &out, err)
	}
}

func templateFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "template")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
