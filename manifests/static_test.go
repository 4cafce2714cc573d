package manifests

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// The kubelet's rules for static pods, as far as an author can see them.
func TestStaticPodRules(t *testing.T) {
	pod, warnings, faults := Static(decodeOne(t, lamp), Options{Node: Node{Name: "Edge_01"}, Kind: "http"})
	sameLines(t, lines(warnings), nil)
	sameLines(t, lines(faults), nil)
	for _, tc := range []struct{ what, got, want string }{
		{"name", pod.Name, "lamp-edge-01"},
		{"written name", pod.WrittenName(), "lamp"},
		{"namespace", pod.Namespace, "default"},
		{"nodeName", pod.Spec.NodeName, "edge-01"},
		{"phase", string(pod.Status.Phase), "Pending"},
		{"annotations", fmt.Sprint(pod.Annotations), "map[kubernetes.io/config.hash:" + string(pod.UID) + " kubernetes.io/config.source:http]"},
		{"tolerations", fmt.Sprint(pod.Spec.Tolerations), "[]"},
		{"place", pod.Place.String(), "pod.yaml:1:1"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.what, tc.got, tc.want)
		}
	}
}

func TestPodsOfFilesTolerateNoExecute(t *testing.T) {
	want := v1.Toleration{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute}
	for name, spec := range map[string]string{
		"none of its own": "",
		"one of its own":  "tolerations: [{operator: Exists, effect: NoExecute}]",
	} {
		t.Run(name, func(t *testing.T) {
			got := runnable(t, podWith("", spec)).Spec.Tolerations
			if len(got) != 1 || got[0] != want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestDefaultsAreKubernetes(t *testing.T) {
	spec := runnable(t, podWith("ports: [{containerPort: 80}]\nresources: {limits: {cpu: 1}}", "hostNetwork: true\nvolumes: [{name: v}]")).Spec
	c := spec.Containers[0]
	got := fmt.Sprintln(spec.RestartPolicy, *spec.TerminationGracePeriodSeconds, spec.DNSPolicy, spec.Volumes[0].EmptyDir != nil,
		c.ImagePullPolicy, c.TerminationMessagePath, c.TerminationMessagePolicy, c.Ports[0].Protocol, c.Ports[0].HostPort, c.Resources.Requests.Cpu())
	const want = "Always 30 ClusterFirst true IfNotPresent /dev/termination-log File TCP 80 1"
	if strings.Join(strings.Fields(got), " ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A manifest copied out of a cluster runs, and says what of it is ignored (B17
// among them: a uid of its own would hide every edit).
func TestWhatAServerSetIsIgnoredWithAWarning(t *testing.T) {
	data := strings.Replace(podWith("", ""), "  name: lamp\n", `  name: lamp
  uid: fixed-1
  resourceVersion: "7"
  creationTimestamp: "2026-01-01T00:00:00Z"
  generateName: lamp-
  ownerReferences: [{apiVersion: v1, kind: Node, name: a, uid: b}]
  managedFields: [{anything: {of: any}, version: 1}]
  annotations: {kubernetes.io/config.seen: x, kubernetes.io/config.hash: z, podstead/source: file}
`, 1) + "status: {phase: Running, newer: than us}\n"
	pod, warnings, faults := Static(decodeOne(t, data), edge)
	if len(faults) > 0 {
		t.Fatal(lines(faults))
	}
	sameLines(t, lines(warnings), []string{"pod.yaml:5:3: ignored, for the node decides it: metadata.uid, metadata.resourceVersion, metadata.creationTimestamp, metadata.generateName, metadata.ownerReferences, metadata.managedFields, status, metadata.annotations[kubernetes.io/config.seen], metadata.annotations[kubernetes.io/config.hash], metadata.annotations[podstead/source]"})
	if pod.UID == "fixed-1" || pod.ResourceVersion+pod.GenerateName != "" || pod.OwnerReferences != nil || !pod.CreationTimestamp.IsZero() {
		t.Errorf("metadata %+v", pod.ObjectMeta)
	}
	if _, seen := pod.Annotations[annotationSeen]; seen || pod.Annotations[annotationHash] != string(pod.UID) {
		t.Errorf("annotations %v", pod.Annotations)
	}
	fresh := strings.Replace(lamp, "name: lamp\n", "name: lamp\n  creationTimestamp: null\n", 1) + "status: {}\n" // kubectl run --dry-run=client
	if _, warnings, _ := Static(decodeOne(t, fresh), edge); len(warnings) > 0 {
		t.Errorf("warnings %v", lines(warnings))
	}
}

func TestStaticLeavesTheDocumentAlone(t *testing.T) {
	doc := decodeOne(t, lamp)
	first, _, _ := Static(doc, edge)
	second, _, _ := Static(doc, edge)
	if first.Name != second.Name || first.UID != second.UID || doc.Pod().Name != "lamp" || doc.Pod().Spec.RestartPolicy != "" {
		t.Errorf("first %s, second %s, document %s", first.Name, second.Name, doc.Pod().Name)
	}
}

func TestStaticRunsPodsOnly(t *testing.T) {
	docs, _ := decodeAll("{apiVersion: apps/v1, kind: Deployment}")
	if _, _, faults := Static(docs[0], edge); len(faults) != 1 || faults[0].Message != "kind Deployment is not run" {
		t.Errorf("faults %v", lines(faults))
	}
}

// B130
func TestNodeName(t *testing.T) {
	for _, tc := range []struct {
		name, host, want string
	}{
		{name: "as it is", host: "edge-01.example.com", want: "edge-01.example.com"},
		{name: "underscore", host: "edge_01", want: "edge-01"},
		{name: "capitals", host: "Edge01", want: "edge01"},
		{name: "70 characters", host: strings.Repeat("a", 70), want: strings.Repeat("a", 63)},
		{name: "a dash at the cut", host: strings.Repeat("a", 62) + "-b", want: strings.Repeat("a", 62)},
		{name: "a long domain", host: strings.Repeat("abcdefghi.", 30), want: strings.Repeat("abcdefghi.", 6) + "abc"},
		{name: "dots and dashes outside", host: "-.edge-..01.-", want: "edge.01"},
		{name: "other letters", host: "küche 1", want: "k-che-1"},
		{name: "nothing left", host: "___", want: "node"},
		{name: "empty", host: "", want: "node"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, changed := NodeName(tc.host)
			if got != tc.want || changed != (got != tc.host) {
				t.Errorf("got %q %v, want %q", got, changed, tc.want)
			}
			if again, changed := NodeName(got); changed {
				t.Errorf("%q becomes %q", got, again)
			}
			if _, _, faults := Static(decodeOne(t, lamp), Options{Node: Node{Name: tc.host}, Kind: "file"}); len(faults) > 0 {
				t.Errorf("pods of this node are refused: %v", lines(faults))
			}
		})
	}
}

// What the API server would refuse is refused in its words, at its place.
func TestValidationHasPlaces(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		want       []string
	}{
		{name: "no name", data: "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a}\nspec: {containers: [{name: a, image: b}]}\n",
			want: []string{"pod.yaml:3:11: metadata.name: missing: a static pod needs a name of its own"}},
		{name: "no containers", data: "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n",
			want: []string{"pod.yaml:4:7: spec.containers: Required value"}},
		{name: "no spec", data: "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
			want: []string{"pod.yaml:1:1: spec.containers: Required value"}},
		// B20
		{name: "no image", data: "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: a\n",
			want: []string{"pod.yaml:6:5: spec.containers[0].image: Required value"}},
		{name: "several", data: podWith("ports:\n- {containerPort: 99999}\nvolumeMounts:\n- {name: none, mountPath: /a}", "restartPolicy: Sometimes\nterminationGracePeriodSeconds: 0"),
			want: []string{
				"pod.yaml:10:23: spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive",
				`pod.yaml:12:14: spec.containers[0].volumeMounts[0].name: Not found: "none"`,
				`pod.yaml:13:18: spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"`,
			}},
		{name: "two ports", data: podWith("ports:\n- {containerPort: 80, hostPort: 80}\n- {containerPort: 81, hostPort: 80}", ""),
			want: []string{`pod.yaml:11:37: spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"`}},
		{name: "more asked than allowed", data: podWith("resources: {requests: {cpu: 2}, limits: {cpu: 1}}", ""),
			want: []string{`pod.yaml:9:27: spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, faults := faultsOf(tc.data, edge)
			sameLines(t, faults, tc.want)
		})
	}
}
