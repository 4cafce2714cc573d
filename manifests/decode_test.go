package manifests

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"
)

const lamp = `apiVersion: v1
kind: Pod
metadata:
  name: lamp
spec:
  containers:
  - name: lamp
    image: busybox:1.36
`

func TestDecodeFindsTheDocuments(t *testing.T) {
	lampJSON := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"lamp"},"spec":{"containers":[{"name":"lamp","image":"busybox:1.36"}]}}`
	for _, tc := range []struct {
		name, data string
		want       string // kind name@line of each
	}{
		{name: "a pod", data: lamp, want: "Pod lamp@1"},
		{name: "two pods", data: lamp + "---\n" + lamp, want: "Pod lamp@1, Pod lamp@10"},
		{name: "JSON", data: lampJSON, want: "Pod lamp@1"},
		{name: "JSON values in a row", data: lampJSON + "\n" + lampJSON, want: "Pod lamp@1, Pod lamp@2"},
		{name: "flow style", data: "{apiVersion: v1, kind: Pod, metadata: {name: lamp}}", want: "Pod lamp@1"},
		{name: "byte order mark", data: "\xef\xbb\xbf" + lamp, want: "Pod lamp@1"},
		// B22
		{name: "carriage returns", data: strings.ReplaceAll(lamp+"---\n"+lamp, "\n", "\r\n"), want: "Pod lamp@1, Pod lamp@10"},
		// B19
		{name: "leading marker and comment document", data: "---\n# header\n---\n" + lamp, want: "Pod lamp@4"},
		{name: "empty documents between", data: lamp + "---\n---\n# none\n...\n---\n" + lamp + "---\n", want: "Pod lamp@1, Pod lamp@14"},
		{name: "a List", data: "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: ''}\nitems:\n- " + indent(lamp) + "- " + indent(lamp), want: "Pod lamp@5, Pod lamp@13"},
		{name: "a List in a List", data: "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod, metadata: {name: x}}]}]}", want: "Pod x@1"},
		{name: "a PodList whose items have no kind", data: "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n", want: "Pod a@4, Pod b@5"},
		{name: "an empty List", data: "apiVersion: v1\nkind: List\nitems: []\n", want: ""},
		{name: "an empty PodList", data: `{"kind":"PodList","apiVersion":"v1","items":[]}`, want: ""},
		// B07
		{name: "kinds that are not run", data: lamp + "---\n{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: ds}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: cm}, data: {a: b}}\n",
			want: "Pod lamp@1, DaemonSet ds@10, ConfigMap cm@12"},
		{name: "a kustomization without a kind", data: "resources:\n- lamp.yaml\n", want: " @1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			docs, faults := decodeAll(tc.data)
			sameLines(t, lines(faults), nil)
			var got []string
			for i, doc := range docs {
				got = append(got, fmt.Sprintf("%s %s@%d", doc.Kind, doc.Name, doc.Place.Line))
				if doc.Place.Document != i+1 {
					t.Errorf("document %d is numbered %d", i+1, doc.Place.Document)
				}
				if (doc.Pod() != nil) != (doc.Kind == "Pod") {
					t.Errorf("%s: pod %v", doc.Kind, doc.Pod())
				}
			}
			if g := strings.Join(got, ", "); g != tc.want {
				t.Errorf("got %q, want %q", g, tc.want)
			}
		})
	}
}

// indent makes a document the rest of a list item.
func indent(doc string) string {
	return strings.TrimSuffix(strings.ReplaceAll(doc, "\n", "\n  "), "  ")
}

func TestDecodeRefusesWhatIsNoManifest(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		want       string
	}{
		{name: "no bytes", data: "", want: "pod.yaml: holds no manifest; to run nothing, remove it or write an empty List"},
		{name: "an empty document", data: "---\n", want: "pod.yaml: holds no manifest; to run nothing, remove it or write an empty List"},
		{name: "all commented out", data: "# " + strings.ReplaceAll(lamp, "\n", "\n# "), want: "pod.yaml: holds no manifest; to run nothing, remove it or write an empty List"},
		// B25
		{name: "a word", data: "hello", want: "pod.yaml:1:1: not an object, but a string"},
		{name: "a list", data: "[]", want: "pod.yaml:1:1: not an object, but a list"},
		{name: "null", data: "null", want: "pod.yaml:1:1: not an object, but null"},
		{name: "a number in JSON", data: "[1]", want: "pod.yaml:1:1: not an object, but a list"},
		{name: "HTML", data: "<html>Sign in</html>\n", want: "pod.yaml:1:1: not an object, but a string"},
		// B23
		{name: "control character", data: "a: x\n\u00e9: y\x01z\n", want: "pod.yaml:2:5: control character U+0001"},
		{name: "NUL", data: "a: \x00\n", want: "pod.yaml:1:4: NUL character: this is not a text file, or only half written"},
		{name: "escaped NUL", data: "apiVersion: v1\nkind: Pod\nspec: {nodeName: \"a\\0\"}\n", want: "pod.yaml:3:18: a string with a NUL character"},
		{name: "Latin-1", data: "a: \xe9\n", want: "pod.yaml:1:4: not UTF-8 text"},
		{name: "UTF-16", data: "\xff\xfea\x00", want: "pod.yaml:1:1: not UTF-8 text"},
		{name: "half a surrogate pair", data: `{"apiVersion":"v1","kind":"Pod","a":"\ud83d"}`, want: "pod.yaml:1:37: a string with half a surrogate pair"},
		{name: "a tab", data: "a:\n\tb: 1\n", want: "pod.yaml:2:1: a tab in the indentation: YAML takes spaces only"},
		{name: "an open quote", data: "a: \"b\nc: d\n", want: "pod.yaml:3:1: found unexpected end of stream (while scanning a quoted scalar begun at line 1)"},
		{name: "broken JSON", data: "{\"a\": 1,\n \"b\" 2}", want: "pod.yaml:2:6: did not find expected ',' or '}' (while parsing a flow mapping begun at line 1)"},
		{name: "an unknown anchor", data: "a: *x\n", want: "pod.yaml:1:4: unknown anchor: a text that begins with * must be quoted"},
		{name: "a tag of another language", data: "a: !python/object x\n", want: "pod.yaml:1:4: unknown tag: a text that begins with ! must be quoted"},
		{name: "infinity", data: "a: .inf\n", want: "pod.yaml:1:4: not a value that JSON can hold"},
		// the second parser decides, or nobody
		{name: "YAML 1.1 and 1.2 differ", data: "a: b\nc: {d:, e: 1}\n", want: "pod.yaml:2:4: YAML that is read differently by version 1.1 and 1.2: write it more plainly, or quote it"},
		{name: "in the second document", data: lamp + "---\na: [1, ?b]\n", want: "pod.yaml:10:8: YAML that is read differently by version 1.1 and 1.2: write it more plainly, or quote it"},
		{name: "YAML 1.2 only", data: "a: [\"\\/\", b]\n", want: "pod.yaml:1:1: found unknown escape character (as Kubernetes reads it)"},
		// half-written files
		{name: "cut in a key", data: "apiVersion: v1\nki", want: "pod.yaml:3:1: could not find expected ':' (while scanning a simple key begun at line 2)"},
		{name: "cut in the kind", data: "apiVersion: v1\nkind: Po", want: `pod.yaml:2:7: kind: apiVersion v1 has no kind "Po"`},
		{name: "cut before the kind", data: "apiVersion: v1\n", want: "pod.yaml:1:1: kind: missing"},
		{name: "cut after the kind's key", data: "apiVersion: v1\nkind:", want: "pod.yaml:1:1: kind: missing"},
		{name: "no apiVersion", data: "kind: Pod\nmetadata: {name: x}\n", want: "pod.yaml:1:1: apiVersion: missing"},
		{name: "nothing but a spec", data: "spec: {}\n", want: "pod.yaml:1:1: apiVersion: missing\npod.yaml:1:1: kind: missing"},
		{name: "an empty object", data: "{}", want: "pod.yaml:1:1: apiVersion: missing\npod.yaml:1:1: kind: missing"},
		{name: "a number for a kind", data: "apiVersion: v1\nkind: 1\n", want: "pod.yaml:2:7: kind: want a string, got a number"},
		{name: "lower case", data: "apiVersion: v1\nkind: pod\n", want: `pod.yaml:2:7: kind: apiVersion v1 has no kind "pod"`},
		{name: "a Pod of another group", data: "apiVersion: apps/v1\nkind: Pod\n", want: "pod.yaml:1:13: apiVersion: want v1 for kind Pod"},
		{name: "no group and version", data: "apiVersion: a/b/c\nkind: X\n", want: `pod.yaml:1:13: apiVersion: "a/b/c" is no group and version`},
		{name: "a List without items", data: "apiVersion: v1\nkind: List\nitems:\n", want: "pod.yaml:1:1: items: want a list; for an empty set write []"},
		{name: "a List with more", data: "apiVersion: v1\nkind: List\nitem: []\nitems: [1]\n", want: "pod.yaml:3:1: item: unknown field\npod.yaml:4:9: not an object, but a number"},
		{name: "items twice", data: "apiVersion: v1\nkind: List\nitems: []\nitems: []\n", want: "pod.yaml:4:1: items: duplicate key, first at line 3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			docs, faults := decodeAll(tc.data)
			sameLines(t, lines(faults), strings.Split(tc.want, "\n"))
			for _, doc := range docs {
				if doc.Name != "lamp" {
					t.Errorf("document %v", doc)
				}
			}
		})
	}
}

// B20: one broken document is a fault of its unit; the others are still read,
// so that the caller can say all that is wrong at once.
func TestDecodeReadsOnBesideABrokenDocument(t *testing.T) {
	docs, faults := decodeAll("apiVersion: v1\nkind: Po\n---\n" + lamp)
	if faults[0].Place.Document != 1 || docs[0].Place.Document != 2 {
		t.Errorf("the broken is number %d, the good one %d", faults[0].Place.Document, docs[0].Place.Document)
	}
	sameLines(t, lines(faults), []string{`pod.yaml:2:7: kind: apiVersion v1 has no kind "Po"`})
	if len(docs) != 1 || docs[0].Name != "lamp" {
		t.Errorf("documents %v", docs)
	}
}

// A pod whose document is at fault still says for which node it is meant.
func TestDecodeKeepsWhatAFilterAsksFor(t *testing.T) {
	doc := decodeOne(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: x, labels: {a: 1, b: c}, oops: 1}\nspec:\n  nodeName: far\n  nodeSelector: {disk: ssd, cores: 4}\n  restartPolicy: 7\n  bogus: {}\n")
	pod := doc.Pod()
	if pod.Spec.NodeName != "far" || fmt.Sprint(pod.Spec.NodeSelector) != "map[disk:ssd]" || fmt.Sprint(doc.Labels) != "map[b:c]" {
		t.Errorf("nodeName %q, nodeSelector %v, labels %v", pod.Spec.NodeName, pod.Spec.NodeSelector, doc.Labels)
	}
	if _, _, faults := Static(doc, edge); len(faults) != 5 {
		t.Errorf("faults %v, want five", lines(faults))
	}
}

func TestDecodeIsBounded(t *testing.T) {
	bomb := "a0: &a0 {k: v}\n"
	for i := range 12 {
		ref := fmt.Sprintf("*a%d,", i)
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(ref, 9))
	}
	for _, tc := range []struct {
		name, data string
		want       string
	}{
		{name: "too large", data: "a: " + strings.Repeat("x", 1<<20), want: "larger than the limit"},
		{name: "aliases of aliases", data: bomb, want: "more than the limit of 100000 values"},
		{name: "a text in many aliases", data: "- &a " + strings.Repeat("x", 1<<15) + "\n" + strings.Repeat("- *a\n", 1000), want: "more than the limit of 1048576 bytes, aliases expanded"},
		{name: "a key in many aliases", data: "- &a\n  ? " + strings.Repeat("x", 1<<15) + "\n  : 1\n" + strings.Repeat("- *a\n", 1000), want: "more than the limit of 1048576 bytes, aliases expanded"},
		{name: "an alias of itself", data: "a: &x [*x]\n", want: "nested deeper than the limit"},
		{name: "a merge of itself", data: "a: &x {<<: *x}\n", want: "nested deeper than the limit"},
		{name: "open brackets", data: strings.Repeat("[", 1<<16), want: "exceeded max depth"},
		{name: "closed brackets", data: strings.Repeat("[", 500) + strings.Repeat("]", 500), want: "nested deeper than the limit"},
		{name: "nested JSON", data: strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500), want: "nested deeper than the limit"},
		{name: "dashes", data: strings.Repeat("- ", 1<<16), want: "exceeded max depth"},
		{name: "commas", data: "[" + strings.Repeat("a,", 1<<18) + "]", want: "more than the limit of 100000 values"},
		{name: "JSON numbers", data: "[" + strings.Repeat("1,", 1<<18) + "1]", want: "more than the limit of 100000 values"},
		{name: "lines", data: strings.Repeat("-\n", 1<<18), want: "more than the limit of 100000 values"},
		{name: "documents", data: strings.Repeat("---\n{apiVersion: v1, kind: Pod}\n", 1200), want: "more than the limit of 1000 documents"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var before, after goruntime.MemStats
			goruntime.ReadMemStats(&before)
			_, faults := decodeAll(tc.data)
			goruntime.ReadMemStats(&after)
			if len(faults) != 1 || !strings.Contains(faults[0].Message, tc.want) {
				t.Errorf("faults %v, want %q", lines(faults), tc.want)
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 150 {
				t.Errorf("%d MiB allocated", used)
			}
		})
	}
}
