package sources

import (
	"strings"
	"testing"

	"github.com/podstead/podstead/manifests"
)

func configMapNamed(name, value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {a: " + value + "}\n---\n"
}

func TestUnitsHaveObjects(t *testing.T) {
	v := readAt(gitReader(), configMapNamed("kiln", "x")+manifest("lamp", "a")+"---\napiVersion: v1\nkind: Secret\nmetadata: {name: door, namespace: lab}\n")
	if v.faulty() || len(v.pods) != 1 || len(v.objects) != 2 {
		t.Fatalf("%d pods, %d objects, faults %v", len(v.pods), len(v.objects), texts(v.unit.Faults))
	}
	second := v.objects[1]
	if got := second.Ref().String(); got != "Secret lab/door" {
		t.Error(got)
	}
	want := Origin{Source: "fleet", Kind: KindGit, Unit: "fleet.yaml", Document: 3, Line: 16, Revision: v.unit.Revision, NodeControl: true}
	if second.Origin != want {
		t.Errorf("origin %+v, want %+v", second.Origin, want)
	}
}

func TestAnObjectAtFaultHoldsItsUnit(t *testing.T) {
	v := readAt(gitReader(), manifest("lamp", "a")+"---\napiVersion: v1\nkind: Secret\nmetadata: {name: door}\ndata: {a: hunter2!}\n")
	if len(v.pods)+len(v.objects) != 0 || v.data != nil {
		t.Errorf("%d pods, %d objects", len(v.pods), len(v.objects))
	}
	if got := strings.Join(texts(v.unit.Faults), "\n"); got != "fleet.yaml:14:11: data[a]: not base64" {
		t.Error(got)
	}
}

func TestOfTwoObjectsOfOneNameTheFirstCounts(t *testing.T) {
	v := gitReader().readFiles("main", "abc", []unitFile{
		{Name: "a.yaml", Data: []byte(configMapNamed("kiln", "first"))},
		{Name: "b.yaml", Data: []byte("# copy\n" + configMapNamed("kiln", "second") + configMapNamed("other", "x"))},
	})
	if v.faulty() || len(v.objects) != 2 || v.objects[0].ConfigMap.Data["a"] != "first" {
		t.Fatalf("%d objects, faults %v", len(v.objects), texts(v.unit.Faults))
	}
	if got := strings.Join(texts(v.unit.Warnings), "\n"); got != "b.yaml:2:1: ConfigMap default/kiln is not used: the one at a.yaml:1:1 has its name" {
		t.Error(got)
	}
}

// Nobody writes one name twice on purpose: it is a copy that was not renamed.
func TestOfTwoPodsOfOneNameTheSecondIsNamed(t *testing.T) {
	two := gitReader().readFiles("main", "abc", []unitFile{
		{Name: "a.yaml", Data: []byte(manifest("lamp", "first"))},
		{Name: "b.yaml", Data: []byte("# copy\n" + manifest("lamp", "second") + "---\n" + manifest("kiln", "x"))},
	})
	one := readAt(gitReader(), manifest("lamp", "first")+"---\n"+manifest("lamp", "second"))
	for want, v := range map[string]*version{
		"b.yaml:2:1: Pod default/lamp-n1 is not run: the one at a.yaml:1:1 has its name":          two,
		"fleet.yaml:11:1: Pod default/lamp-n1 is not run: the one at fleet.yaml:1:1 has its name": one,
	} {
		if got := strings.Join(texts(v.unit.Warnings), "\n"); got != want || v.faulty() {
			t.Errorf("warnings %s, faults %v", got, texts(v.unit.Faults))
		}
	}
}

func TestObjectsForSomeNodes(t *testing.T) {
	object := func(selector, more string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kiln\n  annotations:\n    podstead/node-selector: " + selector + "\n" + more
	}
	for _, tc := range []struct {
		name, data string
		skipped    string
		warning    string
		fault      string
	}{
		{name: "our label", data: object("zone=a", "")},
		{name: "a set", data: object("zone in (a, b), !gpu", "")},
		{name: "no condition", data: object(`""`, "")},
		{name: "another zone", data: object("zone=b", ""), skipped: "podstead/node-selector wants zone=b, which this node's labels do not match"},
		{name: "a label that we lack", data: object("disk", ""), skipped: "podstead/node-selector wants disk, which this node's labels do not match"},
		{name: "its faults are not ours", data: object("zone!=a", "datas: {}\n"),
			skipped: "podstead/node-selector wants zone!=a, which this node's labels do not match", warning: "fleet.yaml:7:1: datas: unknown field"},
		{name: "no selector", data: object("zone=(", ""),
			fault: "fleet.yaml:6:5: metadata.annotations[podstead/node-selector]: not a label selector as kubectl takes it: "},
		{name: "not even text", data: object("5", ""), fault: "fleet.yaml:6:29: metadata.annotations[podstead/node-selector]: want a string, got a number: quote it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := readAt(gitReader(), tc.data)
			skipped := ""
			for _, s := range v.unit.Skipped {
				skipped = s.Reason
				if s.Kind != "ConfigMap" || s.Name != "default/kiln" {
					t.Errorf("skipped %s %s", s.Kind, s.Name)
				}
			}
			if skipped != tc.skipped {
				t.Errorf("skipped: %q", skipped)
			}
			if got := strings.Join(texts(v.unit.Warnings), "\n"); got != tc.warning {
				t.Errorf("warnings: %s", got)
			}
			if got := strings.Join(texts(v.unit.Faults), "\n"); tc.fault == "" && got != "" || !strings.HasPrefix(got, tc.fault) {
				t.Errorf("faults: %s", got)
			}
			if used := len(v.objects) == 1; used != (tc.skipped+tc.fault == "") {
				t.Errorf("used: %v", used)
			}
		})
	}
}

// One object for each node under one name is what a fleet has.
func TestSkippedObjectsTakeNoName(t *testing.T) {
	of := func(zone string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kiln, annotations: {podstead/node-selector: zone=" + zone + "}}\ndata: {zone: " + zone + "}\n---\n"
	}
	v := readAt(gitReader(), of("b")+of("a")+of("c"))
	if v.faulty() || len(v.objects) != 1 || v.objects[0].ConfigMap.Data["zone"] != "a" || len(v.unit.Warnings) > 0 {
		t.Errorf("%d objects, faults %v, warnings %v", len(v.objects), texts(v.unit.Faults), texts(v.unit.Warnings))
	}
}

func TestUnknownFieldsOfObjectsWhereASourceIsSetToWarn(t *testing.T) {
	reader := gitReader()
	reader.warn = true
	v := readAt(reader, configMapNamed("kiln", "x")+"apiVersion: v1\nkind: Secret\nmetadata: {name: door}\ndatas: {}\n")
	if v.faulty() || len(v.objects) != 2 {
		t.Errorf("%d objects, faults %v", len(v.objects), texts(v.unit.Faults))
	}
	if got := strings.Join(texts(v.unit.Warnings), "\n"); got != "fleet.yaml:9:1: datas: unknown field: ignored" {
		t.Error(got)
	}
}

func TestKindsThatAreNotRunAreNamedOnce(t *testing.T) {
	kinds := "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n---\n" +
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n---\n" +
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\n---\n" +
		"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\n---\n" +
		"resources: []\n"
	want := []string{
		"fleet.yaml:1:1: kind Service is not supported yet; pods do not need one to run",
		"fleet.yaml:5:1: kind Deployment of apps/v1 is not supported yet (it comes later); what its template holds can be written as a Pod",
		"fleet.yaml:9:1: kind PersistentVolumeClaim of v1 is not supported yet (planned)",
		"fleet.yaml:13:1: kind Ingress of networking.k8s.io/v1 is not supported",
		"fleet.yaml:17:1: not supported: this is no Kubernetes object",
	}
	for _, policy := range []UnsupportedKinds{UnsupportedWarn, UnsupportedStrict} {
		reader := gitReader()
		reader.unsupported = policy
		v := readAt(reader, kinds)
		got := map[UnsupportedKinds][]manifests.Fault{UnsupportedWarn: v.unit.Warnings, UnsupportedStrict: v.unit.Faults}[policy]
		if strings.Join(texts(got), "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s", policy, strings.Join(texts(got), "\n"))
		}
		if v.faulty() != (policy == UnsupportedStrict) {
			t.Errorf("%s: faulty %v", policy, v.faulty())
		}
	}
}
