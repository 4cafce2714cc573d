package manifests

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// usable is the object of a unit that holds one, without faults.
func usable(t *testing.T, data string) *Object {
	t.Helper()
	object, _, faults := NewObject(decodeOne(t, data), edge)
	if len(faults) > 0 {
		t.Fatalf("object: %v", lines(faults))
	}
	return object
}

// objectFaults is everything that is wrong with the objects of a unit.
func objectFaults(data string, opts Options, lim Limits) (warnings, faults []string) {
	docs, found := Decode("pod.yaml", []byte(data), lim)
	faults = lines(found)
	for _, doc := range docs {
		_, w, f := NewObject(doc, opts)
		warnings = append(warnings, lines(w)...)
		faults = append(faults, lines(f)...)
	}
	return warnings, faults
}

func secretWith(fields string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata:\n  name: door\n" + fields
}

func configMapWith(fields string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kiln\n" + fields
}

func TestObjectsAreFoundWhereverPodsAre(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		want       string // ref@line of each
	}{
		{name: "a ConfigMap", data: configMapWith(""), want: "ConfigMap default/kiln@1"},
		{name: "a Secret in JSON", data: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"door","namespace":"lab"}}`, want: "Secret lab/door@1"},
		{name: "documents", data: configMapWith("") + "---\n# next\n---\n" + secretWith(""), want: "ConfigMap default/kiln@1, Secret default/door@8"},
		{name: "a List of both", data: "apiVersion: v1\nkind: List\nitems:\n- " + indent(configMapWith("")) + "- " + indent(secretWith("")), want: "ConfigMap default/kiln@4, Secret default/door@8"},
		{name: "a ConfigMapList", data: "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n", want: "ConfigMap default/a@4, ConfigMap default/b@5"},
		{name: "a SecretList", data: "apiVersion: v1\nkind: SecretList\nmetadata: {resourceVersion: ''}\nitems:\n- metadata: {name: a}\n", want: "Secret default/a@5"},
		{name: "an empty SecretList", data: "apiVersion: v1\nkind: SecretList\nitems: []\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			docs, faults := decodeAll(tc.data)
			sameLines(t, lines(faults), nil)
			var got []string
			for _, doc := range docs {
				object, _, faults := NewObject(doc, edge)
				sameLines(t, lines(faults), nil)
				if !doc.IsObject() || doc.Pod() != nil {
					t.Errorf("object %v, pod %v", doc.IsObject(), doc.Pod())
				}
				got = append(got, fmt.Sprintf("%s@%d", object.Ref(), object.Place.Line))
			}
			if g := strings.Join(got, ", "); g != tc.want {
				t.Errorf("got %s, want %s", g, tc.want)
			}
		})
	}
}

func TestAPodIsNoObject(t *testing.T) {
	_, _, faults := NewObject(decodeOne(t, lamp), edge)
	if len(faults) != 1 || faults[0].Message != "kind Pod is no object" {
		t.Errorf("faults %v", lines(faults))
	}
	_, _, faults = Static(decodeOne(t, secretWith("")), edge)
	if len(faults) != 1 {
		t.Errorf("faults %v", lines(faults))
	}
}

func TestStringDataWins(t *testing.T) {
	secret := usable(t, secretWith("data: {user: YWRh, code: b2xk}\nstringData: {code: new, more: ''}\n")).Secret
	got := fmt.Sprintf("%s %s %q %d %v", secret.Data["user"], secret.Data["code"], secret.Data["more"], len(secret.Data), secret.StringData)
	if got != `ada new "" 3 map[]` {
		t.Error(got)
	}
	if secret.Type != v1.SecretTypeOpaque {
		t.Errorf("type %q", secret.Type)
	}
}

func TestBinaryDataNeedsNoText(t *testing.T) {
	raw := []byte{0xff, 0xfe, 0, 1, 0x80}
	object := usable(t, configMapWith("binaryData: {rom: "+base64.StdEncoding.EncodeToString(raw)+"}\nimmutable: true\n"))
	if got := object.ConfigMap.BinaryData["rom"]; !bytes.Equal(got, raw) {
		t.Errorf("got %x", got)
	}
	if object.ConfigMap.Immutable == nil || !*object.ConfigMap.Immutable {
		t.Error("immutable is lost")
	}
}

// A Secret as kubectl prints it: annotations may hold a copy of all values.
func TestWhatAServerSetIsIgnored(t *testing.T) {
	data := "apiVersion: v1\nkind: Secret\nmetadata:\n  name: door\n  uid: abc\n  resourceVersion: '7'\n  creationTimestamp: 2024-01-01T00:00:00Z\n" +
		"  ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: b}]\n  managedFields: [{whatever: it is}]\n" +
		"  annotations: {kubectl.kubernetes.io/last-applied-configuration: hunter2}\ndata: {a: Yg==}\n"
	object, warnings, faults := NewObject(decodeOne(t, data), edge)
	sameLines(t, lines(faults), nil)
	sameLines(t, lines(warnings), []string{"pod.yaml:5:3: ignored, for the node decides it: metadata.uid, metadata.resourceVersion, metadata.creationTimestamp, metadata.ownerReferences, metadata.managedFields"})
	if m := object.Secret.ObjectMeta; m.UID != "" || m.ResourceVersion != "" || len(m.Annotations)+len(m.OwnerReferences) > 0 {
		t.Errorf("metadata %+v", m)
	}
}

func TestFaultsOfObjects(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		want       []string
	}{
		{name: "another API", data: "apiVersion: apps/v1\nkind: Secret\nmetadata: {name: a}\n", want: []string{"pod.yaml:1:13: apiVersion: want v1 for kind Secret"}},
		{name: "no name", data: "apiVersion: v1\nkind: ConfigMap\nmetadata: {labels: {a: b}}\n", want: []string{"pod.yaml:3:11: metadata.name: missing: nothing could refer to it"}},
		{name: "no metadata", data: "apiVersion: v1\nkind: ConfigMap\n", want: []string{"pod.yaml:1:1: metadata.name: missing: nothing could refer to it"}},
		{name: "a bad name", data: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Kiln_1}\n", want: []string{"pod.yaml:3:18: metadata.name: Invalid value: \"Kiln_1\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
		{name: "an unknown field", data: configMapWith("datas: {a: b}\n"), want: []string{"pod.yaml:5:1: datas: unknown field"}},
		{name: "other letters", data: secretWith("stringdata: {a: b}\n"), want: []string{"pod.yaml:5:1: stringdata: unknown field; its name is written stringData"}},
		{name: "a Secret's field in a ConfigMap", data: configMapWith("stringData: {a: b}\n"), want: []string{"pod.yaml:5:1: stringData: unknown field"}},
		{name: "a duplicate key", data: secretWith("stringData:\n  code: a\n  code: b\n"), want: []string{"pod.yaml:7:3: stringData.code: duplicate key, first at line 6"}},
		{name: "a number", data: configMapWith("data:\n  port: 8080\n"), want: []string{"pod.yaml:6:9: data[port]: want a string, got a number: quote it"}},
		{name: "a boolean by YAML 1.1", data: configMapWith("data:\n  mode: on\n"), want: []string{"pod.yaml:6:9: data[mode]: want a string, got a boolean: quote it"}},
		{name: "an object", data: configMapWith("data:\n  mode: {a: b}\n"), want: []string{"pod.yaml:6:9: data[mode]: want a string, got an object"}},
		{name: "not base64", data: secretWith("data:\n  code: hunter2!\n"), want: []string{"pod.yaml:6:9: data[code]: not base64"}},
		{name: "half of base64", data: configMapWith("binaryData:\n  rom: YWR\n"), want: []string{"pod.yaml:6:8: binaryData[rom]: not base64"}},
		{name: "in both bags", data: configMapWith("data: {rom: a}\nbinaryData: {rom: YQ==}\n"), want: []string{"pod.yaml:5:13: data[rom]: Invalid value: duplicate of key present in binaryData"}},
		{name: "a key that is none", data: configMapWith("data: {a/b: c}\n"), want: []string{"pod.yaml:5:13: data[a/b]: Invalid value: a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"}},
		{name: "a key of two lines", data: configMapWith("data: {\"a\\nb\": c}\n"), want: []string{"pod.yaml:5:16: data[…]: Invalid value: a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"}},
		{name: "a key from stringData", data: secretWith("data: {a: YQ==}\nstringData: {'..': c}\n"), want: []string{"pod.yaml:6:20: stringData[…]: Invalid value: must not be '..'"}},
		{name: "TLS without its key", data: secretWith("type: kubernetes.io/tls\nstringData: {tls.crt: a}\n"), want: []string{"pod.yaml:1:1: data[tls.key]: missing: a Secret of type kubernetes.io/tls needs it"}},
		{name: "basic auth without either", data: secretWith("type: kubernetes.io/basic-auth\ndata: {}\n"), want: []string{
			"pod.yaml:6:7: data[username]: missing: a Secret of type kubernetes.io/basic-auth needs it",
			"pod.yaml:6:7: data[password]: missing: a Secret of type kubernetes.io/basic-auth needs it"}},
		{name: "an ssh key that is empty", data: secretWith("type: kubernetes.io/ssh-auth\nstringData: {ssh-privatekey: ''}\n"), want: []string{"pod.yaml:6:30: stringData[ssh-privatekey]: missing: a Secret of type kubernetes.io/ssh-auth needs it"}},
		{name: "no docker config", data: secretWith("type: kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: hunter2}\n"), want: []string{"pod.yaml:6:33: stringData[.dockerconfigjson]: not a JSON object, as type kubernetes.io/dockerconfigjson wants it"}},
		{name: "no dockercfg", data: secretWith("type: kubernetes.io/dockercfg\ndata: {.dockercfg: MTIzNDU=}\n"), want: []string{"pod.yaml:6:20: data[.dockercfg]: not a JSON object, as type kubernetes.io/dockercfg wants it"}},
		{name: "an annotation of a pod", data: "apiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {podstead/restart-on-change: 'true'}}\n", want: []string{"pod.yaml:3:35: metadata.annotations[podstead/restart-on-change]: is for pods: it says which of them restart when an object changes"}},
		{name: "a selector that is none", data: "apiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {podstead/node-selector: 'zone=('}}\n", want: []string{"pod.yaml:3:35: metadata.annotations[podstead/node-selector]: not a label selector as kubectl takes it: unable to parse requirement: found '(', expected: identifier"}},
		{name: "an annotation that there is not", data: "apiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {podstead/nodeselector: a=b}}\n", want: []string{"pod.yaml:3:35: metadata.annotations[podstead/nodeselector]: not supported: annotation podstead/nodeselector"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, faults := objectFaults(tc.data, edge, DefaultLimits())
			sameLines(t, faults, tc.want)
		})
	}
}

func TestUnknownFieldsOfObjectsMayBeWarnings(t *testing.T) {
	warn := edge
	warn.Warn = true
	warnings, faults := objectFaults(configMapWith("more: x\ndata: {a: b}\ndata: {a: c}\n"), warn, DefaultLimits())
	sameLines(t, faults, nil)
	sameLines(t, warnings, []string{"pod.yaml:5:1: more: unknown field: ignored", "pod.yaml:7:1: data: duplicate key, first at line 6: ignored"})
}

func TestObjectsAreBounded(t *testing.T) {
	body := DefaultLimits()
	body.Bytes, body.Nodes = 8<<20, 800_000
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "  key-%04d: value-%04d\n", i, i)
		}
		return b.String()
	}
	if got := usable(t, configMapWith("data:\n"+keys(1000))).ConfigMap.Data; len(got) != 1000 || got["key-0999"] != "value-0999" {
		t.Errorf("%d keys", len(got))
	}
	megabytes := strings.Repeat("x", 2<<20)
	inJSON := func(kind, bag, value string) string { // which is read faster
		return `{"apiVersion":"v1","kind":"` + kind + `","metadata":{"name":"a"},"` + bag + `":{"a":"` + value + `"}}`
	}
	repeated := "stringData:\n  a: &a " + megabytes[:1<<16] + "\n"
	for _, tc := range []struct {
		name, data string
		want       string
	}{
		{name: "2 MiB in a ConfigMap", data: inJSON(KindConfigMap, "data", megabytes), want: "pod.yaml:1:1: larger than the limit of 1048576 bytes for all values of a ConfigMap"},
		{name: "2 MiB in a Secret", data: inJSON(KindSecret, "data", base64.StdEncoding.EncodeToString([]byte(megabytes))), want: ":1:67: data: larger than the limit of 1048576 bytes for all values of a Secret"},
		{name: "2 MiB in stringData", data: inJSON(KindSecret, "stringData", megabytes), want: "pod.yaml:1:1: data: larger than the limit of 1048576 bytes for all values of a Secret"},
		{name: "a text in many aliases", data: secretWith(repeated + strings.ReplaceAll(keys(20), ": value-", ": *a #")), want: "pod.yaml:1:1: data: larger than the limit of 1048576 bytes for all values of a Secret"},
		{name: "a text in too many aliases", data: secretWith(repeated + strings.ReplaceAll(keys(1000), ": value-", ": *a #")), want: "more than the limit of 8388608 bytes, aliases expanded"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, faults := objectFaults(tc.data, edge, body)
			if len(faults) != 1 || !strings.HasSuffix(faults[0], tc.want) {
				t.Errorf("%.300q, want %q", faults, tc.want)
			}
		})
	}
	_, faults := objectFaults(configMapWith("data:\n"+strings.ReplaceAll(keys(1000), "-", "/")), edge, body)
	if len(faults) != maxTypeFaults {
		t.Errorf("%d faults are told of one object", len(faults))
	}
}

// References are told once each, in order, optional ones too.
func TestPodsNameTheirObjects(t *testing.T) {
	pod := runnable(t, podWith(`
envFrom:
- {configMapRef: {name: kiln}}
- {prefix: P_, secretRef: {name: door, optional: true}}
env:
- {name: A, valueFrom: {configMapKeyRef: {name: kiln, key: a}}}
- {name: B, valueFrom: {secretKeyRef: {name: b, key: b, optional: true}}}
`, `
imagePullSecrets: [{name: pull}]
volumes:
- {name: v1, configMap: {name: files, defaultMode: 0400, optional: true, items: [{key: a, path: b/c, mode: 0444}]}}
- {name: v2, secret: {secretName: door, items: [{key: a, path: b}]}}
- name: v3
  projected:
    defaultMode: 0440
    sources:
    - {configMap: {name: extra}}
    - {secret: {name: certs, optional: true, items: [{key: a, path: b}]}}
`))
	want := []ObjectRef{
		{KindConfigMap, "default", "extra"}, {KindConfigMap, "default", "files"}, {KindConfigMap, "default", "kiln"},
		{KindSecret, "default", "b"}, {KindSecret, "default", "certs"}, {KindSecret, "default", "door"}, {KindSecret, "default", "pull"},
	}
	if !slices.Equal(pod.Refs, want) {
		t.Errorf("got %v", pod.Refs)
	}
	if refs := runnable(t, lamp).Refs; refs != nil {
		t.Errorf("a pod without references has %v", refs)
	}
}

func TestRestartOnChangeIsNoIdentity(t *testing.T) {
	with := strings.Replace(lamp, "name: lamp\nspec", "name: lamp\n  annotations: {podstead/restart-on-change: 'true'}\nspec", 1)
	if a, b := runnable(t, lamp).UID, runnable(t, with).UID; a != b {
		t.Errorf("UID %s, then %s", a, b)
	}
}
