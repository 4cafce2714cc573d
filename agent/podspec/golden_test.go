package podspec

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podstead/podstead/runtime"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden holds the whole of what an engine is asked for, pod by pod.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pods in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			checkGolden(t, strings.TrimSuffix(file, ".yaml")+".golden.json", resolved(t, readPod(t, file)))
		})
	}
}

type resolvedPod struct {
	Sandbox    runtime.SandboxConfig
	Containers []runtime.ContainerConfig
}

func resolved(t *testing.T, pod *v1.Pod) resolvedPod {
	t.Helper()
	volumes := map[string]string{}
	for _, v := range pod.Spec.Volumes {
		volumes[v.Name] = "/root/pods/" + string(pod.UID) + "/volumes/" + v.Name
	}
	all := resolvedPod{Sandbox: Sandbox(pod, 1, Node{Name: "n1"})}
	add := func(c *v1.Container, init bool) {
		config, _, err := Container(ContainerInput{
			Pod: pod, Container: c, Init: init, Attempt: 2, SandboxID: "sandbox",
			Volumes: volumes, MessagePath: "/root/pods/message/" + c.Name,
		})
		if err != nil {
			t.Fatalf("container %s: %v", c.Name, err)
		}
		all.Containers = append(all.Containers, config)
	}
	for i := range pod.Spec.InitContainers {
		add(&pod.Spec.InitContainers[i], true)
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i], false)
	}
	return all
}

func readPod(t *testing.T, file string) *v1.Pod {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pod := &v1.Pod{}
	if err := yaml.UnmarshalStrict(data, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func checkGolden(t *testing.T, file string, got any) {
	t.Helper()
	data, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, '\n')
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
