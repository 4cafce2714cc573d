//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// B79: command replaces the image's entrypoint and drops its arguments; args
// replace the arguments alone.
func TestCommandAndArgs(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	cases := []struct{ name, lines, says string }{
		{name: "none", says: "e c\n"},
		{name: "command", lines: "command: [echo, command]", says: "command\n"},
		{name: "args", lines: "args: [args]", says: "e args\n"},
		{name: "both", lines: "command: [echo, command]\nargs: [args]", says: "command args\n"},
	}
	for _, c := range cases {
		n.put(c.name+".yaml", pod(c.name, "restartPolicy: Never", "containers:", item("main", "podstead-test/entrypoint:1", c.lines)))
	}
	for _, c := range cases {
		n.awaitPod(c.name, "to have succeeded", inPhase(v1.PodSucceeded))
		if said := n.logs(c.name, "main"); said != c.says {
			t.Errorf("%s: it says %q, not %q", c.name, said, c.says)
		}
	}
}

// B83, B106: what the manifest sets comes on top of the image's environment, in
// init containers too.
func TestTheImagesEnvironmentStays(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	const image = "podstead-test/stopsignal:1" // PATH=/opt/x:/bin, COLOUR=green
	n.put("env.yaml", pod("env", "restartPolicy: Never",
		"initContainers:", runIn(image, "first", "env"),
		"containers:", runIn(image, "main", "env", "env: [{name: FOO, value: \"k=v==\"}]")))
	n.awaitPod("env", "to have succeeded", inPhase(v1.PodSucceeded))
	for container, wanted := range map[string][]string{
		"first": {"PATH=/opt/x:/bin", "COLOUR=green"},
		"main":  {"PATH=/opt/x:/bin", "COLOUR=green", "FOO=k=v=="},
	} {
		said := "\n" + n.logs("env", container)
		for _, want := range wanted {
			if !strings.Contains(said, "\n"+want+"\n") {
				t.Errorf("%s: no %s in%s", container, want, said)
			}
		}
	}
}

// B100: what traps its stop signal has its grace to end well.
func TestStopSignalsAreHeard(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	folder := n.folder("farewell")
	n.put("slow.yaml", pod("slow", "terminationGracePeriodSeconds: 30",
		"volumes:", hostPath("farewell", folder, "Directory"),
		"containers:", run1("main", "trap 'sleep 2; echo bye > /farewell/slow; exit 0' TERM; echo up; sleep 1000000 & wait; wait", mount("farewell", "/farewell"))))
	n.put("own.yaml", pod("own", "terminationGracePeriodSeconds: 30",
		"containers:", runIn("podstead-test/stopsignal:1", "main", "trap 'exit 0' USR1; echo up; sleep 1000000 & wait")))
	for _, name := range []string{"slow", "own"} {
		n.awaitReady(name)
		n.awaitSaid(name, "up\n") // from now on it hears
	}
	n.drop("slow.yaml")
	n.drop("own.yaml")
	n.awaitGone("slow")
	n.awaitGone("own")
	if text := n.read(folder + "/slow"); text != "bye\n" {
		t.Errorf("its last words are %q", text)
	}
	const term, usr1 = "15", "10"
	signals := map[string]string{}
	for _, a := range n.story.of("kill", "main") {
		signals[a.Pod] += a.Signal
	}
	if signals[n.full("slow")] != term || signals[n.full("own")] != usr1 {
		t.Errorf("these signals were sent: %v", signals)
	}
}

// B133: a memory volume is shared by the pod's containers, has its limit, and
// lives as long as the pod.
func TestMemoryVolumes(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	scratch := func(generation string) string {
		return pod("scratch", "volumes:", "- {name: v, emptyDir: {medium: Memory, sizeLimit: 8Mi}}",
			"initContainers:", run1("first", "echo line >> /v/x", mount("v", "/v")),
			"containers:", run1("main", "wc -l < /v/x; grep ' /v ' /proc/mounts | cut -d ' ' -f 3; dd if=/dev/zero of=/v/big bs=1048576 count=9 2>/dev/null && echo fits; rm -f /v/big; "+idle,
				mount("v", "/v"), "env: [{name: GENERATION, value: \""+generation+"\"}]"))
	}
	const says = "1\ntmpfs\n"
	n.put("scratch.yaml", scratch("1"))
	before := n.awaitReady("scratch")
	n.awaitSaid("scratch", says)
	n.kill("scratch", "main")
	n.awaitPod("scratch", "to be restarted", restarted("main", 1))
	n.awaitSaid("scratch", says)
	n.put("scratch.yaml", scratch("2"))
	n.awaitNew(before, "scratch")
	n.awaitSaid("scratch", says)
}

// awaitSaid waits until a pod's main container has said all of this.
func (n *node) awaitSaid(pod, words string) {
	n.Helper()
	n.await("pod "+pod+" to speak", func() error {
		if said := n.logs(pod, "main"); said != words {
			return fmt.Errorf("it says %q, not %q", said, words)
		}
		return nil
	})
}

// B134: FileOrCreate makes an empty file, and never its parent.
func TestFileOrCreate(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	folder := n.folder("host")
	file, orphan := filepath.Join(folder, "app.conf"), filepath.Join(folder, "missing", "app.conf")
	reader := func(name, path string) string {
		return pod(name, "volumes:", hostPath("conf", path, "FileOrCreate"),
			"containers:", run1("main", "test -f /etc/app.conf && "+idle, mount("conf", "/etc/app.conf")))
	}
	n.put("good.yaml", reader("good", file))
	n.put("bad.yaml", reader("bad", orphan))
	n.awaitReady("good")
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o644 || info.Size() != 0 {
		t.Errorf("it made %v, %v", info, err)
	}
	n.awaitPod("bad", "to wait for the folder", waits("main", "ContainerCreating", orphan))
	if _, err := os.Stat(filepath.Dir(orphan)); !os.IsNotExist(err) {
		t.Errorf("the parent was made: %v", err)
	}
}

// B47, B136, B137: what a type says must be there is waited for and never made;
// what has no type is made a folder, and that is told.
func TestHostPathsThatAreMissing(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	folder := n.folder("host")
	cert, disk, untyped := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "disk"), filepath.Join(folder, "any")
	reader := func(name, path, kind, test string) string {
		return pod(name, "volumes:", hostPath("v", path, kind), "containers:", run1("main", "test "+test+" /v && "+idle, mount("v", "/v")))
	}
	n.put("cert.yaml", reader("cert", cert, "File", "-f"))
	n.put("disk.yaml", reader("disk", disk, "Directory", "-d"))
	n.put("untyped.yaml", reader("untyped", untyped, "", "-d"))

	n.awaitReady("untyped")
	if told := n.events("untyped", "HostPathCreated"); len(told) != 1 || told[0].Type != v1.EventTypeWarning || !strings.Contains(told[0].Message, untyped) {
		t.Errorf("a made folder was told as %+v", told)
	}
	n.awaitPod("cert", "to wait for its file", waits("main", "ContainerCreating", cert))
	n.awaitPod("disk", "to wait for its folder", waits("main", "ContainerCreating", disk))
	for _, path := range []string{cert, disk} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s was made: %v", path, err)
		}
	}
	n.must(os.WriteFile(cert, []byte("pem"), 0o600))
	n.must(os.Mkdir(disk, 0o700))
	n.awaitReady("cert")
	n.awaitReady("disk")

	// B137: it goes away under a running pod, whose container then ends.
	n.must(os.Remove(cert))
	n.kill("cert", "main")
	n.awaitPod("cert", "to wait for its file again", waits("main", "ContainerCreating", cert))
	if _, err := os.Lstat(cert); !os.IsNotExist(err) {
		t.Errorf("the file was made: %v", err)
	}
	n.must(os.WriteFile(cert, []byte("pem"), 0o600))
	n.awaitPod("cert", "to be restarted", restarted("main", 1))
}

// B142: every limit that Kubernetes accepts is one that the kernel takes.
func TestCPULimits(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	quotas := map[string]float64{"300m": 30_000, "1m": 1_000, "0.5": 50_000, "2": 200_000}
	var containers []string
	names := map[string]string{"300m": "c300m", "1m": "c1m", "0.5": "half", "2": "two"}
	for limit, name := range names {
		containers = append(containers, run1(name, idle, "resources: {requests: {cpu: 1m}, limits: {cpu: \""+limit+"\"}}"))
	}
	n.put("limits.yaml", pod("limits", append([]string{"containers:"}, containers...)...))
	n.awaitReady("limits")
	for limit, name := range names {
		host := n.inspect(n.box("limits", name).ID).HostConfig
		if host["CpuQuota"] != quotas[limit] || host["CpuPeriod"] != 100_000.0 {
			t.Errorf("%s: quota %v in a period of %v", limit, host["CpuQuota"], host["CpuPeriod"])
		}
	}
}
