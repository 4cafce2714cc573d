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

// patience is how long one replacement may take on a busy machine.
const patience = 2 * time.Minute

// agent is a podstead of its own, with one pod.
type agent struct {
	dir     string
	node    string
	image   string
	engine  *rig.Engine
	local   *rig.Engine // podstead's own socket
	process *rig.Process
}

// newAgent makes the folders and starts the agent; the caller must end it.
func newAgent(ctx context.Context, o options) (*agent, error) {
	dir, err := os.MkdirTemp("", "podstead-soak-")
	if err != nil {
		return nil, err
	}
	a := &agent{
		dir: dir, node: fmt.Sprintf("soak-%d", os.Getpid()), image: o.image,
		engine: rig.NewEngine(o.docker), local: rig.NewEngine(filepath.Join(dir, "root", "run", "podstead.sock")),
	}
	for _, d := range []string{a.root(), a.manifests()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return a, err
		}
	}
	cmd := exec.Command(o.podstead, "run", "--pod-manifest-path", a.manifests(), "--root-dir", a.root(),
		"--hostname-override", a.node, "--docker-endpoint", "unix://"+o.docker, "--log-level", "warn")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ^C is the soak's, which ends the agent itself
	if a.process, err = rig.Start(cmd, filepath.Join(dir, "podstead.log")); err != nil {
		return a, err
	}
	return a, a.until(ctx, func() error { return a.local.Call(ctx, "GET", "/healthz", nil, nil) })
}

func (a *agent) root() string      { return filepath.Join(a.dir, "root") }
func (a *agent) manifests() string { return filepath.Join(a.dir, "manifests") }

func (a *agent) until(ctx context.Context, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return a.process.Until(ctx, 20*time.Millisecond, ask)
}

// end removes the pod, and then all that is left of the agent. What the agent did
// not remove itself is an error.
func (a *agent) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var err error
	if a.process != nil {
		err = errors.Join(os.RemoveAll(filepath.Join(a.manifests(), "pod.yaml")), a.until(ctx, func() error { return a.nothingLeft(ctx) }))
		_, ended := a.process.End(syscall.SIGTERM, patience)
		err = errors.Join(err, ended)
	}
	boxes, listed := a.engine.PS(ctx, a.node)
	err = errors.Join(err, listed)
	for _, b := range boxes {
		err = errors.Join(err, a.engine.Remove(ctx, b.ID))
	}
	return errors.Join(err, rig.RemoveRunDir(a.root()), os.RemoveAll(a.dir))
}

func (a *agent) nothingLeft(ctx context.Context) error {
	boxes, err := a.engine.PS(ctx, a.node)
	if err == nil && len(boxes) > 0 {
		err = fmt.Errorf("left on the engine: %v", boxes)
	}
	left, _ := filepath.Glob(filepath.Join(a.root(), "pods", "*")) // the pattern is good
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("left on disk: %v", left)
	}
	return err
}

// replace puts another version of the pod in place and returns when that alone
// runs. Each wait asks for the status, as a user who looks on does.
func (a *agent) replace(ctx context.Context, version int, asked *int) error {
	hidden := filepath.Join(a.manifests(), ".pod.yaml.new")
	if err := os.WriteFile(hidden, a.manifest(version), 0o600); err != nil {
		return err
	}
	if err := os.Rename(hidden, filepath.Join(a.manifests(), "pod.yaml")); err != nil {
		return err
	}
	return a.until(ctx, func() error {
		pods, err := a.status(ctx)
		*asked++
		switch {
		case err != nil:
			return err
		case len(pods) != 1 || !pods[0].runs(version):
			return fmt.Errorf("version %d does not run alone: %+v", version, pods)
		}
		return nil
	})
}

// shown is what is read of a pod that podstead shows.
type shown struct {
	Spec   struct{ Hostname string }
	Status struct {
		Phase             string
		ContainerStatuses []struct{ Ready bool }
	}
}

func hostname(version int) string { return fmt.Sprint("v", version) }

func (s shown) runs(version int) bool {
	of := s.Status.ContainerStatuses
	return s.Spec.Hostname == hostname(version) && s.Status.Phase == "Running" && len(of) == 1 && of[0].Ready
}

// status is what `podstead status` and `podstead get pods` ask for.
func (a *agent) status(ctx context.Context) ([]shown, error) {
	var list struct{ Items []shown }
	if err := a.local.Call(ctx, "GET", "/podstead/v1/status", nil, nil); err != nil {
		return nil, err
	}
	return list.Items, a.local.Call(ctx, "GET", "/pods", nil, &list)
}

// manifest has of everything that podstead keeps something of: a disk volume, a
// ConfigMap, a Secret.
func (a *agent) manifest(version int) []byte {
	return []byte(strings.NewReplacer("VERSION", hostname(version), "IMAGE", a.image).Replace(`apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {version: VERSION}
---
apiVersion: v1
kind: Secret
metadata: {name: pass}
stringData: {word: VERSION}
---
apiVersion: v1
kind: Pod
metadata: {name: pod}
spec:
  hostname: VERSION
  terminationGracePeriodSeconds: 5
  containers:
  - name: app
    image: IMAGE
    imagePullPolicy: Never
    command: [sh, -c, "trap exit TERM; sleep 86400 & wait"]
    volumeMounts:
    - {name: data, mountPath: /data}
    - {name: conf, mountPath: /conf}
    - {name: pass, mountPath: /pass}
  volumes:
  - name: data
    emptyDir: {}
  - name: conf
    configMap: {name: conf}
  - name: pass
    secret: {secretName: pass}
`))
}
