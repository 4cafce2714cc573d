package manifests

import (
	"encoding/json"
	"testing"

	"github.com/gowebpki/jcs"
	sigsyaml "sigs.k8s.io/yaml"
)

// kubernetesReads is what sigs.k8s.io/yaml makes of one document, in the form
// of canonical.
func kubernetesReads(data []byte) (string, error) {
	raw, err := sigsyaml.YAMLToJSON(data)
	if err != nil {
		return "", err
	}
	v, err := readValue(raw)
	if err != nil {
		return "", err
	}
	raw, err = json.Marshal(withoutNulls(v))
	if err != nil {
		return "", err
	}
	out, err := jcs.Transform(raw)
	return string(out), err
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if value == nil {
				delete(v, key)
				continue
			}
			v[key] = withoutNulls(value)
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return v
}

var yamlSamples = map[string]string{
	"booleans of YAML 1.1":    "[yes, No, on, OFF, y, n, true, False, 'yes', \"on\"]",
	"nulls":                   "a: ~\nb: null\nc:\nd: [~, Null]\n",
	"integers":                "[0, -0, 010, 0o10, 0x10, 0b11, -0b11, 1_000, +7, -_1, 18446744073709551615, 123456789012345678901234567890]",
	"floats":                  "[1e3, 1.50, .5, -.5, 1e-7, 1.5e21, 1e400, +.5e2, 0.1]",
	"almost numbers":          "[1.25.3, 10.0.0.1, 1Gi, 500m, 12:30, 12:30:45, '8080', --flag, -x, .hidden, ..., -a-]",
	"timestamps":              "[2001-01-01, 2001-12-14t21:59:43.10-05:00, 2001-12-14 21:59:43.10]",
	"keys of other kinds":     "{1: a, yes: b, 1.50: c, 0x10: d, 'on': e}",
	"tags":                    "[!!str 12, !!int '3', !!float 3, !!bool yes, !!null '']",
	"aliases":                 "a: &x {k: yes}\nb: *x\nc: [*x, *x]\n",
	"merge above":             "a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  k: 3\n",
	"merge below":             "a: &x {k: 1, l: 2}\nb:\n  k: 3\n  <<: *x\n",
	"merge of several":        "a: &x {k: 1}\nb: &y {k: 2, l: 3}\nc:\n  <<: [*x, *y]\n  m: 4\n",
	"merge written out":       "a:\n  <<: {k: 1}\n",
	"quoted merge key":        "\"<<\": {a: 1}\n",
	"literal block":           "a: |\n  x\n    y\n\n  z\nb: |-\n  q\nc: |+\n  r\n\n",
	"folded block":            "a: >\n  x\n  y\n\n  z\n   w\nb: >-\n  q\n  r\n",
	"plain over lines":        "a: one\n  two\n\n  three\nb: 1\n  2\n",
	"quoted over lines":       "a: \"one\n  two\\\n  three\"\nb: 'x\n\n  y'\n",
	"escapes":                 "a: \"\\u00e9\\x41\\t\\n\\0\\U0001F600\"\n",
	"unicode":                 "ключ: значение 😀\né: ü\n",
	"document markers inside": "a: '---'\nb: \"...\"\nc: x---y\n",
	"empty collections":       "{a: {}, b: [], c: ''}",
	"repeated keys":           "a: 1\nb: 2\na: 3\n",
	"comments":                "# x\na: 1 # y\n# z\nb: 'a # b'\n",
	"nested sequences":        "- - 1\n  - 2\n-\n  - 3\n",
	"explicit keys":           "? a\n: 1\n? b\n",
}

// Values are those that kubectl would send, whatever the second parser thinks.
func TestYAMLIsReadAsKubernetesDoes(t *testing.T) {
	for name, data := range yamlSamples {
		t.Run(name, func(t *testing.T) {
			want, err := kubernetesReads([]byte(data))
			if err != nil {
				t.Fatalf("sample: %v", err)
			}
			lim := DefaultLimits()
			trees, faults := yamlTrees("x", []byte(data), lim)
			if name == "escapes" { // a NUL, which nothing could be given
				if len(faults) != 1 {
					t.Fatalf("faults %v, want one", faults)
				}
				return
			}
			if len(faults) > 0 || len(trees) != 1 {
				t.Fatalf("%d trees, faults %v", len(trees), faults)
			}
			got, err := canonical(trees[0])
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// JSON and YAML of one content are one tree.
func TestJSONIsReadLikeYAML(t *testing.T) {
	for name, data := range map[string]string{
		"numbers":  `{"a": [1, -0, 1e3, 1.50, 0.1, 1E-7, 18446744073709551615, 9007199254740991]}`,
		"nesting":  "{\"a\": {\"b\": [[], {}, [1, [2]]], \"c\": null},\n\t\"d\": [true, false, null]}",
		"repeated": `{"a": 1, "a": 2}`,
		"strings":  `{"a": "x\ty\n\"z\" é", "": " "}`,
	} {
		t.Run(name, func(t *testing.T) {
			if !looksLikeJSON([]byte(data)) {
				t.Fatal("not taken for JSON")
			}
			fromJSON, faults := jsonTrees("x", []byte(data), DefaultLimits())
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			fromYAML, faults := yamlTrees("x", []byte(data), DefaultLimits())
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			a, errA := canonical(fromJSON[0])
			b, errB := canonical(fromYAML[0])
			if string(a) != string(b) || errA != nil || errB != nil {
				t.Errorf("JSON %s (%v)\nYAML %s (%v)", a, errA, b, errB)
			}
		})
	}
}

func TestJSONKnowsItsPlaces(t *testing.T) {
	data := "{\n  \"é\": [1,\n    {\"b\" : true}, \"x\"]\n}"
	trees, faults := jsonTrees("x", []byte(data), DefaultLimits())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, tc := range []struct {
		path         string
		line, column int
	}{
		{"", 1, 1},
		{"é", 2, 8},
		{"é[0]", 2, 9},
		{"é[1]", 3, 5},
		{"é[1].b", 3, 12},
		{"é[2]", 3, 19},
		{"é[3]", 2, 8},
	} {
		if n := trees[0].find(tc.path); n.line != tc.line || n.column != tc.column {
			t.Errorf("%q is at %d:%d, want %d:%d", tc.path, n.line, n.column, tc.line, tc.column)
		}
	}
}
