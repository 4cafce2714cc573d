package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/podstead/podstead/agent"
	"github.com/podstead/podstead/config"
)

// The files of other kubelets start an agent as they are; only where the manifests
// are is this test's.
func TestAnAgentRunsWithTheFileOfAKubelet(t *testing.T) {
	for _, name := range []string{"kubeadm", "standalone"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			path, err := filepath.Abs(filepath.Join("..", "..", "config", "testdata", name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			flags := config.Flags{Config: path, RootDir: b.cfg.RootDir, PodManifestPath: b.cfg.Manifests}
			b.cfg, _, err = config.Loader{Flags: flags, Etc: t.TempDir(), Try: trySources}.Load()
			if err != nil {
				t.Fatal(err)
			}
			b.drop("web.yaml", manifest("web", ""))
			client, _ := b.start()
			b.ready(client, "web")
		})
	}
}

// What the agent and the local API are given is what the configuration says.
func TestTheConfigurationReachesWhatGoesByIt(t *testing.T) {
	c := config.Defaults()
	if got, want := pullLimits(c), (agent.PullLimits{AtOnce: 1, Burst: 10}); got != want {
		t.Errorf("by default %+v, want %+v", got, want)
	}
	c.SerializeImagePulls, c.MaxParallelImagePulls, c.RegistryQPS, c.RegistryBurst = false, 3, 5, 7
	if got, want := pullLimits(c), (agent.PullLimits{AtOnce: 3, QPS: 5, Burst: 7}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	c.KubeReserved, c.SystemReserved = config.Resources{MilliCPU: 100, Memory: 1}, config.Resources{MilliCPU: 20, Memory: 3}
	if got := reserved(c); got.MilliCPU != 120 || got.Memory != 4 {
		t.Errorf("reserved %+v", got)
	}
	b := newBench(t)
	b.cfg.StreamIdleTimeout = 7 * time.Minute
	n, err := assemble(t.Context(), b.cfg, identity{Name: "n1", NodeID: "0"}, b.out)
	if err != nil {
		t.Fatal(err)
	}
	if idle := n.handlers().StreamIdle; idle != 7*time.Minute {
		t.Errorf("streams may be silent for %s", idle)
	}
}
