package cli

import (
	"bytes"
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/manifests"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it):\n%s\nwant\n%s", path, got, want)
	}
}

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-d)) }

func somePods() []v1.Pod {
	started := ago(3 * time.Hour)
	web := v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-n1", Namespace: "default", UID: types.UID("u1"),
			Annotations: map[string]string{manifests.AnnotationSource: "file", manifests.AnnotationRevision: "sha256:0123456789ab"}},
		Spec: v1.PodSpec{NodeName: "n1", Containers: []v1.Container{{Name: "main"}}},
		Status: v1.PodStatus{Phase: v1.PodRunning, PodIP: "10.112.0.2", StartTime: &started,
			Conditions: []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}},
			ContainerStatuses: []v1.ContainerStatus{{Name: "main", Ready: true, RestartCount: 3,
				State:                v1.ContainerState{Running: &v1.ContainerStateRunning{}},
				LastTerminationState: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{FinishedAt: ago(5 * time.Minute)}}}}},
	}
	db := v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "db-n1", Namespace: "data", UID: types.UID("u2")},
		Spec:       v1.PodSpec{NodeName: "n1", Containers: []v1.Container{{Name: "a"}, {Name: "b"}}},
		Status: v1.PodStatus{Phase: v1.PodPending, ContainerStatuses: []v1.ContainerStatus{{Name: "a",
			State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}}}}},
	}
	return []v1.Pod{db, web}
}

func someSources() []api.Source {
	return []api.Source{
		{Name: "file", Kind: "file", State: api.SourceError, Place: "/etc/podstead/manifests", Revision: "sha256:0123456789ab", Pods: 2, Live: true, Taken: noon.Add(-time.Minute),
			Units: []api.Unit{{Name: "web.yaml", Faults: []api.Fault{{Place: "web.yaml:3:5", Field: "spec.containers[0].imag", Message: "unknown field"}},
				Warnings: []api.Fault{{Place: "web.yaml:1", Message: "kind DaemonSet is not run"}},
				Skipped:  []api.Skipped{{Place: "web.yaml:9", Kind: "Pod", Name: "default/x", Reason: "nodeName is n2"}}}},
			Losers: []api.Loser{{Name: "default/web-n1", Place: "copy.yaml:1", Winner: "source file, web.yaml:1"}}},
		{Name: "file-2", Kind: "file", State: api.SourceWaiting, Place: "/srv/pods"},
		{Name: "git", Kind: "git", State: api.SourceHeld, Place: "https://git.example/fleet@main", Revision: "0123456789abcdef0123456789abcdef01234567", Pods: 5, Live: true,
			Taken: noon.Add(-time.Hour), NextPoll: noon.Add(40 * time.Second), Held: "RemovalHeld: revision fedcba9 would remove 5 of 5 pods; to let it through: podstead sync --allow-removal git",
			Objects: []api.Object{{Kind: "ConfigMap", Name: "default/web", Place: "pods/web.yaml:9"}, {Kind: "Secret", Name: "default/web", Place: "pods/web.yaml:20"}}},
		{Name: "http", Kind: "http", State: api.SourceError, Place: "https://h/pods", Revision: "sha256:00aa00aa00aa", Pods: 1, LastGood: true, Faults: []api.Fault{{Place: "https://h/pods", Message: "connection refused"}}},
	}
}

func someEvents() []v1.Event {
	about := v1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "web-n1", FieldPath: "spec.containers{main}"}
	return []v1.Event{
		{ObjectMeta: metav1.ObjectMeta{Name: "web-n1.1", Namespace: "default"}, InvolvedObject: about, Type: "Normal", Reason: "Started", Message: "Started container main\n",
			Source: v1.EventSource{Component: "podstead", Host: "n1"}, FirstTimestamp: ago(time.Hour), LastTimestamp: ago(time.Hour), Count: 1},
		{ObjectMeta: metav1.ObjectMeta{Name: "web-n1.2", Namespace: "default"}, InvolvedObject: about, Type: "Warning", Reason: "BackOff", Message: "Back-off restarting failed container",
			Source: v1.EventSource{Component: "podstead", Host: "n1"}, FirstTimestamp: ago(time.Hour), LastTimestamp: ago(10 * time.Second), Count: 7},
	}
}

func TestListsInEveryForm(t *testing.T) {
	for _, form := range []form{"", "wide", "name", "yaml", "json"} {
		file := cmp.Or(string(form), "table") + ".txt"
		t.Run(string(form), func(t *testing.T) {
			var out bytes.Buffer
			if err := newPrinter(podView(), style{form: form, withNamespace: true}, &out).all(somePods(), noon); err != nil {
				t.Fatal(err)
			}
			out.WriteString("\n")
			if err := newPrinter(eventView(), style{form: form}, &out).all(someEvents(), noon); err != nil {
				t.Fatal(err)
			}
			out.WriteString("\n")
			if err := newPrinter(sourceView(), style{form: form}, &out).all(someSources(), noon); err != nil {
				t.Fatal(err)
			}
			if form == "" || form == "wide" {
				if err := PrintProblems(&out, someSources(), form == "wide"); err != nil {
					t.Fatal(err)
				}
			}
			golden(t, file, out.String())
		})
	}
}

func TestAWatchKeepsItsColumns(t *testing.T) {
	var out bytes.Buffer
	p := newPrinter(podView(), style{withNamespace: true}, &out)
	for _, pod := range somePods() {
		if err := p.one(pod, noon); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 4 || strings.Count(out.String(), "NAMESPACE") != 1 {
		t.Errorf("printed\n%s", out.String())
	}
}

func TestOneScreenOfStatus(t *testing.T) {
	h := health{Sources: someSources(), Pods: somePods(), Agent: api.Status{Node: "n1", Version: "v1", PID: 7, Started: noon.Add(-time.Hour), RootDir: "/var/lib/podstead",
		Configuration: api.Configuration{File: "/etc/podstead/config.yaml", Taken: noon.Add(-time.Minute), Pending: []string{"maxPods (--max-pods)"}},
		Webhook:       &api.Webhook{Address: "[::]:9443"},
		Engine:        api.Engine{Endpoint: "unix:///var/run/docker.sock", Name: "docker", Version: "20.10.24", APIVersion: "1.41"}}}
	h.Problems = problems(h)
	var out bytes.Buffer
	if err := h.print(&out, noon, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "status.txt", out.String())
	out.Reset()
	if err := h.print(&out, noon, true); err != nil || !strings.Contains(out.String(), red.paint("1 not well")) || !strings.Contains(out.String(), red.paint("Error,LastGood")) {
		t.Errorf("in colour: %q, %v", &out, err)
	}
}

func TestWhatStatusCallsAProblem(t *testing.T) {
	pods := somePods()
	done := v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "job", Namespace: "default"}, Status: v1.PodStatus{Phase: v1.PodSucceeded}}
	cases := []struct {
		name string
		of   health
		want []string // begins of the problems
	}{
		{"nothing at all", health{}, nil},
		{"all well", health{Pods: []v1.Pod{pods[1], done}, Sources: []api.Source{{State: api.SourceReady}}}, nil},
		{"last good runs, nothing heard yet", health{Sources: []api.Source{{State: api.SourceLastGood}}}, nil},
		{"engine away", health{Agent: api.Status{Engine: api.Engine{Error: "refused"}}}, []string{"engine: refused"}},
		{"a source in error", health{Sources: someSources()[:2]}, []string{"source file: web.yaml:3:5: spec.containers[0].imag: unknown field"}},
		{"a source held", health{Sources: someSources()[2:3]}, []string{"source git: RemovalHeld: revision fedcba9 would remove 5 of 5 pods; to let it through: podstead sync --allow-removal git"}},
		{"a configuration that is refused", health{Agent: api.Status{Configuration: api.Configuration{Error: "c.yaml:3:1: x"}}}, []string{"configuration: its newest version has no effect: c.yaml:3:1: x"}},
		{"a configuration of two faults", health{Agent: api.Status{Configuration: api.Configuration{Error: "c.yaml:3:1: x\nc.yaml:4:1: y"}}}, []string{
			"configuration: its newest version has no effect: c.yaml:3:1: x", "configuration: its newest version has no effect: c.yaml:4:1: y"}},
		{"a webhook without an address", health{Agent: api.Status{Webhook: &api.Webhook{Error: "in use"}}}, []string{"webhook: in use"}},
		{"a pod not ready", health{Pods: pods}, []string{"pod data/db-n1: ErrImagePull: no such image"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := problems(c.of); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// Who writes a manifest must not write on the terminal of who looks at it.
func TestManifestsDoNotReachTheTerminal(t *testing.T) {
	const evil = "x\x1b]0;mine\a\u009b2J\r\nfleet: all is well\tüé"
	const told = `x\x1b]0;mine\a\u009b2J\r; fleet: all is well\tüé`
	if got := OneLine(evil); got != told {
		t.Errorf("%q, want %q", got, told)
	}
	source := api.Source{
		Name: "fleet", Held: evil,
		Units: []api.Unit{{
			Faults:   []api.Fault{{Place: evil, Field: evil, Message: evil}},
			Warnings: []api.Fault{{Message: evil}},
			Skipped:  []api.Skipped{{Name: evil, Kind: evil}},
		}},
	}
	var out strings.Builder
	if err := PrintProblems(&out, []api.Source{source}, true); err != nil {
		t.Fatal(err)
	}
	if err := printSync(&out, []api.SyncResult{{Source: "fleet", Error: evil}}); err != nil {
		t.Fatal(err)
	}
	if err := (health{Problems: []string{evil}}).print(&out, time.Now(), false); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\a\r\u009b") || strings.Contains(out.String(), "\nfleet: all") {
		t.Errorf("%q", out.String())
	}
}
