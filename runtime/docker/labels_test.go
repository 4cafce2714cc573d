package docker

import (
	"maps"
	"testing"

	"github.com/podstead/podstead/runtime"
)

func TestIdentityIsReadBack(t *testing.T) {
	want := identity{
		pod:         runtime.PodRef{UID: "u1", Namespace: "default", Name: "a-b"},
		container:   "c",
		attempt:     12,
		sandboxID:   "s1",
		messagePath: "/x",
	}
	for _, name := range []string{"k8s_c_a-b_default_u1_12", "/k8s_c_a-b_default_u1_12", "/k8s_c_a-b_default_u1_12_00ff00ff"} {
		got, err := identify(name, want.labels("n1", "node-1"), "node-1")
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// B131, B157: what does not agree in name, labels and node is not ours.
func TestWhatIsNotOurs(t *testing.T) {
	i := identity{pod: runtime.PodRef{UID: "u1", Namespace: "default", Name: "web"}, container: "web"}
	for _, test := range []struct {
		name      string
		container string
		change    map[string]string
	}{
		{name: "another name", container: "/web"},
		{name: "another container's name", container: "/k8s_x_web_default_u1_0"},
		{name: "another attempt's name", container: "/k8s_web_web_default_u1_01"},
		{name: "a suffix that is none", container: i.name() + "_by-hand"},
		{name: "an empty suffix", container: i.name() + "_"},
		{name: "another node", container: i.name(), change: map[string]string{labelNodeID: "node-2"}},
		{name: "no attempt", container: i.name(), change: map[string]string{labelAttempt: ""}},
		{name: "no uid", container: "k8s_web_web_default__0", change: map[string]string{labelUID: ""}},
		{name: "another pod", container: i.name(), change: map[string]string{labelPodName: "b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			labels := i.labels("n1", "node-1")
			maps.Copy(labels, test.change)
			if got, err := identify(test.container, labels, "node-1"); err == nil {
				t.Errorf("taken for %+v", got)
			}
		})
	}
}

func TestNamesNeverCollide(t *testing.T) {
	pod := func(name string) runtime.PodRef { return runtime.PodRef{UID: "u1", Namespace: "d", Name: name} }
	one := identity{pod: pod("a-b"), container: "c"}
	two := identity{pod: pod("a"), container: "b-c"}
	if one.name() == two.name() {
		t.Errorf("both are %s", one.name())
	}
}
