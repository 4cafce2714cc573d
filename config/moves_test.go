package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Files of kubelets that run elsewhere are read as they are: what kubeadm writes,
// what a standalone kubelet has, one that somebody has tuned.
func TestFilesOfKubeletsMoveOver(t *testing.T) {
	cases := []struct {
		name string
		want func(Config) bool
	}{
		{"kubeadm", func(c Config) bool {
			return c.Manifests[0] == "/etc/kubernetes/manifests" && c.CgroupDriver == "systemd" &&
				c.SyncFrequency == Defaults().SyncFrequency && c.StreamIdleTimeout == 4*time.Hour
		}},
		{"standalone", func(c Config) bool {
			return c.Manifests[0] == "/etc/kubernetes/manifests" && c.LogFormat == "text"
		}},
		{"edge", func(c Config) bool {
			return len(c.Sources()) == 2 && c.MaxPods == 32 && c.MaxParallelImagePulls == 2 && !c.SerializeImagePulls &&
				c.MaxRestartPeriod == time.Minute && c.LogLevel < 0 && c.KubeReserved == Resources{100, 200 << 20}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path, err := filepath.Abs(filepath.Join("testdata", c.name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			got, warnings, err := Loader{Flags: parseRun(t, "--config", path), Etc: t.TempDir()}.Load()
			if err != nil || !c.want(got) {
				t.Fatalf("%v, %+v", err, got)
			}
			text := strings.ReplaceAll(strings.Join(warnings, "\n")+"\n", path, c.name+".yaml")
			golden(t, filepath.Join("testdata", c.name+".warnings"), text)
		})
	}
}

// A command line of a kubelet moves over with its file.
func TestACommandLineOfAKubeletMovesOver(t *testing.T) {
	args := []string{"run", "--container-runtime-endpoint=unix:///run/containerd/containerd.sock", "--pod-infra-container-image", "registry.k8s.io/pause:3.10",
		"--register-node", "--fail_swap_on=false", "--root-dir", "/r", "--feature-gates=A=true", "--node-ip", "10.0.0.1", "--v=2", "--", "--kubeconfig=x"}
	rest, taken := TakeKubeletFlags(args)
	if text := strings.Join(rest, " "); text != "run --root-dir /r --v=2 -- --kubeconfig=x" {
		t.Errorf("left: %s", text)
	}
	_, warnings, err := Loader{Flags: Flags{Kubelet: taken}, Etc: t.TempDir()}.Load()
	want := []string{
		"--container-runtime-endpoint has no effect in podstead: of the container runtime: Docker decides; `--docker-endpoint` says where it listens",
		"--pod-infra-container-image has no effect in podstead: of the container runtime: Docker decides; the pause image is built in",
		"--register-node has no effect in podstead: of the API server, which podstead does not have here",
		"--fail-swap-on has no effect in podstead: of the kubelet's own process and its checks of its host",
		"--feature-gates has no effect in podstead: of Kubernetes' own switches: podstead has none that they could turn",
		"--node-ip has no effect in podstead: of the API server, which podstead does not have here; hostIP is the address of the default route's interface",
	}
	if got := strings.Join(warnings, "\n"); err != nil || got != strings.Join(want, "\n") {
		t.Errorf("%v\ngot:\n%s\nwant:\n%s", err, got, strings.Join(want, "\n"))
	}
	_, taken = TakeKubeletFlags([]string{"--kubeconfig", "/k", "--config-dir=/d", "--bootstrap-kubeconfig"})
	_, _, err = Loader{Flags: Flags{Kubelet: taken, MaxPods: "0"}, Etc: t.TempDir()}.Load()
	for _, part := range []string{"--kubeconfig: is a kubelet's flag: it would join a cluster", "--config-dir: ", "--bootstrap-kubeconfig: ", "--max-pods (maxPods): must be at least 1"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("not told: %s: %v", part, err)
		}
	}
}

// What a kubelet refuses of the fields that are honoured is refused here.
func TestValuesOutOfRangeAreTold(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"negative pods", "maxPods: -1", ":3:1: maxPods (--max-pods): must be at least 1, is -1"},
		{"negative pods for each CPU", "podsPerCore: -1", ":3:1: podsPerCore (--pods-per-core): must not be below 0"},
		{"no file at all of a log", "containerLogMaxFiles: 1", ":3:1: containerLogMaxFiles (--container-log-max-files): must be at least 2"},
		{"no pull at all", "maxParallelImagePulls: 0", ":3:1: maxParallelImagePulls: must be at least 1, is 0"},
		{"fewer than none", "maxParallelImagePulls: -2", ":3:1: maxParallelImagePulls: must be at least 1, is -2"},
		{"serial and parallel", "serializeImagePulls: true\nmaxParallelImagePulls: 2", ":4:1: maxParallelImagePulls: is 2, which needs serializeImagePulls"},
		{"negative rate", "registryPullQPS: -1", ":3:1: registryPullQPS (--registry-qps): must not be below 0"},
		{"negative burst", "registryBurst: -1", ":3:1: registryBurst (--registry-burst): must be at least 1"},
		{"a restart period below 1s", "crashLoopBackOff: {maxContainerRestartPeriod: 10ms}", ":3:20: crashLoopBackOff.maxContainerRestartPeriod: must be from 1s to 5m"},
		{"a restart period above 5m", "crashLoopBackOff: {maxContainerRestartPeriod: 10m}", "must be from 1s to 5m, is 10m0s"},
		{"a relative place for logs", "podLogsDir: var/log", ":3:1: podLogsDir: must be an absolute path"},
		{"a winding place for logs", "podLogsDir: /var/../log", ":3:1: podLogsDir: must be an absolute path"},
		{"another driver", "cgroupDriver: cgroupsv3", ":3:1: cgroupDriver (--cgroup-driver): must be cgroupfs or systemd"},
		{"another format", "logging: {format: xml}", ":3:11: logging.format (--log-format): must be text or json"},
		{"a negative reserve", "kubeReserved: {cpu: -1}", ":3:1: kubeReserved (--kube-reserved): must not be below 0"},
		{"a reserve of something else", "systemReserved: {gpu: 1}", `:3:1: systemReserved: "gpu" is none of cpu, memory`},
		{"a reserve that is no amount", "systemReserved: {memory: much}", `:3:1: systemReserved: memory: "much" is not an amount`},
		{"a network of the other family", "podCIDR: fd00::/64", ":3:1: podCIDR: \"fd00::/64\" has no IPv4 network"},
		{"no network", "podCIDR: here", ":3:1: podCIDR: \"here\" is not a network"},
		{"a network that is none", "podCIDR: 10.0.0.1/8", ":3:1: podCIDR (--pod-cidr): must be an IPv4 network"},
		{"a negative time", "streamingConnectionIdleTimeout: -1s", ":3:1: streamingConnectionIdleTimeout (--streaming-connection-idle-timeout): must be above 0"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, t.TempDir(), "k.yaml", header+c.text+"\n")
			_, _, err := Loader{Flags: Flags{Config: path}, Etc: t.TempDir()}.Load()
			if err == nil || !strings.Contains(err.Error(), path+c.want) && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if updating() {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%v\ngot:\n%s\nwant:\n%s", err, got, want)
	}
}
