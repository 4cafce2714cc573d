package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// agentConfig is how one podstead is run.
type agentConfig struct {
	name   string        // of the agent's folder and node
	socket string        // of the engine or a proxy to it
	resync time.Duration // 0 for podstead's default
	// document is a Configuration with the sources beside the folder; "" for none.
	document string
	flags    []string
}

// agent is a running `podstead run` with a root-dir and a manifest folder of
// its own. The folder outlives it, so that it can be started again.
type agent struct {
	cfg       agentConfig
	binary    string
	image     string
	root      string
	manifests string
	local     *rig.Engine  // the agent's own socket, which speaks HTTP too
	process   *rig.Process // nil while none runs
}

// newAgent makes the folders; start runs it.
func (l *lab) newAgent(cfg agentConfig) (*agent, error) {
	dir := filepath.Join(l.dir, cfg.name)
	a := &agent{
		cfg: cfg, binary: l.cfg.podstead, image: l.cfg.image,
		root: filepath.Join(dir, "root"), manifests: filepath.Join(dir, "manifests"),
	}
	a.local = rig.NewEngine(filepath.Join(a.root, "run", "podstead.sock"))
	for _, d := range []string{a.root, a.manifests, filepath.Join(dir, "staging")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *agent) logFile() string { return filepath.Join(filepath.Dir(a.root), "podstead.log") }
func (a *agent) node() string    { return "bench-" + a.cfg.name }

// fullName is the name that podstead gives a pod of this node.
func (a *agent) fullName(pod string) string { return pod + "-" + a.node() }

// spawn starts the process and returns at once.
func (a *agent) spawn() error {
	args := []string{"run", "--pod-manifest-path", a.manifests, "--root-dir", a.root,
		"--hostname-override", a.node(), "--docker-endpoint", "unix://" + a.cfg.socket}
	if a.cfg.resync != 0 {
		args = append(args, "--sync-frequency", a.cfg.resync.String())
	}
	if a.cfg.document != "" {
		file := filepath.Join(filepath.Dir(a.root), "podstead.yaml")
		if err := os.WriteFile(file, []byte(a.cfg.document), 0o600); err != nil {
			return err
		}
		args = append(args, "--config", file)
	}
	cmd := exec.Command(a.binary, append(args, a.cfg.flags...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ^C is the bench's; it ends its agents itself
	process, err := rig.Start(cmd, a.logFile())
	if err != nil {
		return err
	}
	a.process = process
	return nil
}

// start runs the agent until it answers on its socket.
func (a *agent) start(ctx context.Context) error {
	if err := a.spawn(); err != nil {
		return err
	}
	return a.until(ctx, func() bool { return a.local.Call(ctx, "GET", "/healthz", nil, nil) == nil })
}

// until polls a condition while the agent lives.
func (a *agent) until(ctx context.Context, met func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	err := a.process.Until(ctx, 2*time.Millisecond, func() error {
		if !met() {
			return errNotYet
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("podstead: %w: %s", err, a.lastWords())
	}
	return err
}

var errNotYet = errors.New("not as it should be yet")

func (a *agent) lastWords() string {
	text, err := os.ReadFile(a.logFile())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], " | ")
}

// end sends the process a signal and waits for its end. Pods run on.
func (a *agent) end(s syscall.Signal) {
	if a.process == nil {
		return
	}
	_ = a.process.Signal(s) // gone already is what is wanted
	<-a.process.Ended()
	a.process = nil
}

func (a *agent) pid() int { return a.process.PID() }

// drop puts manifests into the folder as careful tools do: written elsewhere
// on the same disk, then renamed into place, all written before the first
// rename. It returns when the first rename is about to happen.
func (a *agent) drop(manifests map[string][]byte) (time.Time, error) {
	staging := filepath.Join(filepath.Dir(a.root), "staging")
	for name, text := range manifests {
		if err := os.WriteFile(filepath.Join(staging, name+".yaml"), text, 0o600); err != nil {
			return time.Time{}, err
		}
	}
	begin := time.Now()
	for name := range manifests {
		file := name + ".yaml"
		if err := os.Rename(filepath.Join(staging, file), filepath.Join(a.manifests, file)); err != nil {
			return time.Time{}, err
		}
	}
	return begin, nil
}

// dropPod drops one generation of one pod.
func (a *agent) dropPod(s shape, name string, generation int) (time.Time, error) {
	return a.drop(map[string][]byte{name: s.manifest(name, a.image, generation)})
}

// take removes manifests from the folder.
func (a *agent) take(names ...string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, os.Remove(filepath.Join(a.manifests, name+".yaml")))
	}
	return errors.Join(errs...)
}

// podList is what is read of the agent's /pods.
type podList struct {
	Items []struct {
		Metadata struct{ Name string }
		Status   struct {
			Phase             string
			ContainerStatuses []struct {
				Ready       bool
				ContainerID string
			}
		}
	}
}

// ready counts the pods that the agent shows as running with all containers ready.
func (a *agent) ready(ctx context.Context) int {
	var pods podList
	if a.local.Call(ctx, "GET", "/pods", nil, &pods) != nil {
		return 0
	}
	n := 0
	for _, p := range pods.Items {
		all := p.Status.Phase == "Running" && len(p.Status.ContainerStatuses) > 0
		for _, c := range p.Status.ContainerStatuses {
			all = all && c.Ready
		}
		if all {
			n++
		}
	}
	return n
}
