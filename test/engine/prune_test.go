//go:build e2e

package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// Pruning takes nothing from pods that run, and what it takes from those that
// are to come is made again.
func TestPrune(t *testing.T) {
	t.Parallel()
	d := newDockerd(t)
	a := newAgent(t, d)
	stays, comes := web{name: "stays", version: 1, port: freePort(t)}, web{name: "comes", version: 1}
	// Somebody else's container keeps the image, which no registry has.
	keeper := strings.TrimSpace(string(d.docker(nil, "docker", "run", "-d", "--net", "none", image1, "sleep", "1000000")))

	// On an empty engine.
	a.start()
	a.put("stays", stays.manifest(a))
	before := a.settles("the pod runs", stays)

	d.docker(nil, "docker", "network", "prune", "-f")
	d.docker(nil, "docker", "system", "prune", "-af")
	a.put("comes", comes.manifest(a))
	after := a.settles("both pods run", stays, comes)
	if !maps.Equal(containerIDs(before["stays"]), containerIDs(after["stays"])) || restarts(after["stays"]) > 0 {
		t.Errorf("the pod has new containers: %v, before %v", containerIDs(after["stays"]), containerIDs(before["stays"]))
	}

	// With nothing that runs, the pod network and the sandboxes' image go too.
	a.drop("stays")
	a.drop("comes")
	a.settles("nothing runs")
	d.docker(nil, "docker", "system", "prune", "-af")
	if images := d.docker(nil, "docker", "images", "-q", "podstead/pause"); len(images) > 0 {
		t.Fatalf("the sandboxes' image is still there: %s", images)
	}
	a.put("stays", stays.manifest(a))
	a.settles("the pod runs again", stays)
	a.finish()
	must(t, d.remove(keeper))
}

// A prune while the old pod is ending takes the successor's containers, which
// are created and do not run: they are made again.
func TestPruneInAReplacement(t *testing.T) {
	t.Parallel()
	d := newDockerd(t)
	a := newAgent(t, d)
	port := freePort(t)
	before, after := web{name: "web", version: 1, port: port}, web{name: "web", version: 2, port: port}
	a.start()
	a.put("web", before.manifest(a))
	old := string(a.settles("the pod runs", before)["web"].UID)
	await := d.watch(t, a.node)
	a.put("web", after.manifest(a))
	await("the predecessor is told to end", at("kill", site).of(old))
	d.docker(nil, "docker", "container", "prune", "-f")
	a.settles("the successor runs", after)
	a.finish()
}

// What a prune takes of what has ended is remembered by the record.
func TestPruneOfHistory(t *testing.T) {
	t.Parallel()
	d := newDockerd(t)
	a := newAgent(t, d)
	w := web{name: "web", version: 1}
	a.start()
	a.put("web", w.manifest(a))
	a.settles("the pod runs", w)
	a.put("job", a.job())
	until(t, "the job has succeeded", func() error { return a.phase("job", v1.PodSucceeded) })

	a.crash(w, app)
	until(t, "it is restarted", func() error { return a.restarted(w, app, 1) })
	d.docker(nil, "docker", "container", "prune", "-f")
	a.kill()
	a.start()
	until(t, "the restart is remembered", func() error { return a.restarted(w, app, 1) })
	until(t, "the job is remembered", func() error { return a.phase("job", v1.PodSucceeded) })
	job, err := a.shown("job")
	must(t, err)
	boxes, err := d.ps(a.node)
	must(t, err)
	if slices.ContainsFunc(boxes, func(b rig.Box) bool { return b.UID() == string(job.UID) }) {
		t.Errorf("the job has run again: %v", boxes)
	}
	a.finish()
}

// job is a pod that ends by itself.
func (a *agent) job() string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata:
  name: job
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: %s
    command: ["true"]
`, image1)
}

// shown is what podstead tells of a pod, by its name as written.
func (a *agent) shown(name string) (v1.Pod, error) {
	_, h := a.status()
	for _, p := range h.Pods {
		if p.Name == name+"-"+a.node {
			return p, nil
		}
	}
	return v1.Pod{}, errors.New(name + " is not shown")
}

func (a *agent) phase(name string, want v1.PodPhase) error {
	p, err := a.shown(name)
	if err == nil && p.Status.Phase != want {
		err = fmt.Errorf("%s is %s", name, p.Status.Phase)
	}
	return err
}

// crash kills a container's main process.
func (a *agent) crash(w web, container string) {
	a.t.Helper()
	pids := a.pids()[w.mark(a, container)]
	if len(pids) != 1 {
		a.t.Fatalf("processes of %s: %v", container, pids)
	}
	must(a.t, syscall.Kill(pids[0], syscall.SIGKILL))
}

// restarted is nil once a container runs for the n-th time again.
func (a *agent) restarted(w web, container string, n int32) error {
	p, err := a.shown(w.name)
	if err != nil {
		return err
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == container && c.RestartCount == n && c.State.Running != nil {
			return nil
		}
	}
	return fmt.Errorf("containers %+v", p.Status.ContainerStatuses)
}
