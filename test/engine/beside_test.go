//go:build e2e

package engine

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// Somebody frees the disk of all that is not in use at that moment: a pod that runs
// does not notice; one that waits between two attempts has lost its dead containers
// and its image, says so, and goes on from its count when the image is back.
func TestPruneOfEverything(t *testing.T) {
	t.Parallel()
	d := newDockerd(t)
	a := newAgent(t, d)
	stays := web{name: "stays", version: 1, port: freePort(t)}
	a.start()
	a.put("stays", stays.manifest(a))
	before := a.settles("the pod runs", stays)
	const nowhere = "127.0.0.1:1/busybox:2" // a registry that nobody runs
	d.docker(nil, "docker", "tag", image2, nowhere)
	a.put("crashes", a.crashing("crashes", image2, "Never"))
	a.put("pulls", a.crashing("pulls", nowhere, "IfNotPresent"))
	for _, name := range []string{"crashes", "pulls"} {
		until(t, name+" waits between two attempts", func() error { return a.waits(name, "CrashLoopBackOff", 2) })
	}

	for range 2 {
		d.docker(nil, "docker", "system", "prune", "-af", "--volumes")
		d.docker(nil, "docker", "container", "prune", "-f")
		d.docker(nil, "docker", "network", "prune", "-f")
	}
	if left := d.docker(nil, "docker", "images", "-q", image2); len(left) > 0 {
		t.Fatalf("the image is still there: %s", left)
	}
	until(t, "one says that it may not pull", func() error { return a.waits("crashes", "ErrImageNeverPull", 2) })
	until(t, "one says that it cannot pull", func() error { return a.waits("pulls", "RegistryUnavailable", 2) })
	d.loadImages()
	d.docker(nil, "docker", "tag", image2, nowhere)
	for _, name := range []string{"crashes", "pulls"} {
		until(t, name+" has been restarted from its count", func() error { return a.waits(name, "CrashLoopBackOff", 3) })
	}
	a.drop("crashes")
	a.drop("pulls")
	after := a.settles("the pod runs on", stays)
	if !maps.Equal(containerIDs(before["stays"]), containerIDs(after["stays"])) || restarts(after["stays"]) > 0 {
		t.Errorf("the pod has new containers: %v, before %v", containerIDs(after["stays"]), containerIDs(before["stays"]))
	}
	a.finish()
}

// A network of the pod network's name, which bears no label of ours, is somebody
// else's: pods run on another.
func TestANetworkOfOurName(t *testing.T) {
	t.Parallel()
	d := newDockerd(t)
	foreign := strings.TrimSpace(string(d.docker(nil, "docker", "network", "create", "podstead")))
	a := newAgent(t, d)
	w := web{name: "web", version: 1, port: freePort(t)}
	a.start()
	a.put("web", w.manifest(a))
	a.settles("the pod runs", w)
	if in := d.docker(nil, "docker", "network", "inspect", "-f", "{{len .Containers}}", foreign); strings.TrimSpace(string(in)) != "0" {
		t.Errorf("%s containers are in the other's network", in)
	}
	a.finish()
	d.docker(nil, "docker", "network", "rm", foreign)
}

// crashing is a pod that fails at once.
func (a *agent) crashing(name, image, policy string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata:
  name: %s
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: %s
    imagePullPolicy: %s
    command: ["false"]
`, name, image, policy)
}

// waits is nil while a pod's container waits for this reason and has been restarted
// at least so often.
func (a *agent) waits(name, reason string, restarts int32) error {
	p, err := a.shown(name)
	if err != nil {
		return err
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Waiting != nil && c.State.Waiting.Reason == reason && c.RestartCount >= restarts {
			return nil
		}
	}
	return fmt.Errorf("containers %+v", p.Status.ContainerStatuses)
}
