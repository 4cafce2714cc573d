//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/test/rig"
)

// patience is how long a test waits for a condition. It is long because the
// machine may be busy; nothing takes that long by itself.
const patience = 90 * time.Second

// often is how long it looks away between two looks.
const often = 40 * time.Millisecond

// node is one podstead with all it needs, and what a test does to it.
type node struct {
	*testing.T
	name      string
	dir       string // of all that follows
	root      string
	manifests string
	flags     []string // beside those that make the node its own
	sources   []string // flags that say where manifests come from; the folder unless a test says otherwise
	engine    engine
	story     *story
	client    *api.Client
	agent     *rig.Process // nil while no agent runs
}

// newNode makes the folders and starts nothing. What the test leaves is judged
// and taken away when it ends.
func newNode(t *testing.T, flags ...string) *node {
	t.Helper()
	return newNodeOn(t, rig.Socket, "", flags...)
}

// newNodeOn is a node on another engine, or another node of one test, told apart
// by a word of its name.
func newNodeOn(t *testing.T, socket, word string, flags ...string) *node {
	t.Helper()
	dir, err := os.MkdirTemp("", "podstead-e2e-") // short: the name of a socket has 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	n := &node{
		T: t, name: nodeName(t.Name() + word), dir: dir, engine: engine{rig.NewEngine(socket)},
		flags: append([]string{"--docker-endpoint", socket}, flags...),
		root:  filepath.Join(dir, "root"), manifests: filepath.Join(dir, "manifests"),
	}
	n.sources = n.folderOnly()
	n.client = api.NewClient(filepath.Join(n.root, "run", "podstead.sock"))
	for _, d := range []string{n.root, n.manifests, filepath.Join(dir, "staging")} {
		n.must(os.Mkdir(d, 0o700))
	}
	n.story, err = follow(n.engine, n.name)
	n.must(err)
	t.Cleanup(n.scrub)
	t.Cleanup(n.finish)
	return n
}

// startNode is a node whose agent runs.
func startNode(t *testing.T, flags ...string) *node {
	t.Helper()
	n := newNode(t, flags...)
	n.start()
	return n
}

// nodeName makes a node's name of a test's, and of this run.
func nodeName(test string) string {
	words := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(test), "-")
	return strings.Trim(words[max(0, len(words)-40):], "-") + "-" + strconv.Itoa(os.Getpid())
}

func (n *node) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

// args are those of `podstead run` for this node.
func (n *node) args(more ...string) []string {
	args := []string{"run", "--root-dir", n.root, "--hostname-override", n.name}
	return slices.Concat(args, n.sources, n.flags, more)
}

// folderOnly are the flags of a node whose manifests are its folder's.
func (n *node) folderOnly() []string { return []string{"--pod-manifest-path", n.manifests} }

// start runs the agent until it answers on its socket.
func (n *node) start(more ...string) {
	n.Helper()
	n.startAgent(more...)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := n.agent.Until(ctx, often, func() error {
		_, err := n.client.Version(ctx)
		return err
	}); err != nil {
		n.Fatalf("the agent does not answer: %v\n%s", err, n.log())
	}
}

// startAgent returns at once.
func (n *node) startAgent(more ...string) {
	n.Helper()
	cmd := exec.Command(program, n.args(more...)...)
	cmd.Env = environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // an agent does not outlive its test
	agent, err := rig.Start(cmd, n.logFile())
	n.must(err)
	n.agent = agent
}

// end sends the agent a signal and waits for its end.
func (n *node) end(signal syscall.Signal) (took time.Duration, err error) {
	n.Helper()
	agent := n.agent
	took, err = agent.End(signal, patience)
	select {
	case <-agent.Ended():
		n.agent = nil
	default:
		n.Fatal(err)
	}
	return took, err
}

// stop ends the agent as systemd does.
func (n *node) stop() {
	n.Helper()
	if _, err := n.end(syscall.SIGTERM); err != nil {
		n.Errorf("the agent ended with %v\n%s", err, n.log())
	}
}

func (n *node) logFile() string { return filepath.Join(n.dir, "agent.log") }

func (n *node) log() string {
	text, err := os.ReadFile(n.logFile())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// environment is the tests' own, without what would steer podstead.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PODSTEAD_") })
}

// outcome is what a command said and how it ended.
type outcome struct {
	out, err string
	code     int
}

// run runs podstead to its end, as a user of this node.
func (n *node) run(args ...string) outcome {
	n.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(environment(), "PODSTEAD_ROOT_DIR="+n.root)
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		n.Fatalf("%v: %v", cmd.Args, err)
	}
	return outcome{out: out.String(), err: said.String(), code: cmd.ProcessState.ExitCode()}
}

// once is `podstead run --runonce` on this node's folder.
func (n *node) once(more ...string) outcome {
	n.Helper()
	return n.run(n.args(append([]string{"--runonce"}, more...)...)...)
}

// put writes a manifest as careful tools do: beside, then renamed into place.
func (n *node) put(file, text string) {
	n.Helper()
	staged := filepath.Join(n.dir, "staging", file)
	n.must(os.WriteFile(staged, []byte(text), 0o600))
	n.must(os.Rename(staged, n.path(file)))
}

func (n *node) drop(file string) {
	n.Helper()
	n.must(os.Remove(n.path(file)))
}

func (n *node) path(file string) string { return filepath.Join(n.manifests, file) }

// await tries a condition until it is met.
func (n *node) await(what string, met func() error) {
	n.Helper()
	n.awaitFor(patience, what, met)
}

func (n *node) awaitFor(patience time.Duration, what string, met func() error) {
	n.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := rig.Until(ctx, often, met); err != nil {
		n.Fatalf("waited for %s: %v", what, err)
	}
}

// full is a pod's full name on this node.
func (n *node) full(pod string) string { return pod + "-" + n.name }

// pods are all that the agent shows under one name as written.
func (n *node) pods(name string) ([]v1.Pod, error) {
	all, err := n.client.Pods(context.Background())
	return slices.DeleteFunc(all, func(p v1.Pod) bool { return p.Name != n.full(name) }), err
}

// awaitPod waits until one pod of that name is shown and is as it should be.
func (n *node) awaitPod(name, what string, is func(v1.Pod) bool) v1.Pod {
	n.Helper()
	var found v1.Pod
	n.await("pod "+name+" "+what, func() error {
		pods, err := n.pods(name)
		switch {
		case err != nil:
			return err
		case len(pods) != 1:
			return fmt.Errorf("%d pods of that name are shown", len(pods))
		case !is(pods[0]):
			return fmt.Errorf("it is %s", describe(pods[0]))
		}
		found = pods[0]
		return nil
	})
	return found
}

// awaitReady waits until the pod is ready and is the only one of its name.
func (n *node) awaitReady(name string) v1.Pod {
	n.Helper()
	return n.awaitPod(name, "to be ready", ready)
}

// awaitNew waits for the ready successor of a pod.
func (n *node) awaitNew(old v1.Pod, name string) v1.Pod {
	n.Helper()
	return n.awaitPod(name, "to be replaced", func(p v1.Pod) bool { return p.UID != old.UID && ready(p) })
}

// awaitGone waits until the engine has nothing of a pod and the agent shows none.
func (n *node) awaitGone(name string) {
	n.Helper()
	n.await("pod "+name+" to be gone", func() error {
		shown, err := n.pods(name)
		left := n.boxes(name)
		if err == nil && len(shown)+len(left) > 0 {
			err = fmt.Errorf("shown: %d, on the engine: %v", len(shown), left)
		}
		return err
	})
}

// ps lists the node's containers. Another node may have the same name; it has
// another id, which is known once an agent has run.
func (n *node) ps() ([]rig.Box, error) {
	all, err := n.engine.ps(n.name)
	if err != nil {
		return nil, err
	}
	run, err := rig.RunDir(n.root)
	return slices.DeleteFunc(all, func(b rig.Box) bool { return run != "" && b.Labels[rig.LabelNodeID] != filepath.Base(run) }), err
}

// boxes are a pod's containers on the engine, sandboxes too; of all pods for "".
func (n *node) boxes(name string) []rig.Box {
	n.Helper()
	all, err := n.ps()
	n.must(err)
	return slices.DeleteFunc(all, func(b rig.Box) bool { return name != "" && b.Pod() != n.full(name) })
}

// box is the running container of a pod.
func (n *node) box(pod, container string) rig.Box {
	n.Helper()
	for _, b := range n.boxes(pod) {
		if b.Container() == container && b.Running() {
			return b
		}
	}
	n.Fatalf("container %s of pod %s does not run: %v", container, pod, n.boxes(pod))
	return rig.Box{}
}

func (n *node) inspect(id string) rig.Detail {
	n.Helper()
	d, err := n.engine.inspect(id)
	n.must(err)
	return d
}

// kill ends a pod's container from outside.
func (n *node) kill(pod, container string) rig.Box {
	n.Helper()
	b := n.box(pod, container)
	n.must(n.engine.kill(b.ID, "KILL"))
	return b
}

// events are those about a pod, by reason.
func (n *node) events(name, reason string) []v1.Event {
	n.Helper()
	all, err := n.client.Events(context.Background(), api.EventFilter{Kind: "Pod", Namespace: "default", Name: n.full(name)})
	n.must(err)
	return slices.DeleteFunc(all, func(e v1.Event) bool { return e.Reason != reason })
}

// logs is what a container of a pod has written.
func (n *node) logs(pod, container string) string {
	n.Helper()
	o := n.run("logs", pod, "-c", container)
	if o.code != 0 {
		n.Fatalf("logs of %s/%s: exit %d: %s", pod, container, o.code, o.err)
	}
	return o.out
}

// folder is a directory of the test's own on the host.
func (n *node) folder(name string) string {
	n.Helper()
	path := filepath.Join(n.dir, name)
	n.must(os.MkdirAll(path, 0o755))
	return path
}

// read is a file's text, "" while it is not there.
func (n *node) read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		n.Fatal(err)
	}
	return string(text)
}
