package cli

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func onNode(namespace, written string) v1.Pod {
	return v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: written + "-n1"}, Spec: v1.PodSpec{NodeName: "N1"}}
}

func TestPodsAreFoundByEitherName(t *testing.T) {
	pods := []v1.Pod{onNode("default", "web"), onNode("default", "web-n1"), onNode("data", "db"), onNode("default", "lamp")}
	cases := []struct {
		name, namespace string
		asked           []string
		want            string // names found, or "!" and part of the error
	}{
		{"all of a namespace", "default", nil, "web-n1 web-n1-n1 lamp-n1"},
		{"all", "", nil, "web-n1 web-n1-n1 db-n1 lamp-n1"},
		{"as written", "default", []string{"lamp"}, "lamp-n1"},
		{"full name", "default", []string{"lamp-n1"}, "lamp-n1"},
		{"as -o name prints it", "default", []string{"pod/lamp-n1"}, "lamp-n1"},
		{"one's full name is another's written one", "default", []string{"web-n1"}, "web-n1 web-n1-n1"},
		{"several", "", []string{"db", "lamp"}, "db-n1 lamp-n1"},
		{"in another namespace", "default", []string{"db"}, "!try -n data"},
		{"mistyped", "default", []string{"lmap"}, "!did you mean lamp?"},
		{"unlike any", "", []string{"quarkus"}, "!podstead get pods -A"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found, err := selectPods(pods, c.namespace, c.asked)
			if part, bad := strings.CutPrefix(c.want, "!"); bad {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("error %v, want %q", err, part)
				}
				return
			}
			var names []string
			for _, p := range found {
				names = append(names, p.Name)
			}
			if err != nil || strings.Join(names, " ") != c.want {
				t.Errorf("%v, %v; want %s", names, err, c.want)
			}
		})
	}
}

func TestWhoseLogIsMeant(t *testing.T) {
	pod := func(annotation string, containers ...string) *v1.Pod {
		p := onNode("default", "web")
		p.Annotations = map[string]string{defaultContainer: annotation}
		p.Spec.InitContainers = []v1.Container{{Name: "first"}}
		for _, c := range containers {
			p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: c})
		}
		return &p
	}
	cases := []struct {
		name        string
		pod         *v1.Pod
		asked, want string
		told, fails bool
	}{
		{name: "the only one", pod: pod("", "main"), want: "main"},
		{name: "the named one", pod: pod("", "main", "side"), asked: "side", want: "side"},
		{name: "an init container", pod: pod("", "main"), asked: "first", want: "first"},
		{name: "the annotated one", pod: pod("side", "main", "side"), want: "side"},
		{name: "the first, told", pod: pod("", "main", "side"), want: "main", told: true},
		{name: "none of that name", pod: pod("", "main"), asked: "mian", fails: true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, told, err := containerOf(c.pod, c.asked)
			if got != c.want || (told != "") != c.told || (err != nil) != c.fails {
				t.Errorf("%q, %q, %v", got, told, err)
			}
		})
	}
}
