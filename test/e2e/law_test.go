//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// finish judges what a test leaves: what podstead shows is what `docker ps`
// shows, and without manifests nothing stays.
func (n *node) finish() {
	if n.Failed() {
		n.tell()
		return
	}
	if n.agent == nil {
		n.start()
	}
	n.law()
	if !slices.Equal(n.sources, n.folderOnly()) {
		n.stop()
		n.sources = n.folderOnly() // what came from elsewhere is nobody's now
		n.start()
	}
	n.must(empty(n.manifests))
	n.awaitFor(4*patience, "the node to be empty", func() error {
		if left := n.boxes(""); len(left) > 0 {
			return fmt.Errorf("%d containers are left: %v", len(left), left)
		}
		return nil
	})
	run, err := rig.RunDir(n.root)
	n.must(err)
	n.await("the pods' directories and the links to their logs to be gone", func() error {
		return errors.Join(noEntries(filepath.Join(n.root, "pods")), noEntries(filepath.Join(run, "pods")),
			noEntries(filepath.Join(n.root, "log", "pods")), noEntries(filepath.Join(n.root, "log", "containers")))
	})
	if took, err := n.end(syscall.SIGTERM); err != nil || took > 2*time.Second {
		n.Errorf("the agent ended %s after SIGTERM, with %v", took, err)
	}
	for _, left := range slices.Concat(n.mounts(), n.processes()) {
		n.Errorf("left behind: %s", left)
	}
	if n.Failed() {
		n.tell()
	}
}

// scrub takes away what is left of a test that did not get to its end.
func (n *node) scrub() {
	if n.agent != nil {
		_, _ = n.agent.End(syscall.SIGKILL, patience) // by that signal, if not before
	}
	err := errors.Join(n.removeAll(), rig.RemoveRunDir(n.root))
	if n.Failed() {
		<-time.After(2 * time.Second) // an engine finishes what a killed agent had asked for
		err = errors.Join(err, n.removeAll())
	}
	n.story.stop()
	for _, path := range n.mounts() {
		err = errors.Join(err, syscall.Unmount(path, 0))
	}
	if err := errors.Join(err, os.RemoveAll(n.dir)); err != nil {
		n.Error(err)
	}
}

func (n *node) removeAll() error {
	left, err := n.ps()
	for _, b := range left {
		err = errors.Join(err, n.engine.remove(b.ID))
	}
	return err
}

// tell shows what the agent said and what the engine did.
func (n *node) tell() {
	n.Logf("the agent of %s said:\n%s", n.name, n.log())
	for _, a := range n.story.all() {
		n.Logf("%s %s %s/%s %.12s %s", a.At.Format("15:04:05.000"), a.Action, a.Pod, a.Container, a.ID, a.Signal)
	}
	for _, b := range n.boxes("") {
		n.Logf("left: %s %s", b.Name(), b.State)
	}
}

// shown is the answer of `podstead status -o json`, as far as it is judged.
type shown struct {
	Pods     []v1.Pod `json:"pods"`
	Problems []string `json:"problems"`
}

// law: `podstead status` and `podstead get pods` agree with `docker ps`, where a
// docker ps before and one after them are equal.
func (n *node) law() {
	n.Helper()
	var report, list shown
	var is []rig.Box
	n.await("docker ps to rest", func() error {
		before := n.boxes("")
		status := n.run("status", "-o", "json")
		pods := n.run("get", "pods", "-A", "-o", "json")
		is = n.boxes("")
		if !slices.EqualFunc(before, is, func(a, b rig.Box) bool { return a.ID == b.ID && a.State == b.State }) {
			return errors.New("it changed while podstead was asked")
		}
		if err := json.Unmarshal([]byte(status.out), &report); err != nil {
			n.Fatalf("status: %v\n%s%s", err, status.out, status.err)
		}
		if (status.code == 0) != (len(report.Problems) == 0) {
			n.Errorf("status exits with %d and names these problems: %q", status.code, report.Problems)
		}
		list.Pods = podsOf(n, pods)
		return nil
	})
	want := running(is)
	for what, pods := range map[string][]v1.Pod{"status": report.Pods, "get pods": list.Pods} {
		if got := claimed(pods); !slices.Equal(got, want) {
			n.Errorf("%s shows as running\n %s\nbut docker ps\n %s", what, strings.Join(got, "\n "), strings.Join(want, "\n "))
		}
	}
}

// podsOf reads `get pods -o json`, which is a list, or the pod itself.
func podsOf(n *node, o outcome) []v1.Pod {
	n.Helper()
	var list v1.PodList
	if err := json.Unmarshal([]byte(o.out), &list); o.code != 0 || err != nil {
		n.Fatalf("get pods: exit %d, %v\n%s%s", o.code, err, o.out, o.err)
	}
	return list.Items
}

// running are the containers that docker ps shows as running.
func running(boxes []rig.Box) []string {
	var lines []string
	for _, b := range boxes {
		if b.Running() && !b.Sandbox() {
			lines = append(lines, fmt.Sprintf("%s %s/%s %s", b.UID(), b.Pod(), b.Container(), b.ID))
		}
	}
	slices.Sort(lines)
	return lines
}

// claimed are the containers that pods show as running.
func claimed(pods []v1.Pod) []string {
	var lines []string
	for _, p := range pods {
		for _, s := range statuses(p) {
			if s.State.Running != nil {
				lines = append(lines, fmt.Sprintf("%s %s/%s %s", p.UID, p.Name, s.Name, containerID(s)))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

func noEntries(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s holds %v", dir, entries)
	}
	return err
}

// mounts are those below the node's directory, the innermost first.
func (n *node) mounts() []string {
	file, err := os.Open("/proc/self/mountinfo")
	n.must(err)
	defer file.Close()
	var found []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if path := strings.Fields(lines.Text())[4]; strings.HasPrefix(path, n.dir+"/") {
			found = append(found, path)
		}
	}
	slices.Reverse(found)
	return found
}

// processes are those that have the node's directory on their command line.
func (n *node) processes() []string {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	n.must(err)
	var found []string
	for _, file := range lines {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(text), n.dir) {
			found = append(found, file+": "+strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found
}
