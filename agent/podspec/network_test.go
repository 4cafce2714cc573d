package podspec

import (
	"reflect"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/runtime"
)

// B130: host names follow from node and pod names of any length.
func TestHostname(t *testing.T) {
	long := strings.Repeat("a", 62)
	tests := []struct{ name, pod, spec, want string }{
		{name: "pod name", pod: "lamp-n1", want: "lamp-n1"},
		{name: "spec wins", pod: "lamp-n1", spec: "lamp", want: "lamp"},
		{name: "63 stays", pod: long + "b", want: long + "b"},
		{name: "cut", pod: long + "bcd", want: long + "b"},
		{name: "no dash at the cut", pod: long + "-n1", want: long},
		{name: "no dots and dashes at the cut", pod: long[:60] + "-.-x", want: long[:60]},
		{name: "trailing dash kept when not cut", pod: "lamp-", want: "lamp-"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: test.pod}, Spec: v1.PodSpec{Hostname: test.spec}}
			if got := Sandbox(pod, 0, Node{Name: "n1"}).Hostname; got != test.want {
				t.Errorf("hostname = %q, want %q", got, test.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	tests := []struct {
		name, pod string
		node      Node
		want      []string
	}{
		{
			name: "full name, and as written", pod: "web-n1", node: Node{Name: "n1"},
			want: []string{"web-n1.shop.pod.cluster.local", "web.n1.shop.pod.cluster.local"},
		},
		{
			name: "own domain, dotted node", pod: "web-edge.example", node: Node{Name: "edge.example", Domain: "site"},
			want: []string{"web-edge.example.shop.pod.site", "web.edge.example.shop.pod.site"},
		},
		{
			name: "a pod without the suffix takes no written name", pod: "web", node: Node{Name: "n1"},
			want: []string{"web.shop.pod.cluster.local"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: test.pod, Namespace: "shop"}}
			if got := Sandbox(pod, 0, test.node).Names; !reflect.DeepEqual(got, test.want) {
				t.Errorf("names = %q, want %q", got, test.want)
			}
		})
	}
}

func TestHostPorts(t *testing.T) {
	always := v1.ContainerRestartPolicyAlways
	port := func(n int32) []v1.ContainerPort { return []v1.ContainerPort{{HostPort: n, ContainerPort: 80}} }
	pod := &v1.Pod{Spec: v1.PodSpec{
		InitContainers: []v1.Container{
			{Name: "plain", Ports: port(1001)},
			{Name: "sidecar", Ports: port(1002), RestartPolicy: &always},
		},
		Containers: []v1.Container{{Name: "a", Ports: port(1003)}, {Name: "b", Ports: port(0)}},
	}}
	want := []runtime.PortMapping{
		{Protocol: "TCP", HostPort: 1003, ContainerPort: 80},
		{Protocol: "TCP", HostPort: 1002, ContainerPort: 80},
	}
	if got := HostPorts(pod); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	pod.Spec.HostNetwork = true
	if got := HostPorts(pod); len(got) != 2 {
		t.Errorf("on the host's network the ports are taken all the same, got %+v", got)
	}
	if got := Sandbox(pod, 0, Node{}).Ports; got != nil {
		t.Errorf("nothing is published on the host's network, got %+v", got)
	}
}
