package docker

import (
	"reflect"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
)

func TestNamesakesArePodsOfThisNameWithAnotherNodeID(t *testing.T) {
	a := runtime.PodRef{UID: "ua", Namespace: "default", Name: "a"}
	b := runtime.PodRef{UID: "ub", Namespace: "default", Name: "b"}
	of := func(pod runtime.PodRef, part, node, nodeID string) container.Summary {
		is := identity{pod: pod, container: part}
		return container.Summary{ID: node + nodeID + part, Names: []string{"/" + is.name()}, Labels: is.labels(node, nodeID)}
	}
	calls := 0
	fake := &fakeAPI{listFn: func() ([]container.Summary, error) {
		calls++
		return []container.Summary{
			of(b, "main", "n1", "node-0"),
			of(a, sandboxContainer, "n1", "node-0"),
			of(a, "main", "n1", "node-0"),
			of(a, "main", "n1", "node-1"), // ours
			of(b, "main", "n2", "node-2"), // of another node
			{ID: "x", Names: []string{"/x"}, Labels: map[string]string{labelNode: "n1"}},
			{ID: "y", Names: []string{"/brave_name"}, Labels: identity{pod: b, container: "main"}.labels("n1", "node-3")}, // of an image with their labels
		}, nil
	}}
	got, err := newTestManager(t, fake).Namesakes(t.Context())
	want := []runtime.Namesake{{NodeID: "node-0", Pods: []runtime.PodRef{a, b}}}
	if err != nil || calls != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d calls, %+v, %v; want %+v", calls, got, err, want)
	}
}
