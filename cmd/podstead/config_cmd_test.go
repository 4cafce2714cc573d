package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/config"
)

// showConfig is what `podstead config show` says of each setting.
func showConfig(b *bench, args ...string) map[string]api.Setting {
	b.t.Helper()
	code, out, errs := b.command(append([]string{"config", "show", "-o", "json"}, args...)...)
	var list api.SettingList
	if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil {
		b.t.Fatalf("code %d, %v\n%s%s", code, err, out, errs)
	}
	all := map[string]api.Setting{}
	for _, s := range list.Items {
		all[s.Name] = s
	}
	return all
}

func wantSetting(t *testing.T, got map[string]api.Setting, name, value, origin, place string) {
	t.Helper()
	if s := got[name]; s.Value != value || s.Origin != origin || s.Place != place {
		t.Errorf("%s: %+v, want %s from %s %s", name, s, value, origin, place)
	}
}

// What is shown of a running agent is what it goes by: what waits for a start is
// not, what is taken at once is.
func TestConfigShowIsWhatIsInForce(t *testing.T) {
	b := newBench(t)
	b.configure(header + "maxPods: 7\nfileCheckFrequency: 30s\n---\n" + listed(b.folderSource("local")))
	path := b.out.reload.loader.Path()
	b.start()
	got := showConfig(b)
	wantSetting(t, got, "--max-pods", "7", config.FromFile, path+":3:1")
	wantSetting(t, got, "--file-check-frequency", "30s", config.FromFile, path+":4:1")
	wantSetting(t, got, "sources[0].name", "local", config.FromFile, path+":9:4")
	wantSetting(t, got, "--root-dir", b.cfg.RootDir, config.FromFlag, "--root-dir")
	wantSetting(t, got, "--sync-frequency", "5m", config.FromDefault, "")

	b.configure("# moved\n" + header + "maxPods: 9\nfileCheckFrequency: 40s\n---\n" + listed(b.folderSource("local"),
		"- {name: page, http: {url: 'http://me:s3cr3t@127.0.0.1:1/?t=s3cr3t', headers: {A: s3cr3t}}}\n"))
	b.until("it is taken over", func() bool { return showConfig(b)["sources[1].name"].Value == "page" })
	got = showConfig(b)
	wantSetting(t, got, "--max-pods", "7", config.FromFile, path+":3:1")
	wantSetting(t, got, "--file-check-frequency", "40s", config.FromFile, path+":5:1")
	wantSetting(t, got, "sources[0].name", "local", config.FromFile, path+":10:4")
	wantSetting(t, got, "sources[1].http.headers", "A: [hidden]", config.FromFile, got["sources[1].http.headers"].Place)
	code, out, _ := b.command("config", "show")
	if code != 0 || strings.Contains(out, "s3cr3t") || !strings.Contains(out, "http://127.0.0.1:1/") || !strings.Contains(out, path+":5:1") {
		t.Errorf("code %d\n%s", code, out)
	}
}

// Without an agent it is what one would have: flag over variable over file.
func TestConfigShowOfFlags(t *testing.T) {
	b := newBench(t)
	path := write(t, t.TempDir(), "c.yaml", header+"maxPods: 7\npodsPerCore: 2\nregistryPullQPS: 3\nlogging: {verbosity: 4}\nclusterDNS: [10.0.0.10]\n")
	t.Setenv("PODSTEAD_MAX_PODS", "8")
	t.Setenv("PODSTEAD_PODS_PER_CORE", "4")
	t.Setenv("DOCKER_HOST", "tcp://me:s3cr3t@h:2376")
	got := showConfig(b, "--config", path, "--max-pods", "9", "--kube-reserved=memory=1Gi")
	wantSetting(t, got, "--max-pods", "9", config.FromFlag, "--max-pods")
	wantSetting(t, got, "--pods-per-core", "4", config.FromEnvironment, "PODSTEAD_PODS_PER_CORE")
	wantSetting(t, got, "--registry-qps", "3", config.FromFile, path+":5:1")
	wantSetting(t, got, "--log-level", "debug", config.FromFile, path+":6:11")
	wantSetting(t, got, "--kube-reserved", "memory=1Gi", config.FromFlag, "--kube-reserved")
	wantSetting(t, got, "--docker-endpoint", "tcp://h:2376", config.FromEnvironment, "DOCKER_HOST")
	wantSetting(t, got, "podLogsDir", filepath.Join(b.cfg.RootDir, "log", "pods"), config.FromDefault, "")
	code, out, errs := b.command("config", "show", "--local", "--register-node", "--config", path)
	if code != 0 || !strings.Contains(out, "$PODSTEAD_MAX_PODS") || !strings.Contains(errs, "Warning: --register-node has no effect") ||
		!strings.Contains(errs, "Warning: "+path+":7:1: clusterDNS has no effect") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
	code, _, errs = b.command("config", "show")
	if code != cli.ExitNotRunning || !strings.Contains(errs, "--local shows") {
		t.Errorf("code %d\n%s", code, errs)
	}
}

// A flag of a kubelet that would make another agent of this one ends the start,
// together with everything else that is wrong.
func TestAKubeletsFlagIsRefusedWithTheOtherFaults(t *testing.T) {
	b := newBench(t)
	for _, command := range [][]string{{"run"}, {"config", "show"}} {
		code, _, errs := b.command(append(command, "--kubeconfig", "/k", "--max-pods=none", "--register-node=false")...)
		if code != cli.ExitConfig || !strings.Contains(errs, "--kubeconfig: is a kubelet's flag") || !strings.Contains(errs, `--max-pods (maxPods): "none"`) {
			t.Errorf("%v: code %d\n%s", command, code, errs)
		}
	}
	if code, _, errs := b.command("run", "--no-such-flag"); code != cli.ExitConfig || !strings.Contains(errs, "unknown flag --no-such-flag") {
		t.Errorf("code %d\n%s", code, errs)
	}
}

func TestConfigCheckTellsWhatAStartWould(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	good := write(t, dir, "good.yaml", header+"maxPods: 7\nenableServer: true\n")
	code, out, _ := b.command("config", "check", good)
	if code != 0 || !strings.HasPrefix(out, "warning: "+good+":4:1: enableServer has no effect") || !strings.HasSuffix(out, "1 file: 0 faults, 1 warning\n") {
		t.Errorf("code %d\n%s", code, out)
	}
	bad := write(t, dir, "bad.yaml", header+"maxPods: -1\nmaxPod: 1\n---\n"+documentHeader+"sources: [{name: a, git: {url: 'https://h/r', paths: [../up]}}, {name: a}]\n")
	code, out, _ = b.command("config", "check", good, bad, write(t, dir, "pod.yaml", manifest("p", "")))
	for _, part := range []string{bad + ":3:1: maxPods (--max-pods): must be at least 1", bad + ":4:1: maxPod: unknown field",
		bad + `:8:66: sources[1].name: "a" is taken`, `pod.yaml:1: is apiVersion "v1", kind "Pod"`, "3 files: 5 faults, 1 warning"} {
		if code != cli.ExitFailed || !strings.Contains(out, part) {
			t.Errorf("code %d, not told: %s\n%s", code, part, out)
		}
	}
	only := write(t, dir, "only.yaml", documentHeader+"sources: [{name: a, git: {url: 'https://h/r', paths: [../up]}}]\n")
	if code, out, _ := b.command("config", "check", only); code != cli.ExitFailed || !strings.Contains(out, "source a:") {
		t.Errorf("what a source alone finds is not told: code %d\n%s", code, out)
	}
	if code, out, _ := b.command("config", "schema"); code != 0 || !strings.Contains(out, `"const": "podstead/v1alpha1"`) {
		t.Errorf("code %d\n%s", code, out)
	}
}

// Another cgroup driver than the engine's is said, and changes nothing.
func TestAnotherCgroupDriverIsSaid(t *testing.T) {
	b := newBench(t)
	b.cfg.CgroupDriver = "systemd" // the engine's is cgroupfs
	b.drop("web.yaml", manifest("web", ""))
	client, _ := b.start()
	b.ready(client, "web")
	b.until("it is said", func() bool {
		_, out, _ := b.command("get", "events")
		return strings.Contains(out, "CgroupDriverDiffers") && strings.Contains(out, "cgroup driver systemd, and the engine has cgroupfs")
	})
}
