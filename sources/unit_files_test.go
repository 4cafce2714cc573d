package sources

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/podstead/podstead/manifests"
)

func gitReader() unitReader {
	return unitReader{source: "fleet", kind: KindGit, node: testNode, limits: manifests.DefaultLimits(), unsupported: UnsupportedWarn}
}

func texts(faults []manifests.Fault) []string {
	var all []string
	for _, f := range faults {
		all = append(all, f.Error())
	}
	return all
}

func TestManyFilesAreOneVersion(t *testing.T) {
	v := gitReader().readFiles("main", "abc123", []unitFile{
		{Name: "pods/a.yaml", Data: []byte(manifest("a", "1"))},
		{Name: "pods/b.yaml", Data: []byte("# two\n---\n" + manifest("b", "1") + "---\n" + manifest("c", "1"))},
	})
	if v.faulty() || len(v.pods) != 3 {
		t.Fatalf("%d pods, faults %v", len(v.pods), texts(v.unit.Faults))
	}
	want := Origin{Source: "fleet", Kind: KindGit, Unit: "main", File: "pods/b.yaml", Document: 2, Line: 13, Revision: "abc123", NodeControl: true}
	if got := v.pods[2].Origin; got != want {
		t.Errorf("origin %+v, want %+v", got, want)
	}
	if got := v.pods[2].Place.String(); got != "pods/b.yaml:13:1" {
		t.Errorf("place %s", got)
	}
	if v.unit.Name != "main" || v.unit.Revision != "abc123" {
		t.Errorf("unit %+v", v.unit)
	}
}

func TestOneBadFileHoldsTheWholeUnit(t *testing.T) {
	v := gitReader().readFiles("main", "abc123", []unitFile{
		{Name: "a.yaml", Data: []byte("a: [")},
		{Name: "b.yaml", Data: []byte(manifest("b", "1"))},
		{Name: "c.yaml", Data: []byte(strings.Replace(manifest("c", "1"), "containers", "containerz", 1))},
	})
	if len(v.pods) != 0 {
		t.Errorf("%d pods of a unit at fault", len(v.pods))
	}
	all := strings.Join(texts(v.unit.Faults), "\n")
	for _, part := range []string{"a.yaml:", "c.yaml:6:3: spec.containerz"} {
		if !strings.Contains(all, part) {
			t.Errorf("not told: %s in\n%s", part, all)
		}
	}
}

func TestManyFilesAreBounded(t *testing.T) {
	many := func(n int, data string) []unitFile {
		files := make([]unitFile, n)
		for i := range files {
			files[i] = unitFile{Name: fmt.Sprintf("%05d.yaml", i), Data: []byte(data)}
		}
		return files
	}
	for _, tc := range []struct {
		name  string
		files []unitFile
		want  string
	}{
		{name: "bytes", files: many(9, "#"+strings.Repeat("x", 1<<20-1)), want: "main: exceeds the limit of 8388608 bytes for the manifests of a source"},
		{name: "documents", files: many(11, strings.Repeat("{apiVersion: x/v1, kind: Z}\n---\n", 999)), want: "main: exceeds the limit of 10000 documents for a source"},
		{name: "pods", files: many(1001, "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: b, image: c}]}}"), want: "main: exceeds the limit of 1000 pods for a source"},
		{name: "faults", files: many(2000, "x"), want: "main: more than 100 faults: 1899 more files are not read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := gitReader().readFiles("main", "abc123", tc.files)
			if got := texts(v.unit.Faults); !slices.Contains(got, tc.want) {
				t.Errorf("got %d faults (%.300s), not among them: %s", len(got), got[0], tc.want)
			}
			if len(v.pods) > 0 {
				t.Errorf("%d pods", len(v.pods))
			}
		})
	}
}

// Aliases cost no bytes: what they stand for is counted too.
func TestManyFilesAreBoundedWithTheirAliasesWrittenOut(t *testing.T) {
	g := gitReader().begin(&version{})
	g.file("a.yaml", []byte("apiVersion: x/v1\nkind: Z\nl: [&a "+strings.Repeat("x", 1000)+strings.Repeat(", *a", 300)+"]\n"))
	if g.expanded < 300_000 {
		t.Errorf("%d bytes", g.expanded)
	}
	if why := g.tooMuch(1); why != "" {
		t.Error(why)
	}
	g.expanded = maxUnitExpanded + 1
	if why := g.tooMuch(1); why != "exceeds the limit of 16777216 bytes for a source, aliases expanded" {
		t.Error(why)
	}
}

// What stays in memory is what is for this node.
func TestManyFilesAreBoundedInTheValuesForThisNode(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, annotations: {podstead/node-selector: %q}}\ndata: {a: b}\n"
	g := gitReader().begin(&version{})
	g.file("a.yaml", fmt.Appendf(nil, object, "here", ""))
	here := g.nodes
	g.file("b.yaml", fmt.Appendf(nil, object, "there", "kubernetes.io/hostname=other"))
	if here != 17 || g.nodes != here {
		t.Errorf("%d values and keys, then %d", here, g.nodes)
	}
	g.nodes = maxUnitNodes + 1
	if why := g.tooMuch(1); why != "exceeds the limit of 500000 values and keys for what a source has for this node, aliases expanded" {
		t.Error(why)
	}
}

func TestAUnitTellsSoManyFaultsOnly(t *testing.T) {
	g := gitReader().begin(&version{unit: Unit{Name: "body"}})
	for range 3 {
		g.blame(make([]manifests.Fault, maxTold/2)...)
		g.warned(make([]manifests.Fault, maxTold/2)...)
	}
	for _, kept := range [][]manifests.Fault{g.version.unit.Faults, g.version.unit.Warnings} {
		if len(kept) != maxTold+1 || kept[maxTold].Error() != "body: more than 1000: the rest is not told" {
			t.Errorf("%d kept, the last: %v", len(kept), kept[len(kept)-1])
		}
	}
}

func TestTheSumOfFilesKnowsTheirNames(t *testing.T) {
	sum := func(files ...unitFile) digest { return sumFiles(files) }
	a := sum(unitFile{"a", []byte("bc")}, unitFile{"d", nil})
	if a != sum(unitFile{"a", []byte("bc")}, unitFile{"d", nil}) {
		t.Error("the same files have another sum")
	}
	for _, other := range []digest{
		sum(unitFile{"ab", []byte("c")}, unitFile{"d", nil}),
		sum(unitFile{"a", []byte("b")}, unitFile{"cd", nil}),
		sum(unitFile{"a", []byte("bc")}),
	} {
		if other == a {
			t.Error("other files have the same sum")
		}
	}
}
