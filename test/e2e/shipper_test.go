//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// shipper is Debian's rsyslog, following the links to a node's logs as it would on
// a Kubernetes node: by a pattern, told nothing of podstead.
type shipper struct {
	out string // each line: the link's path, a space, the line of the engine's file
}

func (n *node) startShipper() *shipper {
	n.Helper()
	dir := n.folder("shipper")
	s := &shipper{out: filepath.Join(dir, "out")}
	config := fmt.Sprintf(`global(workDirectory="%[1]s")
module(load="imfile" mode="inotify")
input(type="imfile" file="%[2]s/log/containers/*.log" tag="pods" addMetadata="on")
template(name="line" type="string" string="%%$!metadata!filename%% %%msg%%\n")
action(type="omfile" file="%[3]s" template="line")
`, dir, n.root, s.out)
	file := filepath.Join(dir, "rsyslog.conf")
	n.must(os.WriteFile(file, []byte(config), 0o600))
	process, err := rig.Start(exec.Command("/usr/sbin/rsyslogd", "-n", "-f", file, "-i", filepath.Join(dir, "pid")), filepath.Join(dir, "log"))
	n.must(err)
	n.Cleanup(func() {
		if _, err := process.End(syscall.SIGTERM, patience); err != nil {
			n.Errorf("rsyslogd ended with %v\n%s", err, n.read(filepath.Join(dir, "log")))
		}
	})
	return s
}

// linkName is how the Kubernetes filter of fluent-bit, for one, reads a link's name.
var linkName = regexp.MustCompile(`^([a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*)_([^_]+)_(.+)-([a-z0-9]{64})\.log$`)

// shipped counts what has arrived, as namespace/pod/container: text.
func (n *node) shipped(s *shipper) map[string]int {
	n.Helper()
	arrived := map[string]int{}
	for lines := bufio.NewScanner(strings.NewReader(n.read(s.out))); lines.Scan(); {
		path, line, _ := strings.Cut(lines.Text(), " ")
		is := linkName.FindStringSubmatch(filepath.Base(path))
		var entry struct{ Log, Stream, Time string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || is == nil {
			continue // one that is being written
		}
		arrived[fmt.Sprintf("%s/%s/%s: %s", is[2], is[1], is[3], strings.TrimSuffix(entry.Log, "\n"))]++
	}
	return arrived
}

// Every line of every container reaches a log shipper once: of containers that
// crash and come again, of init containers, of one whose log is rotated away under
// it, whatever becomes of the agent meanwhile.
func TestALogShipperGetsEveryLineOnce(t *testing.T) {
	t.Parallel()
	n := newNode(t, "--container-log-max-size", "60Ki", "--container-log-max-files", "10")
	s := n.startShipper() // before there is anything to ship
	n.start()
	count := n.folder("count")
	const each, long = 300, 2500
	n.put("talker.yaml", pod("talker", "volumes:", hostPath("count", count, "Directory"),
		"initContainers:", run1("first", "echo first.0"),
		"containers:", run1("main", fmt.Sprintf("n=$(cat /count/n 2>/dev/null || echo 0); echo $((n+1)) > /count/n; "+
			"i=0; while [ $i -lt %d ]; do echo $n.$i; i=$((i+1)); [ $((i %% 25)) = 0 ] && sleep 0.1; done; [ $n = 2 ] || exit 1; %s", each, idle), mount("count", "/count"))))
	n.put("singer.yaml", pod("singer", "containers:",
		run1("main", fmt.Sprintf("i=0; while [ $i -lt %d ]; do echo la.$i; i=$((i+1)); [ $((i %% 25)) = 0 ] && sleep 0.1; done; %s", long, idle)),
		run1("other", "echo other.0 >&2; "+idle)))

	n.awaitReady("singer")
	n.awaitPod("talker", "to have crashed", func(p v1.Pod) bool { return status(p, "main").RestartCount > 0 })
	n.stop()
	n.start()
	_, _ = n.end(syscall.SIGKILL) // how it ends is not the question here
	n.start()
	n.awaitPod("talker", "to have crashed twice", restarted("main", 2))

	wanted := map[string]int{}
	want := func(pod, container, words string, lines int) {
		for i := range lines {
			wanted[fmt.Sprintf("default/%s/%s: %s.%d", n.full(pod), container, words, i)]++
		}
	}
	want("talker", "first", "first", 1)
	for instance := range 3 {
		want("talker", "main", fmt.Sprint(instance), each)
	}
	want("singer", "main", "la", long)
	want("singer", "other", "other", 1)
	n.await("every line to arrive", func() error {
		arrived := n.shipped(s)
		var missing []string
		for line := range wanted {
			if arrived[line] == 0 {
				missing = append(missing, line)
			}
		}
		if len(missing) > 0 {
			return fmt.Errorf("%d of %d lines have not: %v", len(missing), len(wanted), missing[:min(5, len(missing))])
		}
		return nil
	})
	if rotated, err := filepath.Glob(n.inspect(n.box("singer", "main").ID).LogPath + ".*"); err != nil || len(rotated) == 0 {
		t.Errorf("the log was not rotated: %v, %v", rotated, err)
	}
	n.drop("talker.yaml")
	n.awaitGone("talker")
	for line, times := range n.shipped(s) {
		if times != 1 || wanted[line] != 1 {
			t.Errorf("%q has arrived %d times, of %d", line, times, wanted[line])
		}
	}
}

// Readers of a node's logs find pod, namespace, container and attempt in the names.
// Links of what ended while no agent ran are gone when it is back.
func TestLogLinksAreAKubelets(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	p := n.awaitReady("lamp")
	link := func(attempt int) string {
		return filepath.Join(n.root, "log", "pods", fmt.Sprintf("default_%s_%s", p.Name, p.UID), "main", fmt.Sprint(attempt)+".log")
	}
	beside := func(id string) string {
		return filepath.Join(n.root, "log", "containers", fmt.Sprintf("%s_default_main-%s.log", p.Name, id))
	}
	first := n.inspect(n.box("lamp", "main").ID)
	if target, err := os.Readlink(link(0)); err != nil || target != first.LogPath {
		t.Errorf("%s leads to %s, %v", link(0), target, err)
	}
	if target, err := os.Readlink(beside(first.ID)); err != nil || target != link(0) {
		t.Errorf("%s leads to %s, %v", beside(first.ID), target, err)
	}
	n.kill("lamp", "main")
	n.awaitPod("lamp", "to be restarted", restarted("main", 1))
	for _, path := range []string{link(0), link(1)} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	n.stop()
	n.must(n.engine.remove(first.ID))
	n.start()
	n.awaitReady("lamp")
	for _, path := range []string{link(0), beside(first.ID)} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there, %v", path, err)
		}
	}
	if _, err := os.Stat(link(1)); err != nil {
		t.Error(err)
	}
}
