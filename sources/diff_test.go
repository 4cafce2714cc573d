package sources

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/manifests"
)

func TestDiffOfOnePod(t *testing.T) {
	soon := metav1.NewTime(time.Unix(100, 0))
	tests := []struct {
		name string
		edit func(*Pod)
		want Op // SET for nothing
	}{
		{"nothing", func(*Pod) {}, SET},
		{"revision", func(p *Pod) { p.Origin.Revision = "sha256:other" }, SET},
		{"place in the unit", func(p *Pod) { p.Origin.Document, p.Origin.Line = 7, 70 }, SET},
		{"unit", func(p *Pod) { p.Origin.Unit = "other.yaml" }, UPDATE},
		{"source", func(p *Pod) { p.Origin.Source = "file-2" }, UPDATE},
		{"label", func(p *Pod) { p.Labels = map[string]string{"a": "b"} }, UPDATE},
		{"annotation", func(p *Pod) { p.Annotations = map[string]string{"a": "b"} }, UPDATE},
		{"annotation gone", func(p *Pod) { p.Annotations = nil }, UPDATE},
		{"when it was seen", func(p *Pod) {
			p.Annotations = maps.Clone(p.Annotations)
			p.Annotations["kubernetes.io/config.seen"] = "now"
		}, SET},
		{"spec, as only API pods can under one UID", func(p *Pod) { p.Spec.Containers = []v1.Container{{Image: "b"}} }, UPDATE},
		{"deletion", func(p *Pod) { p.DeletionTimestamp = &soon }, DELETE},
		{"status", func(p *Pod) { p.Status.Message = "x" }, RECONCILE},
		{"object", func(p *Pod) { p.Objects = objectsOf("m=2") }, RECONCILE},
		{"object gone", func(p *Pod) { p.Objects = nil }, RECONCILE},
		{"another object", func(p *Pod) { p.Objects = objectsOf("n=1") }, RECONCILE},
		{"object read again, from elsewhere", func(p *Pod) { p.Objects = objectsOf("m=1@moved.yaml") }, SET},
		{"object and label", func(p *Pod) { p.Objects, p.Labels = objectsOf("m=2"), map[string]string{"a": "b"} }, UPDATE},
		{"empty maps for none", func(p *Pod) { p.Labels = map[string]string{} }, SET},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			old := madePod("file", "lamp=1")
			old.Annotations = map[string]string{"kept": "yes"}
			old.Objects = objectsOf("m=1")
			young := old
			young.Pod.Pod = old.Pod.Pod.DeepCopy()
			tt.edit(&young)
			changes := diff([]Pod{old}, []Pod{young})
			switch {
			case tt.want == SET && len(changes) > 0:
				t.Errorf("got %v, want nothing", words(changes))
			case tt.want != SET && (len(changes) != 1 || changes[0].Op != tt.want):
				t.Errorf("got %v, want %v", words(changes), tt.want)
			}
		})
	}
}

func TestDiffOfSets(t *testing.T) {
	tests := []struct {
		name     string
		old, new string // pods
		want     []string
	}{
		{"same", "a b c", "a b c", nil},
		{"first", "", "a b", []string{"ADD a", "ADD b"}},
		{"all gone", "a b", "", []string{"REMOVE a", "REMOVE b"}},
		{"one in the middle replaced", "a b=1 c", "a b=2 c", []string{"REMOVE b=1", "ADD b=2"}},
		{"one inserted", "a c", "a b c", []string{"ADD b"}},
		{"one left out", "a b c", "a c", []string{"REMOVE b"}},
		{"only the order", "a b c d", "d b c a", nil},
		{"removals first, updates last", "a b c=1", "b@x c=2 d", []string{"REMOVE a", "REMOVE c=1", "ADD c=2", "ADD d", "UPDATE b"}},
	}
	set := func(names string) (pods []Pod) {
		for _, name := range strings.Fields(names) {
			pods = append(pods, madePod("file", name))
		}
		return pods
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range diff(set(tt.old), set(tt.new)) {
				got = append(got, c.Op.String()+" "+strings.TrimSuffix(string(c.Pod.UID), "="))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func objectsOf(words ...string) manifests.Objects {
	var all []*manifests.Object
	for _, word := range words {
		all = append(all, madeObject("file", word).Object)
	}
	return manifests.NewObjects(all)
}
