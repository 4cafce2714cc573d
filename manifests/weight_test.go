package manifests

import (
	"bytes"
	"testing"

	"go.yaml.in/yaml/v4"
)

// heavy is the whole weight of a text.
func heavy(data []byte) int {
	w := weighing{data: data, doubt: hasRareBreaks(data)}
	for w.next < len(data) {
		w.weigh(w.take())
	}
	return w.total
}

// parsedNodes is how many nodes the parser makes of a text, without the frame and
// the root of each document.
func parsedNodes(data []byte) int {
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return 0
	}
	total := 0
	for {
		var document yaml.Node
		if loader.Load(&document) != nil {
			return total
		}
		total += nodesOf(&document) - 2
	}
}

func nodesOf(n *yaml.Node) int {
	total := 1
	for _, c := range n.Content {
		total += nodesOf(c)
	}
	return total
}

func TestTheWeightOfATextIsThatOfItsNodes(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		want       int
	}{
		{name: "a pod", data: readTestdata(t, "typical.yaml"), want: 169},
		{name: "a block", data: "a: |\n  b: c\n  - d, e\nf: g\n", want: 4},
		{name: "a block in a list", data: "- |\n  b: c\n\n  - d, e\n- g\n", want: 2},
		{name: "a block in a list of a list", data: "- - a: >-\n      b: c\n    d: e\n", want: 6},
		{name: "an empty block", data: "a: |\nb: c\n", want: 4},
		{name: "a block under a long blank line", data: "a: |\n      \n  - b, c\n", want: 5},
		{name: "a block of a given depth", data: "a: |2\n   b, c\n  d: e\n", want: 6},
		{name: "a block of a deeper depth than its lines", data: "a: |9\n  b: c\n", want: 4},
		{name: "a block in brackets", data: "a: [ b\n  - |\n   c, d, e\n ]\n", want: 8},
		{name: "no block, but text", data: "a: b |\n  c, d\n", want: 4},
		{name: "a tagged block", data: "a: !!str |\n  b: c\nd: \"e, f\"\n", want: 8},
		{name: "quotes", data: "a: \"b: c, [d]\"\ne: 'it''s, '\n", want: 4},
		{name: "quotes over lines", data: "a: \"b: c\n  d: \\\" e, \"\nf: g\n", want: 4},
		{name: "quotes that never end", data: "a: \"b: c\n- d\n", want: 2},
		{name: "a quote in a word", data: "a: it's, b\nc: 'd, e'\n", want: 6},
		{name: "a quote in a text", data: "a: b \"c\nd: \"e, f\"\n", want: 6},
		{name: "an item that is no quote", data: "[a \"b, \"c, d, e\"]\n", want: 7},
		{name: "quotes in brackets", data: "[\"a, b\", 'c, d']\n", want: 2},
		{name: "brackets over lines", data: "{a: b,\n \"c, d\": e}\n", want: 8},
		{name: "a comment", data: "# a: 'b, \n- c\n", want: 1},
		{name: "a comment behind", data: "a: b # c, d\n", want: 4},
		{name: "a comment in brackets", data: "a: [b # ]\n - \"c, \"d, e\"]\n", want: 8},
		{name: "an address", data: "image: http://a:80/b:c\n", want: 2},
		{name: "a key without anything in brackets", data: "[? ]\n", want: 3},
		{name: "a key without anything before a rare break", data: "?\u0085", want: 2},
		{name: "rare breaks", data: "a: |\n  b\u2028c: [d, e]\n", want: 7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := heavy([]byte(tc.data))
			if got != tc.want {
				t.Errorf("weight %d, want %d", got, tc.want)
			}
			if n := parsedNodes([]byte(tc.data)); n > got {
				t.Errorf("weight %d, but %d nodes", got, n)
			}
		})
	}
}

func TestATextTooHeavyNamesTheLine(t *testing.T) {
	data := []byte("a: 'b\n  c'\nd: |\n  e\n\nf: [g,\n h, i]\n")
	for limit, want := range map[int]int{3: 3, 5: 6, 9: 7, 20: 0} {
		if got := overweight(data, limit); got != want {
			t.Errorf("limit %d: line %d, want %d", limit, got, want)
		}
	}
}
