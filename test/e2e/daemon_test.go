//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// B157: a foreign container that bears our next name keeps it, and ours gets
// another.
func TestAForeignContainerKeepsItsName(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	p := n.awaitReady("lamp")
	name := fmt.Sprintf("k8s_main_%s_default_%s_1", p.Name, p.UID)
	foreign, err := n.engine.create(name, map[string]any{"Image": image1})
	n.must(err)
	defer func() { n.must(n.engine.remove(foreign)) }()

	n.kill("lamp", "main")
	n.awaitPod("lamp", "to be restarted", restarted("main", 1))
	if ours := n.box("lamp", "main").Name(); !strings.HasPrefix(ours, name+"_") {
		t.Errorf("our container is called %s", ours)
	}
	if d := n.inspect(foreign); d.Name != "/"+name || d.State.Status != "created" {
		t.Errorf("the foreign container is now %s, %s", d.Name, d.State.Status)
	}
}

// B157: one of our own that an earlier life left under that name is taken.
func TestOurOwnLeftoverIsAdopted(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	n.awaitReady("lamp")
	n.stop()
	next := n.inspect(n.kill("lamp", "main").ID)
	next.Name = strings.TrimSuffix(next.Name, "_0") + "_1"
	labels := maps.Clone(next.Config["Labels"].(map[string]any))
	labels[rig.LabelAttempt] = "1"
	next.Config["Labels"] = labels
	leftover, err := n.engine.createLike(next)
	n.must(err)

	n.start()
	p := n.awaitPod("lamp", "to be restarted", restarted("main", 1))
	if id := containerID(status(p, "main")); id != leftover {
		t.Errorf("%s runs, not the leftover %s", id, leftover)
	}
	if made := n.story.of("create", "main"); len(made) != 2 {
		t.Errorf("%d containers were made, the leftover among them", len(made))
	}
}

// B158: after a reboot, when everything has ended with its labels intact, every
// pod runs again, once.
func TestEverythingEndedWhileTheAgentWasDown(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	n.put("pair.yaml", pod("pair", "containers:", run1("one", idle), run1("two", idle)))
	n.awaitReady("lamp")
	n.awaitReady("pair")
	n.stop()
	for _, b := range n.boxes("") {
		n.must(n.engine.kill(b.ID, "KILL"))
	}
	n.start()
	n.awaitPod("lamp", "to run again", restarted("main", 1))
	n.awaitPod("pair", "to run again", func(p v1.Pod) bool { return restarted("one", 1)(p) && restarted("two", 1)(p) })
	var names []string
	for _, b := range n.boxes("") {
		if b.Running() {
			names = append(names, b.Pod()+"/"+b.Container())
		}
	}
	slices.Sort(names)
	if len(names) != 5 || len(slices.Compact(names)) != 5 {
		t.Errorf("these run: %v", names)
	}
}

// B160: when the sandbox dies, its containers end, and all begins anew in
// another: init containers, address and hosts file.
func TestADeadSandboxIsReplaced(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	folder := n.folder("diary")
	n.put("pair.yaml", diary("pair", folder)+indent(run1("two", idle)))
	before := n.awaitReady("pair")
	old := n.kill("pair", "POD")
	after := n.awaitPod("pair", "to run in another sandbox", func(p v1.Pod) bool {
		return restarted("main", 1)(p) && restarted("two", 1)(p)
	})
	if after.UID != before.UID {
		t.Error("it is another pod")
	}
	sandbox := n.box("pair", "POD")
	address := n.inspect(sandbox.ID).Address()
	if sandbox.ID == old.ID || after.Status.PodIP != address {
		t.Errorf("sandbox %s has address %s, status shows %s", sandbox.ID, address, after.Status.PodIP)
	}
	for _, container := range []string{"main", "two"} {
		d := n.inspect(n.box("pair", container).ID)
		if hosts := n.read(d.HostsPath); !strings.Contains(hosts, address) {
			t.Errorf("%s: the hosts file lacks %s:\n%s", container, address, hosts)
		}
		if d.Config["Labels"].(map[string]any)[rig.LabelSandbox] != sandbox.ID {
			t.Errorf("%s is not in the new sandbox", container)
		}
	}
	if text := n.read(folder + "/prepare"); lines(text) != 2 {
		t.Errorf("the init container has run %d times", lines(text))
	}
}

// B164: an engine that is not there yet is waited for, a directory in the place
// of its socket is named, and both cost a message, not a flood.
func TestTheEngineComesLater(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	socket := filepath.Join(n.dir, "docker.sock")
	n.flags = []string{"--docker-endpoint", socket}
	n.put("lamp.yaml", lamp("lamp"))
	n.start()
	n.awaitStatus(1, "not reachable")
	n.awaitPod("lamp", "to wait for the engine", waits("main", "ContainerCreating", "engine"))
	n.must(os.Symlink(rig.Socket, socket))
	before := n.awaitReady("lamp")
	n.awaitStatus(0, "")
	n.stop()

	n.must(os.Remove(socket))
	n.must(os.Mkdir(socket, 0o700))
	n.start()
	n.awaitStatus(1, socket+" is a directory")
	n.must(os.Remove(socket))
	n.must(os.Symlink(rig.Socket, socket))
	n.awaitStatus(0, "")
	if after := n.awaitReady("lamp"); containerID(status(after, "main")) != containerID(status(before, "main")) {
		t.Error("the pod was restarted")
	}
	warnings := 0
	for line := range strings.Lines(n.log()) {
		if strings.Contains(line, `"WARN"`) && strings.Contains(line, socket) {
			warnings++
		}
	}
	if warnings > 8 {
		t.Errorf("the log has %d warnings about the engine:\n%s", warnings, n.log())
	}
}

// awaitStatus waits until `podstead status` exits with this code and says this.
func (n *node) awaitStatus(code int, words string) {
	n.Helper()
	n.await("another status", func() error {
		if o := n.run("status"); o.code != code || !strings.Contains(o.out, words) {
			return fmt.Errorf("status exits with %d and says\n%s%s", o.code, o.out, o.err)
		}
		return nil
	})
}

// B170: every container's log is rotated, by default and as configured.
func TestLogsAreRotated(t *testing.T) {
	cases := []struct {
		name       string
		flags      []string
		size, file string
	}{
		{name: "by default", size: "10485760", file: "5"},
		{name: "as configured", flags: []string{"--container-log-max-size", "2Mi", "--container-log-max-files", "3"}, size: "2097152", file: "3"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, c.flags...)
			n.put("lamp.yaml", diary("lamp", n.folder("diary")))
			n.awaitReady("lamp")
			boxes := n.boxes("")
			if len(boxes) != 3 {
				t.Fatalf("sandbox, init and main are %v", boxes)
			}
			for _, b := range boxes {
				log := n.inspect(b.ID).HostConfig["LogConfig"].(map[string]any)
				options := log["Config"].(map[string]any)
				if log["Type"] != "json-file" || options["max-size"] != c.size || options["max-file"] != c.file {
					t.Errorf("%s logs with %v", b.Name(), log)
				}
			}
		})
	}
}

// B145: the sandbox's image is never pulled: an engine that has never seen a
// registry gets it from podstead.
func TestNoRegistryIsNeeded(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("a private engine takes root")
	}
	dir, err := os.MkdirTemp("/tmp", "pse") // short: the name of a socket has 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "docker.sock")
	hack(t, "", "engine.sh", "private", dir)
	t.Cleanup(func() { hack(t, "", "engine.sh", "private-stop", dir) })
	hack(t, socket, "images.sh")

	n := newNodeOn(t, socket, "")
	n.start()
	n.put("lamp.yaml", lamp("lamp"))
	n.awaitReady("lamp")
	for _, reason := range []string{"Pulling", "ErrImagePull"} {
		if pulls := n.events("lamp", reason); len(pulls) > 0 {
			t.Errorf("%s: %s", reason, pulls[0].Message)
		}
	}
}

// hack runs a script of the repository against an engine, "" for the machine's.
func hack(t *testing.T, socket, script string, args ...string) {
	t.Helper()
	if _, err := rig.Hack(socket, script, args...); err != nil {
		t.Fatal(err)
	}
}
