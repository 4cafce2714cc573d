package docker

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/podstead/podstead/runtime"
)

func testSurroundings() surroundings {
	return surroundings{
		nodeName:     "n1",
		nodeID:       "node-1",
		cgroupParent: "/podstead",
		logSize:      "10485760",
		logFiles:     5,
		pauseImage:   "podstead/pause:abc",
		networkID:    "net-1",
		lowerScore:   true,
	}
}

// TestSpecs holds the whole create call of typical sandboxes and containers.
func TestSpecs(t *testing.T) {
	pod := runtime.PodRef{UID: "u1", Namespace: "default", Name: "web-n1"}
	helpless := testSurroundings()
	helpless.lowerScore, helpless.cgroupParent = false, "podstead.slice"
	for _, test := range []struct {
		name string
		spec spec
	}{
		{name: "sandbox", spec: sandboxSpec(runtime.SandboxConfig{
			Pod:      pod,
			Attempt:  2,
			Hostname: "web",
			Labels:   map[string]string{"app": "web", labelUID: "stolen", labelClaimed: "podsandbox"},
			Names:    []string{"web-n1.default.pod.cluster.local"},
			Ports: []runtime.PortMapping{
				{Protocol: "TCP", HostPort: 8080, ContainerPort: 80},
				{Protocol: "TCP", HostIP: "127.0.0.1", HostPort: 8081, ContainerPort: 80},
				{Protocol: "UDP", HostIP: "::1", HostPort: 53, ContainerPort: 53},
				{Protocol: "TCP", ContainerPort: 9999},
			},
			User:    "1000:1000",
			Seccomp: "unconfined",
		}, testSurroundings())},
		{name: "sandbox-host", spec: sandboxSpec(runtime.SandboxConfig{
			Pod: pod, HostNetwork: true, HostPID: true, HostIPC: true,
		}, helpless)},
		{name: "container", spec: containerSpec(runtime.ContainerConfig{
			Pod:        pod,
			Name:       "main",
			Attempt:    3,
			SandboxID:  "s1",
			Image:      "podstead-test/busybox:1",
			Command:    []string{"sh", "-c"},
			Args:       []string{"exit 0"},
			WorkingDir: "/home",
			Env:        []string{"A=1", "B=k1=v1"},
			Mounts: []runtime.Mount{
				{HostPath: "/srv/a", ContainerPath: "/a"},
				{HostPath: "/srv/b", ContainerPath: "/b", ReadOnly: true},
			},
			Resources:   runtime.Resources{CPUShares: 307, CPUPeriod: 100000, CPUQuota: 30000, Memory: 64 << 20},
			Security:    runtime.Security{User: "1000:2000", Groups: []string{"3000"}, AddCaps: []string{"NET_ADMIN"}, DropCaps: []string{"ALL"}, ReadOnlyRoot: true, NoNewPrivileges: true, Seccomp: `{"defaultAction":"SCMP_ACT_ALLOW"}`},
			SharePID:    true,
			StopSignal:  "SIGUSR1",
			StopTimeout: 1500 * time.Millisecond,
			MessagePath: "/var/lib/podstead/pods/u1/containers/main/12345678",
		}, testSurroundings())},
		{name: "container-privileged", spec: containerSpec(runtime.ContainerConfig{
			Pod: pod, Name: "main", SandboxID: "s1", Image: "sha256:1",
			Security: runtime.Security{Privileged: true}, HostNetwork: true, HostPID: true, SharePID: true,
		}, testSurroundings())},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := json.MarshalIndent(map[string]any{
				"name":   test.spec.name,
				"config": sparse(*test.spec.config),
				"host":   sparse(*test.spec.host),
				"net":    sparseNetwork(test.spec.network),
			}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, test.name+".json", append(text, '\n'))
		})
	}
}

// sparse leaves out what is zero, but keeps what is empty on purpose.
func sparse[T container.Config | container.HostConfig](v T) map[string]any {
	out := map[string]any{}
	collect(reflect.ValueOf(v), out)
	return out
}

func collect(v reflect.Value, out map[string]any) {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		switch {
		case field.Anonymous:
			collect(value, out)
		case !value.IsZero():
			out[field.Name] = value.Interface()
		}
	}
}

func sparseNetwork(n *network.NetworkingConfig) map[string]any {
	if n == nil {
		return nil
	}
	out := map[string]any{}
	for name, endpoint := range n.EndpointsConfig {
		out[name] = endpoint.Aliases
	}
	return out
}

func TestAllEngineComfortsAreOff(t *testing.T) {
	in := testSurroundings()
	for name, s := range map[string]spec{
		"sandbox":   sandboxSpec(runtime.SandboxConfig{}, in),
		"container": containerSpec(runtime.ContainerConfig{}, in),
	} {
		switch {
		case s.host.RestartPolicy.Name != "no":
			t.Errorf("%s: restart policy %q", name, s.host.RestartPolicy.Name)
		case s.host.AutoRemove:
			t.Errorf("%s: removed when it ends", name)
		case s.host.Init == nil || *s.host.Init:
			t.Errorf("%s: the engine's init is not switched off", name)
		case len(s.config.Healthcheck.Test) != 1 || s.config.Healthcheck.Test[0] != "NONE":
			t.Errorf("%s: health check %v", name, s.config.Healthcheck)
		case s.config.StopTimeout == nil:
			t.Errorf("%s: no stop timeout", name)
		case s.host.LogConfig.Type != "json-file" || s.host.LogConfig.Config["max-size"] == "":
			t.Errorf("%s: logs %v", name, s.host.LogConfig)
		}
	}
}

func TestMemoryAndSwapAreOneFigure(t *testing.T) {
	for _, memory := range []int64{0, 1 << 20} {
		host := &container.HostConfig{}
		limit(runtime.Resources{Memory: memory}, host)
		if host.Memory != memory || host.MemorySwap != memory {
			t.Errorf("limit %d gives memory %d, with swap %d", memory, host.Memory, host.MemorySwap)
		}
	}
}
