package manifests

import (
	"fmt"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
)

// bodyLimits are those of a URL's body, at a 16th of their size: what memory a body
// takes is in proportion.
func bodyLimits() Limits {
	return Limits{Bytes: 1 << 19, Depth: 100, Nodes: 1 << 19 / 48, Documents: 1000}
}

// filled is a text of so many lines between a head and a tail, or of as many as its
// size has room for.
func filled(head string, count, size int, line func(i int) string, tail string) []byte {
	b := []byte(head)
	for i := range count {
		next := line(i)
		if len(b)+len(next)+len(tail) > size {
			break
		}
		b = append(b, next...)
	}
	return append(b, tail...)
}

const (
	yamlMap  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n"
	jsonMap  = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{`
	yamlList = "apiVersion: v1\nkind: List\nitems:\n"
)

// Whatever the bytes of a unit say, reading it takes a multiple of its limit at the
// most: a node with little memory reads what strangers serve.
func TestNoUnitTakesMuchMemory(t *testing.T) {
	lim := bodyLimits()
	size, pairs := int(lim.Bytes), lim.Nodes/2-10
	xs := func(n int) string { return strings.Repeat("x", n) }
	same := func(line string) func(int) string { return func(int) string { return line } }
	numbered := func(format string) func(int) string {
		return func(i int) string { return fmt.Sprintf(format, i) }
	}
	for _, tc := range []struct {
		name string
		data func() []byte
	}{
		{name: "keys in YAML", data: func() []byte { return filled(yamlMap, size, size, numbered("  k%06d: abcdefg\n"), "") }},
		{name: "as many keys as there may be in YAML", data: func() []byte { return filled(yamlMap, pairs, size, numbered("  k%06d: ab\n"), "") }},
		{name: "as many and as long keys as there may be", data: func() []byte { return filled(yamlMap, pairs, size, numbered("  k%06d"+xs(30)+": "+xs(45)+"\n"), "") }},
		{name: "keys with comments", data: func() []byte { return filled(yamlMap, pairs, size, numbered("  # x\n  k%06d: ab # y\n"), "") }},
		{name: "keys without values in brackets", data: func() []byte { return filled(yamlMap+"  {", pairs, size, numbered("k%d,"), "}") }},
		{name: "keys and an open bracket", data: func() []byte { return filled(yamlMap+"  {", pairs, size, numbered("k%d,"), "") }},
		{name: "dashes", data: func() []byte { return filled("", lim.Nodes/90, size, same(strings.Repeat("- ", 89)+"\n"), "") }},
		{name: "items", data: func() []byte { return filled("", lim.Nodes-10, size, same("- a\n"), "") }},
		{name: "anchors", data: func() []byte { return filled("", lim.Nodes/4-10, size, numbered("k%d: &a {a: b}\n"), "") }},
		{name: "keys in JSON", data: func() []byte { return filled(jsonMap, size, size, numbered(`"k%06d":"abcdefg",`), `"z":"z"}}`) }},
		{name: "as many keys as there may be in JSON", data: func() []byte { return filled(jsonMap, pairs, size, numbered(`"k%06d":"ab",`), `"z":"z"}}`) }},
		{name: "one key in JSON, again and again", data: func() []byte { return filled(jsonMap, pairs, size, same(`"a":"",`), `"z":"z"}}`) }},
		{name: "lists in JSON", data: func() []byte { return filled(`{"a":[`, size, size, same(`[],`), `0]}`) }},
		{name: "a text", data: func() []byte { return []byte(yamlMap + "  a: '" + xs(size-len(yamlMap)-10) + "'\n") }},
		{name: "a block of lines", data: func() []byte { return filled(yamlMap+"  a: |\n", size, size, same("    x\n"), "") }},
		{name: "texts in a list", data: func() []byte {
			return filled(yamlList, 10, size, numbered("- {apiVersion: v1, kind: ConfigMap, metadata: {name: a%d}, data: {a: "+xs(size/10-100)+"}}\n"), "")
		}},
		{name: "texts in documents", data: func() []byte {
			return filled("", 10, size, numbered("---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a%d}, data: {a: "+xs(size/10-100)+"}}\n"), "")
		}},
		{name: "escapes in JSON", data: func() []byte { return filled(jsonMap+`"a":"`, size, size, same(`\u0001`), `"}}`) }},
		{name: "a text in aliases", data: func() []byte {
			return filled(yamlMap+"  a: &a "+xs(size/20)+"\n", 18, size, numbered("  b%d: *a\n"), "")
		}},
		{name: "a long number", data: func() []byte { return []byte("a: 1" + strings.Repeat("1", size-10)) }},
		{name: "a long number in JSON", data: func() []byte { return []byte(`{"a":1` + strings.Repeat("1", size-10) + "}") }},
		{name: "unknown fields", data: func() []byte {
			return filled("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n", pairs, size, numbered("  k%06d: ab\n"), "")
		}},
		{name: "unknown fields of a List", data: func() []byte { return filled(yamlList+"  []\n", pairs, size, numbered("k%06d: ab\n"), "") }},
		{name: "faulty pods", data: func() []byte {
			return filled("", 1000, size, numbered("---\n{apiVersion: v1, kind: Pod, metadata: {name: a%d}, spec: {a: 1, b: 2, c: 3, d: 4}}\n"), "")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			data := tc.data()
			// It is 5 to 10 times the limit; what the collector has not come to yet is
			// told too.
			const factor = 16
			if used := peak(func() any { return readWhole(data, lim) }); used > factor*uint64(size) {
				t.Errorf("%d KiB held at once", used>>10)
			}
		})
	}
}

// readWhole does with a unit all that a source does.
func readWhole(data []byte, lim Limits) any {
	docs, faults := Decode("x", data, lim)
	kept := []any{docs, faults}
	for _, doc := range docs {
		pod, warnings, faults := Static(doc, edge)
		object, more, others := NewObject(doc, edge)
		kept = append(kept, pod, warnings, faults, object, more, others)
	}
	return kept
}

// peak is the most that f holds at one time, found by collecting all the while.
func peak(f func() any) uint64 {
	live := func() uint64 {
		var m goruntime.MemStats
		goruntime.GC()
		goruntime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most := live(), uint64(0)
	var done atomic.Bool
	ended := make(chan any)
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // between two looks little piles up
	go func() {
		kept := f()
		done.Store(true)
		ended <- kept
	}()
	for !done.Load() {
		most = max(most, live())
	}
	most = max(most, live())
	<-ended
	return most - min(most, before)
}

// What people and tools write is far from any limit.
func TestLargeManifestsAreRead(t *testing.T) {
	typical := readTestdata(t, "typical.yaml")
	var indented strings.Builder
	for line := range strings.Lines(typical) {
		indented.WriteString("  " + line)
	}
	item := strings.Replace(indented.String(), "  apiVersion", "- apiVersion", 1)
	minified := `{"panels":[` + strings.TrimSuffix(strings.Repeat(`{"a":1,"b":[2,3],"c":"it's | d"},`, 7_500), ",") + "]}"
	pretty := "    {\n" + strings.Repeat("      \"a, b\": [1, 2],\n", 11_000) + "    }\n"
	file := DefaultLimits() // at a quarter of their size
	file.Bytes /= 4
	file.Nodes /= 4
	for _, tc := range []struct {
		name  string
		data  string
		lim   Limits
		count int
	}{
		{name: "125 pods of a quarter of a file", data: strings.Repeat(typical+"---\n", 125), lim: file, count: 125},
		{name: "60 pods of a body, a 16th of 1000", data: yamlList + strings.Repeat(item, 60), lim: bodyLimits(), count: 60},
		{name: "JSON in a line of a block", data: yamlMap + "  board.json: |\n    " + minified + "\n", lim: file, count: 1},
		{name: "JSON in the lines of a block", data: yamlMap + "  board.json: |-\n" + pretty, lim: file, count: 1},
		{name: "JSON in single quotes", data: yamlMap + "  board.json: '" + strings.ReplaceAll(minified, "'", "''") + "'\n", lim: file, count: 1},
		{name: "JSON in double quotes over lines", data: yamlMap + "  board.json: \"{\\n\\\n" + strings.Repeat("    \\  \\\"a\\\": [1, 2],\\n\\\n", 10_000) + "    }\"\n", lim: file, count: 1},
		{name: "the text of a program", data: yamlMap + "  main.c: |\n" + strings.Repeat("    if (a[i] > b[i, j]) { x = y ? z : \"'\"; }\n", 5_500), lim: file, count: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			docs, faults := Decode("x", []byte(tc.data), tc.lim)
			if len(faults) > 0 || len(docs) != tc.count {
				t.Fatalf("%d bytes: %d documents, faults %v", len(tc.data), len(docs), faults)
			}
		})
	}
}
