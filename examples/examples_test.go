// Package examples holds manifests to copy, and the tests that keep them true.
package examples

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/podstead/podstead/manifests"
)

// node is the one that every example is for.
var node = manifests.Node{Name: "examples", Labels: map[string]string{
	"kubernetes.io/hostname": "examples", "kubernetes.io/os": "linux", "site": "lab",
}}

// files are the manifests of this folder.
func files(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"*.yaml", "*.json"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, names...)
	}
	if len(found) == 0 {
		t.Fatal("no examples here")
	}
	slices.Sort(found)
	return found
}

func TestEachExampleIsValid(t *testing.T) {
	seen := map[string]string{}
	for _, file := range files(t) {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			docs, faults := manifests.Decode(file, data, manifests.DefaultLimits())
			for _, f := range faults {
				t.Error(f)
			}
			if len(docs) == 0 {
				t.Fatal("no document")
			}
			for _, doc := range docs {
				pod, warnings, faults := manifests.Static(doc, manifests.Options{Node: node, Kind: "file"})
				for _, f := range append(faults, warnings...) {
					t.Error(f)
				}
				if len(faults) > 0 {
					continue
				}
				if other, taken := seen[pod.Name]; taken {
					t.Errorf("pod %s is in %s too: examples must fit into one folder", pod.Name, other)
				}
				seen[pod.Name] = file
			}
		})
	}
}

func TestTheReadmeNamesEachExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files(t) {
		if !slices.Contains(links(string(readme)), file) {
			t.Errorf("README.md has no link to %s", file)
		}
	}
}
