//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/podstead/podstead/test/rig"
)

// report is what run-once prints with -o json, as far as it is judged.
type report struct {
	Node     string
	ExitCode int
	Error    string
	Pods     []struct {
		Name, Namespace, UID, Result, Status, Manifest, Message string

		Log []struct {
			Container string
			Lines     []string
		}
	}
}

func (n *node) report(o outcome) report {
	n.Helper()
	var r report
	if err := json.Unmarshal([]byte(o.out), &r); err != nil {
		n.Fatalf("run-once: exit %d, %v\n%s%s", o.code, err, o.out, o.err)
	}
	if r.ExitCode != o.code {
		n.Errorf("the report says exit code %d, it is %d", r.ExitCode, o.code)
	}
	return r
}

func (n *node) wantCode(o outcome, code int, words ...string) {
	n.Helper()
	said := o.out + o.err
	if o.code != code {
		n.Errorf("exit code %d, not %d; it says\n%s", o.code, code, said)
	}
	for _, w := range words {
		if !strings.Contains(said, w) {
			n.Errorf("no %q in\n%s", w, said)
		}
	}
}

// B116: run-once runs what the loop runs: init containers and volumes; run
// again it changes nothing.
func TestRunOnceRunsItAll(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	folder := n.folder("diary")
	n.put("lamp.yaml", pod("lamp", "volumes:", hostPath("diary", folder, "Directory"), "- {name: scratch, emptyDir: {}}",
		"initContainers:", run1("prepare", "echo ran >> /diary/prepare; echo ready > /scratch/x",
			"volumeMounts: [{name: diary, mountPath: /diary}, {name: scratch, mountPath: /scratch}]"),
		"containers:", run1("main", "cat /scratch/x; "+idle, mount("scratch", "/scratch"))))
	n.put("job.yaml", pod("job", "restartPolicy: OnFailure", "containers:", run1("main", "echo done")))
	n.wantCode(n.once(), 0, n.full("lamp"), "Running", n.full("job"), "Completed")
	n.awaitEnded("job")
	ids := n.ids()
	if text := n.read(folder + "/prepare"); lines(text) != 1 || len(ids) == 0 {
		t.Errorf("the init container ran %d times; left running: %v", lines(text), ids)
	}

	r := n.report(n.once("-o", "json"))
	if r.Node != n.name || len(r.Pods) != 2 || r.Pods[0].Result != "Succeeded" || r.Pods[1].Result != "Ready" {
		t.Errorf("the second run reports %+v", r)
	}
	if again := n.ids(); !slices.Equal(again, ids) {
		t.Errorf("the second run changed\n%v to\n%v", ids, again)
	}

	// It ends what is not wanted any more, as the loop does.
	n.drop("lamp.yaml")
	n.wantCode(n.once(), 0)
	if left := n.boxes("lamp"); len(left) != 0 {
		t.Errorf("still there: %v", left)
	}
}

// awaitEnded waits until nothing of a pod runs, its sandbox included, which ends
// a moment after the rest.
func (n *node) awaitEnded(pod string) {
	n.Helper()
	n.await("the end of "+pod, func() error {
		if boxes := n.boxes(pod); slices.ContainsFunc(boxes, rig.Box.Running) {
			return fmt.Errorf("it is %v", boxes)
		}
		return nil
	})
}

// ids are those of all the node's containers, sorted.
func (n *node) ids() []string {
	var ids []string
	for _, b := range n.boxes("") {
		ids = append(ids, b.ID+" "+b.State)
	}
	slices.Sort(ids)
	return ids
}

// B118: a program that fails makes run-once fail, and is named with its code and
// its last words; the rest runs.
func TestRunOnceTellsWhatFailed(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.put("good.yaml", lamp("good"))
	n.put("bad.yaml", pod("bad", "restartPolicy: Never", "containers:", run1("main", "echo no luck; exit 3")))
	n.put("broken.yaml", "kind: Pod\nspec: {\n")
	n.wantCode(n.once(), 1, "pod default/"+n.full("bad"), "exit code 3", "main | no luck", "broken.yaml:")
	n.box("good", "main")
	r := n.report(n.once("-o", "json"))
	for _, p := range r.Pods {
		if p.Name == n.full("bad") && (p.Result != "Failed" || len(p.Log) != 1 || !slices.Equal(p.Log[0].Lines, []string{"no luck"})) {
			t.Errorf("the report has %+v", p)
		}
	}
	n.must(os.Remove(n.path("broken.yaml"))) // so that status has no more to say than bad
}

// A pod that does not come up in time is named with what it waits for.
func TestRunOnceGivesUpInTime(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.put("lost.yaml", pod("lost", "containers:", item("main", "podstead-test/nowhere:1", "imagePullPolicy: Never")))
	o := n.once("--runonce-timeout", "3s", "-o", "json")
	r := n.report(o)
	if o.code != 1 || len(r.Pods) != 1 || r.Pods[0].Result != "TimedOut" || r.Pods[0].Status != "ErrImageNeverPull" {
		t.Errorf("exit %d: %+v", o.code, r)
	}
}

// Exit codes 0, 2 and 4 of run-once, beside 1 above.
func TestRunOnceExitCodes(t *testing.T) {
	cases := []struct {
		name  string
		setup func(n *node)
		flags []string
		code  int
		words []string
	}{
		{name: "nothing to do", setup: func(*node) {}},
		{name: "bad flags", setup: func(*node) {}, flags: []string{"--max-pods", "many", "--runonce-timeout", "soon"}, code: 2, words: []string{"--max-pods", "--runonce-timeout"}},
		{name: "nothing usable", setup: func(n *node) { n.put("lamp.yaml", "kind: Pod\n") }, code: 2, words: []string{"lamp.yaml:"}},
		{name: "an agent runs", setup: func(n *node) { n.start() }, code: 2, words: []string{"another agent works on it"}},
		{name: "no engine", setup: func(n *node) { n.put("lamp.yaml", lamp("lamp")) }, flags: []string{"--docker-endpoint", "/nowhere/docker.sock"}, code: 4, words: []string{"/nowhere/docker.sock"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			c.setup(n)
			n.wantCode(n.once(c.flags...), c.code, c.words...)
		})
	}
}
