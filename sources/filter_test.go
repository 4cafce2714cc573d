package sources

import (
	"strings"
	"testing"

	"github.com/podstead/podstead/manifests"
)

func TestElsewhere(t *testing.T) {
	affinity := func(term string) string {
		return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + term + "]}}}"
	}
	tests := []struct {
		name   string
		spec   string // a field of the spec
		reason string // "" when the pod is for this node
		broken bool
	}{
		{"says nothing", "hostNetwork: true", "", false},
		{"our name", "nodeName: edge-01", "", false},
		{"our name in other letters", "nodeName: Edge-01", "", false},
		{"our name as the host writes it", "nodeName: EDGE_01", "", false},
		{"another name", "nodeName: edge-02", "nodeName is edge-02", false},
		{"our label", "nodeSelector: {zone: a}", "", false},
		{"another value", "nodeSelector: {zone: b}", "nodeSelector wants zone=b, this node has a", false},
		{"a label that we lack", "nodeSelector: {zone: a, disk: ssd}", "nodeSelector wants disk=ssd, this node has no such label", false},
		{"affinity to us", affinity("{matchExpressions: [{key: zone, operator: In, values: [a, b]}]}"), "", false},
		{"affinity to others", affinity("{matchExpressions: [{key: zone, operator: NotIn, values: [a]}]}"), "required node affinity does not match this node's labels or name", false},
		{"affinity to our name", affinity("{matchFields: [{key: metadata.name, operator: In, values: [edge-01]}]}"), "", false},
		{"one of two terms", affinity("{matchExpressions: [{key: zone, operator: In, values: [b]}]}, {matchExpressions: [{key: zone, operator: Exists}]}"), "", false},
		{"a number", affinity("{matchExpressions: [{key: cores, operator: Gt, values: ['3']}]}"), "", false},
		{"an operator that there is not", affinity("{matchExpressions: [{key: zone, operator: Like, values: [a]}]}"), "", true},
	}
	node := nodeObject(manifests.Node{Name: "Edge_01", Labels: map[string]string{"zone": "a", "cores": "4"}})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			docs, faults := manifests.Decode("lamp.yaml", []byte(strings.Replace(manifest("lamp", "x"), "spec:\n", "spec:\n  "+tt.spec+"\n", 1)), manifests.DefaultLimits())
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			reason, err := elsewhere(docs[0].Pod(), node)
			if reason != tt.reason || (err != nil) != tt.broken {
				t.Errorf("reason %q error %v, want %q and broken %v", reason, err, tt.reason, tt.broken)
			}
		})
	}
}

func TestIsManifestName(t *testing.T) {
	for name, want := range map[string]bool{
		"lamp.yaml": true, "lamp.yml": true, "lamp.json": true, "copy of lamp.yaml": true, "__tmp.yaml": true,
		"lamp": false, "lamp.yaml~": false, ".lamp.yaml": false, ".lamp.yaml.swp": false, "lamp.yaml.bak": false,
		"lamp.yaml.orig": false, "lamp.yaml.rpmsave": false, "#lamp.yaml#": false, "#lamp.yaml": false,
		"4913": false, "lamp.txt": false, "lamp.YAML": false, "..data": false,
	} {
		if got := isManifestName(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
