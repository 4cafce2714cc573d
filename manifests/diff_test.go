package manifests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestDiffTellsTheFields(t *testing.T) {
	const shop = `apiVersion: v1
kind: Pod
metadata:
  name: shop
  annotations: {example.com/token: s3cret}
spec:
  terminationGracePeriodSeconds: 30
  containers:
  - name: web
    image: shop:1
    args: [--password, s3cret]
    env:
    - {name: TOKEN, value: s3cret}
    - {name: MODE, value: fast}
    ports:
    - {containerPort: 80, hostPort: 8080}
    resources: {limits: {memory: 64Mi}}
  - name: side
    image: side:1
    tty: false
  volumes:
  - {name: a, emptyDir: {}}
  - {name: b, emptyDir: {}}
`
	for _, tc := range []struct {
		name     string
		old, new string // what is replaced, by what
		want     []Change
	}{
		{name: "nothing", old: "kind: Pod", new: "kind: Pod # x"},
		{name: "image", old: "shop:1", new: "shop:2", want: []Change{{"spec.containers[web].image", "shop:1", "shop:2"}}},
		{name: "number", old: "Seconds: 30", new: "Seconds: 5", want: []Change{{"spec.terminationGracePeriodSeconds", "30", "5"}}},
		{name: "boolean", old: "tty: false", new: "tty: true", want: []Change{{"spec.containers[side].tty", "false", "true"}}},
		{name: "host port", old: "hostPort: 8080", new: "hostPort: 8081", want: []Change{{"spec.containers[web].ports[80].hostPort", "8080", "8081"}}},
		{name: "memory", old: "64Mi", new: "128Mi", want: []Change{{"spec.containers[web].resources.limits.memory", "64Mi", "128Mi"}}},
		{name: "env value", old: "value: s3cret", new: "value: n3wer", want: []Change{{"spec.containers[web].env[TOKEN].value", "", ""}}},
		{name: "env number in a string", old: "value: fast", new: "value: '1'", want: []Change{{"spec.containers[web].env[MODE].value", "", ""}}},
		{name: "env name", old: "name: MODE", new: "name: MOOD", want: []Change{
			{"spec.containers[web].env[MODE]", Present, Absent}, {"spec.containers[web].env[MOOD]", Absent, Present}}},
		{name: "argument", old: "[--password, s3cret]", new: "[--password, n3wer]", want: []Change{{"spec.containers[web].args", "", ""}}},
		{name: "annotation", old: "token: s3cret", new: "token: n3wer", want: []Change{{"metadata.annotations[example.com/token]", "", ""}}},
		{name: "a field more", old: "tty: false", new: "tty: false\n    workingDir: /tmp", want: []Change{{"spec.containers[side].workingDir", Absent, Present}}},
		{name: "a container more", old: "  volumes:", new: "  - {name: more, image: x}\n  volumes:", want: []Change{{"spec.containers[more]", Absent, Present}}},
		{name: "a volume less", old: "  - {name: b, emptyDir: {}}\n", new: "", want: []Change{{"spec.volumes[b]", Present, Absent}}},
		{name: "order", old: "  - {name: a, emptyDir: {}}\n  - {name: b, emptyDir: {}}\n", new: "  - {name: b, emptyDir: {}}\n  - {name: a, emptyDir: {}}\n", want: []Change{{"spec.volumes (order)", "", ""}}},
		{name: "two at once", old: "shop:1\n    args: [--password, s3cret]", new: "shop:2", want: []Change{
			{"spec.containers[web].args", Present, Absent}, {"spec.containers[web].image", "shop:1", "shop:2"}}},
		{name: "an object for a word", old: "{name: b, emptyDir: {}}", new: "{name: b, emptyDir: none}", want: []Change{{"spec.volumes[b].emptyDir", "", ""}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if !strings.Contains(shop, tc.old) {
				t.Fatalf("%q is not in the manifest", tc.old)
			}
			changed := strings.Replace(shop, tc.old, tc.new, 1)
			got := Diff(decodeOne(t, shop).Written, decodeOne(t, changed).Written)
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if told := fmt.Sprint(got); strings.Contains(told, "s3cret") || strings.Contains(told, "n3wer") {
				t.Errorf("told a secret: %s", told)
			}
		})
	}
}

func TestDiffIsBounded(t *testing.T) {
	object := func(value int) json.RawMessage {
		fields := map[string]int{}
		for i := range 100 {
			fields[fmt.Sprintf("f%02d", i)] = value
		}
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	got := Diff(object(1), object(2))
	if len(got) != maxChanges+1 || got[0].Field != "f00" || got[maxChanges].Field != "(68 more)" {
		t.Errorf("%d changes, last %v", len(got), got[len(got)-1])
	}
}

func TestDiffOfNoJSON(t *testing.T) {
	if got := Diff(nil, json.RawMessage(`{}`)); len(got) != 1 {
		t.Errorf("got %v", got)
	}
	if got := Diff(nil, nil); got != nil {
		t.Errorf("got %v", got)
	}
}
