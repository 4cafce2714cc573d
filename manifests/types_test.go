package manifests

import (
	"fmt"
	"strings"
	"testing"
)

// podWith is a pod with more lines in its metadata, its spec and its container.
// The container's lines begin at line 9 at column 5, the spec's after them.
func podWith(container, spec string) string {
	out := "apiVersion: v1\nkind: Pod\nmetadata:\n  name: lamp\nspec:\n  containers:\n  - name: lamp\n    image: busybox:1.36\n"
	for _, line := range strings.Split(strings.TrimSpace(container), "\n") {
		out += "    " + line + "\n"
	}
	for _, line := range strings.Split(strings.TrimSpace(spec), "\n") {
		out += "  " + line + "\n"
	}
	return out
}

// Every difference from the Go types is told, at its own place.
func TestStrictDecoding(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		want       []string
	}{
		// B08
		{
			name: "wrong indentation",
			data: "apiVersion: v1\nkind: Pod\nmetadata:\n  name: lamp\n  securityContext: {runAsUser: 1}\nspec:\n  containers:\n  - name: lamp\n    image: busybox\n    - name: second\n      image: busybox\n",
			want: []string{"pod.yaml:10:5: did not find expected key (while parsing a block mapping begun at line 8)"},
		},
		{
			name: "under the wrong parent",
			data: "apiVersion: v1\nkind: Pod\nmetadata:\n  name: lamp\n  securityContext: {runAsUser: 1}\nspec:\n  containers:\n  - name: lamp\n    image: busybox\n    volumes: []\n",
			want: []string{
				"pod.yaml:5:3: metadata.securityContext: unknown field",
				"pod.yaml:10:5: spec.containers[0].volumes: unknown field",
			},
		},
		{
			name: "wrong case",
			data: podWith("Command: [a]", ""),
			want: []string{"pod.yaml:9:5: spec.containers[0].Command: unknown field; its name is written command"},
		},
		{
			name: "duplicate keys",
			data: podWith("image: a\nenv:\n- {name: A, name: B}", "restartPolicy: Never\nrestartPolicy: Never"),
			want: []string{
				"pod.yaml:9:5: spec.containers[0].image: duplicate key, first at line 8",
				"pod.yaml:11:17: spec.containers[0].env[0].name: duplicate key, first at line 11",
				"pod.yaml:13:3: spec.restartPolicy: duplicate key, first at line 12",
			},
		},
		{
			name: "duplicate keys in JSON",
			data: "{\"apiVersion\": \"v1\", \"kind\": \"Pod\",\n \"metadata\": {\"name\": \"a\",\n  \"name\": \"b\"}}",
			want: []string{"pod.yaml:3:3: metadata.name: duplicate key, first at line 2"},
		},
		{
			name: "wrong types",
			data: podWith("args: run\nports:\n- containerPort: '80'\n- containerPort: 80.5\n- containerPort: 3000000000\n- 80\ntty: 'no'\nsecurityContext: []", "nodeSelector: {a: 1, b: ~}\nhostNetwork: on-demand\nvolumes: {name: x}"),
			want: []string{
				"pod.yaml:9:11: spec.containers[0].args: want a list, got a string",
				"pod.yaml:11:22: spec.containers[0].ports[0].containerPort: want a number, got a string",
				"pod.yaml:12:22: spec.containers[0].ports[1].containerPort: want an integer of 32 bits",
				"pod.yaml:13:22: spec.containers[0].ports[2].containerPort: want an integer of 32 bits",
				"pod.yaml:14:7: spec.containers[0].ports[3]: want an object, got a number",
				"pod.yaml:15:10: spec.containers[0].tty: want a boolean, got a string",
				"pod.yaml:16:22: spec.containers[0].securityContext: want an object, got a list",
				"pod.yaml:17:21: spec.nodeSelector[a]: want a string, got a number: quote it",
				`pod.yaml:17:27: spec.nodeSelector[b]: want a string, got null: write ""`,
				"pod.yaml:18:16: spec.hostNetwork: want a boolean, got a string",
				"pod.yaml:19:12: spec.volumes: want a list, got an object",
			},
		},
		{
			name: "quantities",
			data: podWith("resources:\n  limits: {cpu: 1.5, memory: 64MB}\n  requests: {cpu: yes, memory: 9007199254740993}", ""),
			want: []string{
				`pod.yaml:10:34: spec.containers[0].resources.limits[memory]: "64MB" is not a quantity such as 500m, 2 or 64Mi`,
				"pod.yaml:11:23: spec.containers[0].resources.requests[cpu]: want a quantity such as 500m, 2 or 64Mi, got a boolean",
				"pod.yaml:11:36: spec.containers[0].resources.requests[memory]: a number beyond 2^53 is not exact in JSON: write it as a string",
			},
		},
		{
			name: "null in a list",
			data: podWith("args: [a, ~]", ""),
			want: []string{`pod.yaml:9:15: spec.containers[0].args[1]: want a string, got null: write ""`},
		},
		{
			name: "in an alias, at the anchor",
			data: podWith("securityContext: &sc {runAsUser: 1, oops: 2}", "initContainers:\n- {name: i, image: b, securityContext: *sc}"),
			want: []string{
				"pod.yaml:9:41: spec.containers[0].securityContext.oops: unknown field",
				"pod.yaml:9:41: spec.initContainers[0].securityContext.oops: unknown field",
			},
		},
		{
			name: "no spec to speak of",
			data: "apiVersion: v1\nkind: Pod\nmetadata: []\nspec: none\n",
			want: []string{"pod.yaml:3:11: metadata: want an object, got a list", "pod.yaml:4:7: spec: want an object, got a string"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, faults := faultsOf(tc.data, edge)
			sameLines(t, faults, tc.want)
		})
	}
}

// Law 8: a value of the wrong type may be a secret whose quotes were forgotten.
func TestMessagesShowNoSecrets(t *testing.T) {
	const secret = "4711081547110815"
	for name, data := range map[string]string{
		"env of a wrong type":    podWith("env:\n- {name: A, value: "+secret+"}", ""),
		"env with a wrong name":  podWith("env:\n- {name: '', value: '"+secret+"'}\n- {name: \"a=b\", value: '"+secret+"'}", ""),
		"unknown field":          podWith("env:\n- {name: A, valeu: "+secret+"}", ""),
		"args of a wrong type":   podWith("args: ["+secret+"]\ncommand: "+secret, ""),
		"annotation":             strings.Replace(podWith("", ""), "name: lamp", "name: lamp\n  annotations: {a: "+secret+"}", 1),
		"annotation with a slip": strings.Replace(podWith("", ""), "name: lamp", "name: lamp\n  annotations: {'a b': '"+secret+"'}", 1),
		"env from a reference":   podWith("env:\n- {name: A, value: '"+secret+"', valueFrom: {fieldRef: {fieldPath: x}}}", ""),
		"syntax":                 podWith("env:\n- {name: A, value: \""+secret+"}", ""),
		"tag":                    podWith("env:\n- {name: A, value: !!binary "+secret+"}", ""),
	} {
		t.Run(name, func(t *testing.T) {
			_, faults := faultsOf(data, edge)
			if len(faults) == 0 {
				t.Fatal("no fault")
			}
			if told := strings.Join(faults, "\n"); strings.Contains(told, secret) {
				t.Error(told)
			}
		})
	}
}

// A source set to warn runs what is left, as kubectl --validate=warn would.
func TestUnknownFieldsCanBeWarnings(t *testing.T) {
	opts := edge
	opts.Warn = true
	doc := decodeOne(t, podWith("imagee: x\nimage: busybox:1.37", "Hostname: a"))
	pod, warnings, faults := Static(doc, opts)
	sameLines(t, lines(faults), nil)
	sameLines(t, lines(warnings), []string{
		"pod.yaml:9:5: spec.containers[0].imagee: unknown field: ignored",
		"pod.yaml:10:5: spec.containers[0].image: duplicate key, first at line 8: ignored",
		"pod.yaml:11:3: spec.Hostname: unknown field; its name is written hostname: ignored",
	})
	if got := pod.Spec.Containers[0].Image; got != "busybox:1.37" || pod.Spec.Hostname != "" {
		t.Errorf("image %s, hostname %q", got, pod.Spec.Hostname)
	}
	doc = decodeOne(t, podWith("tty: 7", ""))
	if _, _, faults := Static(doc, opts); len(faults) != 1 {
		t.Errorf("a wrong type: faults %v, want one", lines(faults))
	}
}

func TestFaultsOfOneDocumentAreBounded(t *testing.T) {
	spec := ""
	for i := range 500 {
		spec += fmt.Sprintf("x%d: 1\n", i)
	}
	if _, faults := faultsOf(podWith("", spec), edge); len(faults) != maxTypeFaults {
		t.Errorf("%d faults, want %d", len(faults), maxTypeFaults)
	}
}
