package manifests

import (
	"os"
	"strings"
	"testing"

	"k8s.io/kubernetes/pkg/capabilities"
)

// TestMain allows privileged containers, as cmd does before any validation.
func TestMain(m *testing.M) {
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
	os.Exit(m.Run())
}

var edge = Options{Node: Node{Name: "edge01"}, Kind: "file"}

// decodeAll is Decode with the default limits.
func decodeAll(data string) ([]Document, []Fault) {
	return Decode("pod.yaml", []byte(data), DefaultLimits())
}

// decodeOne is the only document of a unit without faults of its frame.
func decodeOne(t *testing.T, data string) Document {
	t.Helper()
	docs, faults := decodeAll(data)
	if len(faults) > 0 {
		t.Fatalf("decode: %v", faults)
	}
	if len(docs) != 1 {
		t.Fatalf("decode: %d documents, want 1", len(docs))
	}
	return docs[0]
}

// runnable is the static pod of a unit that holds one, without faults.
func runnable(t *testing.T, data string) Pod {
	t.Helper()
	pod, _, faults := Static(decodeOne(t, data), edge)
	if len(faults) > 0 {
		t.Fatalf("static: %v", faults)
	}
	return pod
}

// faultsOf is everything that is wrong with a unit, one line each.
func faultsOf(data string, opts Options) (warnings, faults []string) {
	docs, found := decodeAll(data)
	faults = lines(found)
	for _, doc := range docs {
		if doc.Pod() == nil {
			continue
		}
		_, w, f := Static(doc, opts)
		warnings = append(warnings, lines(w)...)
		faults = append(faults, lines(f)...)
	}
	return warnings, faults
}

func lines(faults []Fault) []string {
	var out []string
	for _, f := range faults {
		out = append(out, f.Error())
	}
	return out
}

// sameLines compares what was told with what was to be told.
func sameLines(t *testing.T, got, want []string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got:\n%s\nwant:\n%s", g, w)
	}
}

func readTestdata(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
