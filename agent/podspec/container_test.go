package podspec

import (
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/runtime"
)

func pod(c v1.Container) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "lamp-n1", Namespace: "default", UID: "u1"},
		Spec:       v1.PodSpec{Containers: []v1.Container{c}},
	}
}

func convert(t *testing.T, c v1.Container) runtime.ContainerConfig {
	t.Helper()
	p := pod(c)
	config, _, err := Container(ContainerInput{Pod: p, Container: &p.Spec.Containers[0]})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// B79: what is not written is the image's, and a nil slice says so.
func TestCommandAndArgs(t *testing.T) {
	tests := []struct {
		name                  string
		command, args         []string
		wantCommand, wantArgs []string
	}{
		{name: "neither"},
		{name: "command", command: []string{"x"}, wantCommand: []string{"x"}},
		{name: "args", args: []string{"y"}, wantArgs: []string{"y"}},
		{name: "both", command: []string{"x"}, args: []string{"y"}, wantCommand: []string{"x"}, wantArgs: []string{"y"}},
		{name: "empty is not written", command: []string{}, args: []string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := convert(t, v1.Container{Command: test.command, Args: test.args})
			if !reflect.DeepEqual(got.Command, test.wantCommand) || !reflect.DeepEqual(got.Args, test.wantArgs) {
				t.Errorf("got %q %q, want %q %q", got.Command, got.Args, test.wantCommand, test.wantArgs)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	tests := []struct {
		name     string
		env      []v1.EnvVar
		args     []string
		want     []string
		wantArgs []string
	}{
		{
			name:     "references (B80)",
			env:      []v1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "$(A)-$(NONE)-$$(A)"}},
			args:     []string{"$(B)", "$(POD_IP)", "$$(A)", "$(A"},
			want:     []string{"A=1", "B=1-$(NONE)-$(A)"},
			wantArgs: []string{"1-$(NONE)-$(A)", "$(POD_IP)", "$(A)", "$(A"},
		},
		{
			name: "bytes stay as they are (B82)",
			env: []v1.EnvVar{
				{Name: "KV", Value: "k1=v1,k2=v2=="}, {Name: "NL", Value: "a\nb\n"},
				{Name: "Q", Value: `"'#`}, {Name: "EMPTY"}, {Name: "D", Value: "$HOME ${x} $"},
			},
			want: []string{"KV=k1=v1,k2=v2==", "NL=a\nb\n", `Q="'#`, "EMPTY=", "D=$HOME ${x} $"},
		},
		{
			name: "only earlier variables are seen",
			env:  []v1.EnvVar{{Name: "B", Value: "$(A)"}, {Name: "A", Value: "1"}},
			want: []string{"B=$(A)", "A=1"},
		},
		{
			name: "the order is the one written",
			env:  []v1.EnvVar{{Name: "Z", Value: "1"}, {Name: "A", Value: "2"}, {Name: "M", Value: "3"}},
			want: []string{"Z=1", "A=2", "M=3"},
		},
		{
			name: "the later of two counts and may refer to the earlier",
			env:  []v1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}, {Name: "A", Value: "$(A)$(B)"}},
			want: []string{"B=2", "A=12"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := convert(t, v1.Container{Env: test.env, Args: test.args})
			if !reflect.DeepEqual(got.Env, test.want) {
				t.Errorf("env = %q, want %q", got.Env, test.want)
			}
			if !reflect.DeepEqual(got.Args, test.wantArgs) {
				t.Errorf("args = %q, want %q", got.Args, test.wantArgs)
			}
		})
	}
}

// B142: every limit that Kubernetes accepts is one the kernel takes.
func TestResources(t *testing.T) {
	list := func(cpu, memory string) v1.ResourceList {
		l := v1.ResourceList{}
		if cpu != "" {
			l[v1.ResourceCPU] = resource.MustParse(cpu)
		}
		if memory != "" {
			l[v1.ResourceMemory] = resource.MustParse(memory)
		}
		return l
	}
	tests := []struct {
		name             string
		requests, limits v1.ResourceList
		want             runtime.Resources
	}{
		{name: "none", want: runtime.Resources{CPUShares: 2}},
		{name: "300m", limits: list("300m", ""), want: runtime.Resources{CPUShares: 307, CPUQuota: 30000, CPUPeriod: 100000}},
		{name: "1m is lifted to the minimum", limits: list("1m", ""), want: runtime.Resources{CPUShares: 2, CPUQuota: 1000, CPUPeriod: 100000}},
		{name: "half a CPU", limits: list("0.5", ""), want: runtime.Resources{CPUShares: 512, CPUQuota: 50000, CPUPeriod: 100000}},
		{name: "two CPUs", limits: list("2", ""), want: runtime.Resources{CPUShares: 2048, CPUQuota: 200000, CPUPeriod: 100000}},
		{name: "request weighs, limit caps", requests: list("100m", ""), limits: list("1", ""), want: runtime.Resources{CPUShares: 102, CPUQuota: 100000, CPUPeriod: 100000}},
		{name: "a request of zero stays zero", requests: list("0", ""), limits: list("1", ""), want: runtime.Resources{CPUShares: 2, CPUQuota: 100000, CPUPeriod: 100000}},
		{name: "shares have a ceiling", requests: list("1000", ""), want: runtime.Resources{CPUShares: 262144}},
		{name: "memory", requests: list("", "32Mi"), limits: list("", "64Mi"), want: runtime.Resources{CPUShares: 2, Memory: 64 << 20}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := convert(t, v1.Container{Resources: v1.ResourceRequirements{Requests: test.requests, Limits: test.limits}})
			if got.Resources != test.want {
				t.Errorf("got %+v, want %+v", got.Resources, test.want)
			}
		})
	}
}

func TestUnresolvableContainers(t *testing.T) {
	tests := []struct {
		name      string
		container v1.Container
		want      string
	}{
		{
			name:      "volume that was not set up",
			container: v1.Container{Name: "c", VolumeMounts: []v1.VolumeMount{{Name: "data", MountPath: "/d"}}},
			want:      `cannot find volume "data" to mount into container "c"`,
		},
		{
			name:      "value from elsewhere",
			container: v1.Container{Name: "c", Env: []v1.EnvVar{{Name: "A", ValueFrom: &v1.EnvVarSource{}}}},
			want:      `valueFrom of variable "A" of container "c" is not supported`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := pod(test.container)
			_, _, err := Container(ContainerInput{Pod: p, Container: &p.Spec.Containers[0]})
			if err == nil || err.Error() != test.want {
				t.Errorf("error = %v, want %s", err, test.want)
			}
		})
	}
}

func TestNoMessageFileWithoutPath(t *testing.T) {
	p := pod(v1.Container{Name: "c"})
	got, _, err := Container(ContainerInput{Pod: p, Container: &p.Spec.Containers[0], MessagePath: "/m"})
	if err != nil || got.MessagePath != "" || got.Mounts != nil {
		t.Errorf("got %q, %+v, %v; want neither label nor mount", got.MessagePath, got.Mounts, err)
	}
}
