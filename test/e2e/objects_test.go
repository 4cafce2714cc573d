//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// configMap is a manifest; pairs are key, value, key, value, …
func configMap(name string, pairs ...string) string { return object("ConfigMap", "data", name, pairs) }

// secret is a manifest alike.
func secret(name string, pairs ...string) string { return object("Secret", "stringData", name, pairs) }

func object(kind, field, name string, pairs []string) string {
	text := "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: " + name + "}\n" + field + ":\n"
	for i := 0; i < len(pairs); i += 2 {
		text += "  " + pairs[i] + ": " + quote(pairs[i+1]) + "\n"
	}
	return text
}

// envFrom is a container's line that takes a key of a ConfigMap as a variable.
func envFrom(variable, name, key string) string {
	return fmt.Sprintf("env: [{name: %s, valueFrom: {configMapKeyRef: {name: %s, key: %s}}}]", variable, name, key)
}

// awaitFile waits for a file as a container of a pod sees it.
func (n *node) awaitFile(pod, container, path, text string) {
	n.Helper()
	n.await(path+" in "+pod+"/"+container, func() error {
		if is := inside(n.pid(pod, container), path); is != text {
			return fmt.Errorf("it holds %q, not %q", is, text)
		}
		return nil
	})
}

// pid is a container's first process.
func (n *node) pid(pod, container string) int {
	n.Helper()
	return n.inspect(n.box(pod, container).ID).State.Pid
}

// A ConfigMap that comes late is waited for, with the kubelet's reason, by those
// who use it as a variable and by those who use it as a volume.
func TestALateConfigMapIsWaitedFor(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("env.yaml", pod("env", "containers:", run1("main", "echo it is $IT; "+idle, envFrom("IT", "late", "it"))))
	n.put("volume.yaml", pod("volume", "volumes:", "- {name: v, configMap: {name: late}}", "containers:", run1("main", idle, mount("v", "/v"))))
	n.awaitPod("env", "to wait for its object", waits("main", "CreateContainerConfigError", `configmap "late" not found`))
	n.awaitPod("volume", "to wait for its object", waits("main", "ContainerCreating", ""))
	n.await("the event of the missing volume", func() error {
		for _, e := range n.events("volume", "FailedMount") {
			if strings.Contains(e.Message, `configmap "late" not found`) {
				return nil
			}
		}
		return errors.New("none")
	})
	if made := n.story.of("start", "main"); len(made) > 0 {
		t.Errorf("something started without its object: %v", made)
	}
	n.put("late.yaml", configMap("late", "it", "here"))
	n.awaitReady("env")
	n.awaitReady("volume")
	n.awaitFile("volume", "main", "/v/it", "here")
	if text := n.logs("env", "main"); text != "it is here\n" {
		t.Errorf("the variable's user says %q", text)
	}
}

// A changed ConfigMap reaches the files of a running container, all at once, and
// restarts nothing.
func TestAChangedConfigMapReachesTheVolume(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("settings.yaml", configMap("settings", "a", "1", "b", "1"))
	n.put("lamp.yaml", pod("lamp", "volumes:", "- {name: v, configMap: {name: settings}}",
		"containers:", run1("main", idle, mount("v", "/v"), "env: [{name: A, valueFrom: {configMapKeyRef: {name: settings, key: a}}}]")))
	n.awaitReady("lamp")
	n.awaitFile("lamp", "main", "/v/a", "1")
	before, pid := n.ids(), n.pid("lamp", "main")
	n.put("settings.yaml", configMap("settings", "a", "2", "b", "2"))
	n.await("the new files", func() error {
		// Read through one look at ..data: both are of one version.
		version, err := os.Readlink(fmt.Sprintf("/proc/%d/root/v/..data", pid))
		if err != nil {
			return err
		}
		a, b := inside(pid, "/v/"+version+"/a"), inside(pid, "/v/"+version+"/b")
		if a != b {
			t.Errorf("a mixed state: a is %q, b is %q", a, b)
		}
		if a != "2" {
			return fmt.Errorf("a is %q", a)
		}
		return nil
	})
	n.awaitFile("lamp", "main", "/v/a", "2")
	if after := n.ids(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("its containers became\n%v, before\n%v", after, before)
	}
}

// With the annotation the containers that use a changed object are restarted in
// place; the others, the sandbox and the init containers are left alone.
func TestRestartOnChange(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	diary := n.folder("diary")
	manifest := pod("lamp", "volumes:", hostPath("diary", diary, "Directory"), "- {name: v, configMap: {name: settings}}",
		"initContainers:", run1("prepare", "echo ran >> /diary/prepare", mount("diary", "/diary")),
		"containers:", run1("env", "echo it is $IT; "+idle, envFrom("IT", "settings", "it")),
		run1("volume", idle, mount("v", "/v")), run1("neither", idle))
	manifest = strings.Replace(manifest, "metadata:\n", "metadata:\n  annotations: {podstead/restart-on-change: \"true\"}\n", 1)
	n.put("settings.yaml", configMap("settings", "it", "old"))
	n.put("lamp.yaml", manifest)
	before := n.awaitReady("lamp")
	sandbox, neither := n.box("lamp", rig.Pause).ID, n.box("lamp", "neither").ID

	n.put("settings.yaml", configMap("settings", "it", "new"))
	after := n.awaitPod("lamp", "to have been restarted", func(p v1.Pod) bool {
		return restarted("env", 1)(p) && restarted("volume", 1)(p) && ready(p)
	})
	if after.UID != before.UID || n.box("lamp", rig.Pause).ID != sandbox || n.box("lamp", "neither").ID != neither {
		t.Errorf("more than its users was restarted: %s", describe(after))
	}
	if text := n.logs("lamp", "env"); text != "it is new\n" {
		t.Errorf("the variable's user says %q", text)
	}
	n.awaitFile("lamp", "volume", "/v/it", "new")
	if text := n.read(diary + "/prepare"); lines(text) != 1 {
		t.Errorf("the init container has run %d times", lines(text))
	}
	n.put("settings.yaml", "# reformatted\n"+configMap("settings", "it", "new"))
	n.run("sync")
	if again := n.awaitReady("lamp"); status(again, "env").RestartCount != 1 {
		t.Errorf("a comment restarted it: %s", describe(again))
	}
}

// The files of a Secret are in memory, for root and the pod alone, and gone with
// the pod.
func TestSecretsLiveInMemory(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	const word = "tell-nobody-4711"
	n.put("key.yaml", secret("key", "word", word))
	n.put("lamp.yaml", pod("lamp", "volumes:", "- {name: v, secret: {secretName: key, defaultMode: 0400}}",
		"containers:", run1("main", idle, mount("v", "/v"))))
	p := n.awaitReady("lamp")
	n.awaitFile("lamp", "main", "/v/word", word)
	pid := n.pid("lamp", "main")
	run, err := rig.RunDir(n.root)
	n.must(err)
	own := filepath.Join(run, "pods", string(p.UID))
	var there syscall.Stat_t
	n.must(syscall.Stat(own, &there))
	if is, want := mountedDevice(t, pid, "/v"), fmt.Sprintf("%d:%d", unix.Major(there.Dev), unix.Minor(there.Dev)); is != want {
		t.Errorf("/v is on device %s, %s on %s", is, own, want)
	}
	// A machine whose /run is on a disk is told so.
	var about unix.Statfs_t
	n.must(unix.Statfs(own, &about))
	if memory := about.Type == unix.TMPFS_MAGIC; memory == strings.Contains(n.log(), "volumes of Secrets are kept on disk") {
		t.Errorf("that %s is in memory is %t, and the log says\n%s", own, memory, n.log())
	}
	n.drop("lamp.yaml")
	n.awaitGone("lamp")
	n.await("its files to be gone", func() error {
		if _, err := os.Stat(own); err == nil {
			return fmt.Errorf("%s is there", own)
		}
		return nil
	})
	for what, text := range map[string]string{
		"the log": n.log(), "get events": n.run("get", "events", "-o", "json").out, "get sources": n.run("get", "sources", "-o", "json").out,
	} {
		if strings.Contains(text, word) {
			t.Errorf("%s tells the secret", what)
		}
	}
}

// mountedDevice is the device of what is mounted at a path of a process.
func mountedDevice(t *testing.T, pid int, path string) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); fields[4] == path {
			return fields[2]
		}
	}
	return "none"
}
