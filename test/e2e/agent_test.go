//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// A signal ends the agent within 2 s; what it ran runs on.
func TestSignalsEndTheAgentAlone(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			n := startNode(t)
			n.put("lamp.yaml", lamp("lamp"))
			n.awaitReady("lamp")
			// A pod that is on its way out must not hold the agent up.
			n.put("slow.yaml", pod("slow", "terminationGracePeriodSeconds: 600", "containers:", run1("main", stubborn)))
			n.awaitReady("slow")
			n.drop("slow.yaml")
			n.await("the slow pod to be told to end", func() error { return atLeast(1, n.story.of("kill", "main")) })

			took, err := n.end(signal)
			if err != nil || took > 2*time.Second {
				t.Errorf("it ended after %s with %v", took, err)
			}
			n.box("lamp", "main")
			n.box("lamp", "POD")
			n.kill("slow", "main") // it has ten minutes
		})
	}
}

// A root-dir is one agent's.
func TestASecondAgentIsRefused(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	second := n.run(n.args()...)
	if second.code != 2 || !strings.Contains(second.err, "another agent works on it") || !strings.Contains(second.err, strconv.Itoa(n.agent.PID())) {
		t.Errorf("the second agent exits with %d and says\n%s", second.code, second.err)
	}
	if o := n.run("get", "pods"); o.code != 0 {
		t.Errorf("the first one does not answer any more: %s", o.err)
	}
}

// Two nodes on one engine are two nodes, though their pods have one name.
func TestTwoNodesOnOneEngine(t *testing.T) {
	t.Parallel()
	one, two := startNode(t), newNodeOn(t, rig.Socket, "b")
	two.start()
	for _, n := range []*node{one, two} {
		n.put("lamp.yaml", lamp("lamp"))
	}
	one.awaitReady("lamp")
	before := two.awaitReady("lamp")

	one.drop("lamp.yaml")
	one.awaitGone("lamp")
	one.stop()
	one.start()
	one.law()
	after := two.awaitReady("lamp")
	if containerID(status(before, "main")) != containerID(status(after, "main")) || status(after, "main").RestartCount != 0 {
		t.Errorf("the other node's pod did not stay: %s", describe(after))
	}
}

// 100 manifests at once are 100 pods, in a time that the engine's bounds. It
// has the engine to itself: parallel tests begin after it.
func TestAHundredManifestsAtOnce(t *testing.T) {
	const many = 100
	n := newNode(t, "--max-pods", "200")
	for i := range many {
		n.put(fmt.Sprintf("p%03d.yaml", i), lamp(fmt.Sprintf("p%03d", i)))
	}
	began := time.Now()
	n.start()
	n.awaitFor(4*patience, "all pods to be ready", func() error {
		pods, err := n.client.Pods(n.Context())
		good := 0
		for _, p := range pods {
			if ready(p) {
				good++
			}
		}
		if err == nil && good < many {
			err = fmt.Errorf("%d of %d are", good, many)
		}
		return err
	})
	t.Logf("%d pods were ready after %s", many, time.Since(began).Round(time.Millisecond))
	if boxes := n.boxes(""); len(boxes) != 2*many {
		t.Errorf("%d pods of one container are %d containers", many, len(boxes))
	}
}

// Replacing and removing leaves nothing behind in the agent: no goroutine and no
// file descriptor.
func TestTheAgentDoesNotGrow(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	cycle := func(i int) {
		n.put("lamp.yaml", pod("lamp", "volumes:", "- {name: v, emptyDir: {medium: Memory}}",
			"containers:", run1("main", idle, mount("v", "/v"), fmt.Sprintf("env: [{name: CYCLE, value: \"%d\"}]", i))))
		n.awaitPod("lamp", "to be replaced", func(p v1.Pod) bool {
			return ready(p) && p.Spec.Containers[0].Env[0].Value == strconv.Itoa(i)
		})
	}
	remove := func() {
		n.drop("lamp.yaml")
		n.awaitGone("lamp")
	}
	cycle(0)
	remove()
	goroutines, files := n.metric("go_goroutines"), n.metric("process_open_fds")
	for i := range 6 {
		cycle(i + 1)
	}
	remove()
	n.await("goroutines and files to be as before", func() error {
		g, f := n.metric("go_goroutines"), n.metric("process_open_fds")
		if g > goroutines || f > files {
			return fmt.Errorf("%v goroutines, before %v; %v files, before %v", g, goroutines, f, files)
		}
		return nil
	})
	if err := noEntries(filepath.Join(n.root, "pods")); err != nil {
		t.Error(err)
	}
}

// metric is one number of the agent's own.
func (n *node) metric(name string) float64 {
	n.Helper()
	agent := rig.NewEngine(filepath.Join(n.root, "run", "podstead.sock"))
	defer agent.Transport.CloseIdleConnections() // the agent has one for each
	body, err := agent.Open(n.Context(), "GET", "/metrics", nil)
	n.must(err)
	defer body.Close()
	for lines := bufio.NewScanner(body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			value, err := strconv.ParseFloat(text, 64)
			n.must(err)
			return value
		}
	}
	n.Fatalf("no metric %s", name)
	return 0
}

// The agent's own folder is root's alone.
func TestTheRootDirIsPrivate(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	p := n.awaitReady("lamp")
	for path, mode := range map[string]os.FileMode{
		"":                                    0o700,
		"run/podstead.sock":                   0o600,
		"pods/" + string(p.UID) + "/pod.json": 0o600,
	} {
		info, err := os.Stat(filepath.Join(n.root, path))
		n.must(err)
		if info.Mode().Perm() != mode {
			t.Errorf("%q has mode %o, not %o", path, info.Mode().Perm(), mode)
		}
	}
}
