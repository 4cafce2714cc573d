package manifests

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// No fault, warning or place tells a value, whatever mistake its author made:
// the marker stands in each where the value would be.
func TestNoFaultTellsAValue(t *testing.T) {
	const marker = "hunter2!"
	encoded := base64.StdEncoding.EncodeToString([]byte(marker))
	quoted, _ := json.Marshal("{" + marker)
	bigConfig := base64.StdEncoding.EncodeToString([]byte(`{"auths": ` + marker + `}`))
	for name, fields := range map[string]string{
		"not base64":                 "data: {a: hunter2!}",
		"base64 of the wrong kind":   "data: {a: \"aHVudGVyMi_-hunter2!\"}",
		"half of base64":             "data: {a: " + encoded[:5] + "hunter2!}",
		"a scalar for a bag":         "stringData: hunter2!",
		"a list for a bag":           "stringData: [hunter2!]",
		"an object for a value":      "stringData: {a: {hunter2!: x}}",
		"a list for a value":         "stringData: {a: [hunter2!]}",
		"no value":                   "stringData: {hunter2!}",
		"no value, twice":            "stringData: {hunter2!, hunter2!}",
		"no value, a good key":       "stringData: {hunter2}",
		"no value in a column":       "stringData:\n  ? hunter2\n",
		"an explicit key":            "stringData:\n  ? hunter2!\n  : a\n",
		"two bags":                   "stringData: {a: hunter2!}\nstringData: {a: hunter2!}",
		"two values":                 "stringData: {a: hunter2!, a: hunter2!}",
		"a key with spaces":          "stringData: {'pass word hunter2!': b}",
		"a key of many lines":        "stringData: {'-----BEGIN\n\n hunter2!': b}",
		"an unknown field":           "password: hunter2!",
		"a value as a field":         "stringData: {a: b}\nhunter2!:",
		"a value as a field with it": "stringData: {a: b}\nhunter2!: x",
		"a type that is none":        "type: [hunter2!]",
		"immutable that is none":     "immutable: hunter2!",
		"metadata that is none":      "metadata: hunter2!",
		"a label":                    "metadata: {name: a, labels: {b: hunter2!}}",
		"a label's name":             "metadata: {name: a, labels: {'hunter2!': b}}",
		"an annotation":              "metadata: {name: a, annotations: {'a b': hunter2!}}",
		"an annotation of ours":      "metadata: {name: a, annotations: {podstead/node-selectors: hunter2!}}",
		"a broken line":              "stringData:\n  a: x\n  hunter2!\n  b: c",
		"an open quote":              "stringData: {a: 'hunter2!}",
		"an open bracket":            "stringData: {a: [hunter2!",
		"an anchor":                  "stringData: {a: *hunter2!}",
		"a tag":                      "stringData: {a: !hunter2! x}",
		"a tag that is known":        "stringData: {a: !!int hunter2!}",
		"binary by tag":              "stringData: {a: !!binary hunter2!}",
		"a directive":                "%hunter2!\n---\n",
		"an escape":                  "stringData: {a: \"\\qhunter2!\"}",
		"a backquote":                "stringData: {a: `hunter2!}",
		"an at":                      "stringData: {a: @hunter2!}",
		"a percent":                  "stringData: {a: %hunter2!}",
		"a colon":                    "stringData:\n  a: b: hunter2!",
		"a tab":                      "stringData:\n\ta: hunter2!",
		"a NUL":                      "stringData: {a: \"hunter2!\\0\"}",
		"a control character":        "stringData: {a: hunter2!\x01}",
		"a byte that is no text":     "stringData: {a: hunter2!\xff}",
		"a docker config":            "type: kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: hunter2!}",
		"a docker config in base64":  "type: kubernetes.io/dockerconfigjson\ndata: {.dockerconfigjson: " + bigConfig + "}",
		"a quoted docker config":     "type: kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: " + string(quoted) + "}",
		"a dockercfg":                "type: kubernetes.io/dockercfg\nstringData: {.dockercfg: '[\"hunter2!\"]'}",
		"an unfitting type":          "type: kubernetes.io/tls\nstringData: {password: hunter2!}",
		"too large":                  "stringData:\n  a: &a hunter2!" + strings.Repeat("x", 1<<16) + "\n  " + strings.Join(strings.Split("bcdefghijklmnoprstuvwxz", ""), ": *a\n  ") + ": *a\n",
		"merged":                     "stringData: {<<: hunter2!}",
		"merged from a list":         "stringData: {<<: [hunter2!]}",
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{KindSecret, KindConfigMap} {
				document := "apiVersion: v1\nkind: " + kind + "\n"
				if !strings.HasPrefix(fields, "metadata") {
					document += "metadata: {name: a}\n"
				}
				document += fields + "\n"
				if kind == KindConfigMap {
					document = strings.ReplaceAll(document, "stringData:", "data:")
				}
				body := DefaultLimits()
				body.Bytes *= 4
				warn := edge
				warn.Warn = true
				_, faults := objectFaults(document, edge, body)
				warnings, lenient := objectFaults(document, warn, body)
				told := strings.Join(append(append(faults, warnings...), lenient...), "\n")
				if strings.Contains(told, "hunter2") || strings.Contains(told, encoded[:5]) {
					t.Errorf("%s: %s", kind, told)
				}
				if kind == KindSecret && len(faults) == 0 {
					t.Errorf("no mistake: %q", document)
				}
			}
		})
	}
}

// What is wrong with one document does not tell the values of the next.
func TestNoFaultOfAUnitTellsASecretBesideIt(t *testing.T) {
	secret := secretWith("stringData: {a: hunter2, b: \"hunter2\"}\n")
	for _, unit := range []string{
		secret + "---\na: [", secret + "---\n\tx", "{" + secret, secret + "---\nkind: Po\n", "[" + secret + "]",
		strings.ReplaceAll(secret, "v1", "{hunter2"), secret + "\x00", "- " + secret,
		`{"apiVersion":"v1","kind":"Secret","stringData":{"a":"hunter2"},"data":"hunter2"}`,
		`{"apiVersion":"v1","kind":"Secret","stringData":{"a":"hunter2"`,
		`{"apiVersion":"v1","kind":"Secret","stringData":{"a":"hunter2\ud800"}}`,
		"apiVersion: v1\nkind: SecretList\nitems: hunter2\n",
		"apiVersion: v1\nkind: SecretList\nitems: [hunter2]\n",
	} {
		_, faults := objectFaults(unit, edge, DefaultLimits())
		if told := strings.Join(faults, "\n"); told == "" || strings.Contains(told, "hunter2") {
			t.Errorf("%q: %s", unit, told)
		}
	}
}
