package status

import (
	"bytes"
	"flag"
	"os"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/runtime"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden holds whole statuses, as `podstead get pods -o yaml` shows them.
func TestGolden(t *testing.T) {
	limits := v1.ResourceList{v1.ResourceCPU: resource.MustParse("1"), v1.ResourceMemory: resource.MustParse("1Gi")}
	pod := podWith(v1.RestartPolicyAlways, container("web", "web:2"), container("log", "log:1"))
	pod.Generation = 2
	pod.Spec.InitContainers = []v1.Container{container("prepare", "busybox:1")}
	for _, list := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			list[i].Resources = v1.ResourceRequirements{Limits: limits, Requests: limits}
			list[i].VolumeMounts = []v1.VolumeMount{{Name: "data", MountPath: "/data"}, {Name: "conf", MountPath: "/conf", ReadOnly: true}}
		}
	}
	in := Input{Pod: pod, Started: at(0), HostIPs: []string{"192.0.2.1"}, Now: at(10)}

	running2 := in
	running2.Observed = runtime.Pod{
		Sandboxes:  []runtime.Sandbox{sandbox("10.112.0.2")},
		Containers: []runtime.Container{running("web", 1), exited("web", 0, 3), running("log", 0), exited("prepare", 0, 0)},
	}
	running2.History = plan.History{Containers: map[string]plan.ContainerHistory{
		"web": {Attempt: 1, Ended: ended("web", 0, 3, "cannot open /data/db")},
	}}
	backOff := in
	backOff.Observed = runtime.Pod{
		Sandboxes:  []runtime.Sandbox{sandbox("10.112.0.2")},
		Containers: []runtime.Container{exited("web", 4, 3), running("log", 0), exited("prepare", 0, 0)},
	}
	backOff.Waiting = map[string]plan.Waiting{"web": {Reason: "CrashLoopBackOff", Message: "back-off 1m20s restarting failed container=web"}}
	refused := in
	refused.Finished = &plan.Finished{Phase: v1.PodFailed, Reason: "OutOfmemory", Message: "Pod was rejected: Node didn't have enough resource: memory, requested: 1, used: 2, capacity: 2"}

	for _, test := range []struct {
		name string
		in   Input
	}{{"pending", in}, {"running", running2}, {"crash-loop", backOff}, {"refused", refused}} {
		t.Run(test.name, func(t *testing.T) { checkGolden(t, "testdata/"+test.name+".yaml", Generate(test.in)) })
	}
}

func checkGolden(t *testing.T, file string, got any) {
	t.Helper()
	data, err := yaml.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, want) {
		t.Errorf("%s differs; got\n%s", file, data)
	}
}
