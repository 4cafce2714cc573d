package examples

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/podstead/podstead/manifests"
)

// member is a node of the fleet, with what it must get of the repository.
type member struct {
	name   string
	labels map[string]string
	pods   []string
}

func fleet() []member {
	return []member{
		{name: "edge-1", pods: []string{"door", "site", "telemetry"}},
		{name: "edge-2", labels: map[string]string{"site": "yard"}, pods: []string{"camera", "pump", "site", "telemetry"}},
		{name: "edge-3", pods: []string{"meter", "site", "telemetry"}},
	}
}

// reads are the files that podstead.yaml lets a node read: those of the
// repository, and those of its own folder.
func (m member) reads(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, folder := range []string{"shared", "nodes/" + m.name, "local"} {
		err := filepath.WalkDir(filepath.Join("fleet", folder), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// chosen reports whether a document is for the node.
func (m member) chosen(t *testing.T, doc manifests.Document) bool {
	t.Helper()
	if pod := doc.Pod(); pod != nil {
		return labels.SelectorFromSet(pod.Spec.NodeSelector).Matches(labels.Set(m.labels))
	}
	selector, err := labels.Parse(doc.Annotations[manifests.AnnotationNodeSelector])
	if err != nil {
		t.Error(err)
		return false
	}
	return selector.Matches(labels.Set(m.labels))
}

func TestTheFleetIsValidForEachNode(t *testing.T) {
	for _, m := range fleet() {
		t.Run(m.name, func(t *testing.T) {
			var pods []manifests.Pod
			objects := map[manifests.ObjectRef]bool{}
			opts := manifests.Options{Node: manifests.Node{Name: m.name, Labels: m.labels}, Kind: "git"}
			for _, file := range m.reads(t) {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				docs, faults := manifests.Decode(file, data, manifests.DefaultLimits())
				for _, doc := range docs {
					if !m.chosen(t, doc) {
						continue
					}
					var warnings, wrong []manifests.Fault
					if doc.IsObject() {
						var object *manifests.Object
						object, warnings, wrong = manifests.NewObject(doc, opts)
						if object != nil {
							objects[object.Ref()] = true
						}
					} else {
						var pod manifests.Pod
						pod, warnings, wrong = manifests.Static(doc, opts)
						pods = append(pods, pod)
					}
					faults = slices.Concat(faults, wrong, warnings)
				}
				for _, f := range faults {
					t.Error(f)
				}
			}
			var names []string
			for _, pod := range pods {
				names = append(names, strings.TrimSuffix(pod.Name, "-"+m.name))
				for _, ref := range pod.Refs {
					if !objects[ref] {
						t.Errorf("pod %s refers to %s, which this node does not get", pod.Name, ref)
					}
				}
			}
			if slices.Sort(names); !slices.Equal(names, m.pods) {
				t.Errorf("it gets %v, not %v", names, m.pods)
			}
		})
	}
}

func TestTheFleetsReadmeNamesEachFile(t *testing.T) {
	readme, err := os.ReadFile("fleet/README.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("fleet", func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel("fleet", path)
		if err == nil && !entry.IsDir() && name != "README.md" && !slices.Contains(links(string(readme)), name) {
			t.Errorf("README.md has no link to %s", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
