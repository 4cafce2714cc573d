//go:build e2e

package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// agent is `podstead run` on a private engine, with a root-dir, a manifest
// folder and a node name of its own.
type agent struct {
	t         *testing.T
	engine    *dockerd
	node      string
	root      string
	manifests string
	process   *rig.Process // nil while none runs
}

// nodes counts the agents of this run, for their names.
var nodes atomic.Int64

// newAgent makes the folders; start runs it. When the test ends the agent is
// killed, the engine brought back and what is left of the node removed from it.
func newAgent(t *testing.T, d *dockerd) *agent {
	t.Helper()
	dir := t.TempDir()
	a := &agent{
		t: t, engine: d, node: fmt.Sprintf("node-%d-%d", os.Getpid(), nodes.Add(1)),
		root: filepath.Join(dir, "root"), manifests: filepath.Join(dir, "manifests"),
	}
	must(t, os.Mkdir(a.root, 0o700))
	must(t, os.Mkdir(a.manifests, 0o755))
	t.Cleanup(a.clean)
	return a
}

func (a *agent) clean() {
	if a.process != nil {
		a.kill()
	}
	if a.t.Failed() {
		log, _ := os.ReadFile(a.logFile())
		a.t.Logf("the agent's log:\n%s", tail(log, 80))
		a.t.Logf("docker ps:\n%s", a.engine.docker(nil, "docker", "ps", "-a"))
	}
	a.engine.recover()
	left, err := a.engine.ps(a.node)
	for _, b := range left {
		err = errors.Join(err, a.engine.remove(b.ID))
	}
	if err != nil {
		a.t.Error(err)
	}
}

func (a *agent) logFile() string { return filepath.Join(filepath.Dir(a.root), "podstead.log") }

func (a *agent) start() {
	a.t.Helper()
	a.spawn()
	until(a.t, "the agent answers", func() error {
		if code, out := a.command("get", "sources"); code != 0 {
			return errors.New(out)
		}
		return nil
	})
}

// spawn starts the agent and returns at once.
func (a *agent) spawn(flags ...string) {
	a.t.Helper()
	process, err := rig.Start(exec.Command(program, append([]string{"run", "--pod-manifest-path", a.manifests, "--root-dir", a.root,
		"--hostname-override", a.node, "--docker-endpoint", "unix://" + a.engine.Socket}, flags...)...), a.logFile())
	must(a.t, err)
	a.process = process
}

// stop ends the agent as an init system does: it has 2 s, whatever hangs.
func (a *agent) stop() {
	a.t.Helper()
	if took, err := a.end(syscall.SIGTERM); err != nil || took > 2*time.Second {
		a.t.Errorf("the agent ended after %s: %v", took, err)
	}
}

// kill is kill -9.
func (a *agent) kill() {
	a.t.Helper()
	_, _ = a.end(syscall.SIGKILL) // by that signal, if not before
}

func (a *agent) end(s syscall.Signal) (took time.Duration, err error) {
	a.t.Helper()
	took, err = a.process.End(s, patience)
	select {
	case <-a.process.Ended():
		a.process = nil
	default:
		a.t.Fatal(err)
	}
	return took, err
}

// works fails the test when the agent has ended and was not told to.
func (a *agent) works() {
	a.t.Helper()
	select {
	case <-a.process.Ended():
		err := a.process.Err()
		a.process = nil
		a.t.Fatalf("somebody has ended the agent, or it has itself: %v", err)
	default:
	}
}

// command runs another podstead command against the agent.
func (a *agent) command(args ...string) (code int, out string) {
	cmd := exec.Command(program, append(args, "--root-dir", a.root)...)
	text, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		a.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// health is what `podstead status -o json` tells.
type health struct {
	Agent struct {
		Engine struct{ Error string }
	}
	Pods     []v1.Pod
	Problems []string
}

func (a *agent) status() (code int, h health) {
	a.t.Helper()
	code, out := a.command("status", "-o", "json")
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&h); err != nil {
		a.t.Fatalf("podstead status: exit %d: %v\n%s", code, err, out)
	}
	return code, h
}

// seesEngineAway asks once for the status: it must be honest at the first time.
func (a *agent) seesEngineAway() {
	a.t.Helper()
	began := time.Now()
	code, h := a.status()
	if code != 1 || h.Agent.Engine.Error == "" {
		a.t.Errorf("status while the engine is away, after %s: exit %d, engine %q, problems %v", time.Since(began), code, h.Agent.Engine.Error, h.Problems)
	}
	if took := time.Since(began); took > 5*time.Second {
		a.t.Errorf("status took %s while the engine was away", took)
	}
}

// put writes a manifest as careful tools do: whole, by rename.
func (a *agent) put(name, text string) {
	a.t.Helper()
	hidden := filepath.Join(a.manifests, "."+name+".new")
	must(a.t, os.WriteFile(hidden, []byte(text), 0o600))
	must(a.t, os.Rename(hidden, a.path(name)))
}

// drop takes a manifest away.
func (a *agent) drop(name string) {
	a.t.Helper()
	must(a.t, os.Remove(a.path(name)))
}

func (a *agent) path(name string) string { return filepath.Join(a.manifests, name+".yaml") }
