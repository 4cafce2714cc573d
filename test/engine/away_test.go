//go:build e2e

package engine

import (
	"errors"
	"maps"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// B164: an agent that starts before its engine waits for it, and says so.
func TestEngineThatComesLater(t *testing.T) {
	t.Parallel()
	d := absentDockerd(t)
	a := newAgent(t, d)
	w := web{name: "web", version: 1}
	a.put("web", w.manifest(a))
	a.start()
	a.seesEngineAway()
	until(t, "the pod says what it waits for", func() error {
		if _, out := a.command("get", "pods", "-A", "-o", "json"); !strings.Contains(out, "waiting for the container engine to answer") {
			return errors.New(out)
		}
		return nil
	})
	d.up()
	d.loadImages()
	if p := a.settles("the pod runs", w)["web"]; restarts(p) > 0 {
		t.Errorf("%d restarts", restarts(p))
	}
	a.finish()
}

// What changes while neither agent nor engine are there is made good when both
// are back, and what did not change is left alone.
func TestChangesWhileTheEngineIsAway(t *testing.T) {
	t.Parallel()
	d := newDockerd(t, "--live-restore")
	a := newAgent(t, d)
	stays, edited, goes, comes := web{name: "stays", version: 1}, web{name: "edited", version: 1}, web{name: "goes", version: 1}, web{name: "comes", version: 1}
	for _, w := range []web{stays, edited, goes} {
		a.put(w.name, w.manifest(a))
	}
	a.start()
	before := a.settles("three pods run", stays, edited, goes)

	a.kill()
	d.terminate()
	a.start()
	a.seesEngineAway()
	edited.version = 2
	a.put("edited", edited.manifest(a))
	a.put("comes", comes.manifest(a))
	a.drop("goes")
	a.seesEngineAway()
	a.stop()
	a.start()
	d.up()

	after := a.settles("the three pods of now run", stays, edited, comes)
	if !maps.Equal(containerIDs(before["stays"]), containerIDs(after["stays"])) {
		t.Errorf("a pod that did not change has new containers: %v, before %v", containerIDs(after["stays"]), containerIDs(before["stays"]))
	}
	for name, p := range after {
		if restarts(p) > 0 {
			t.Errorf("%d restarts of %s", restarts(p), name)
		}
	}
	a.finish()
}

// A hung engine hangs nothing else: the agent starts, answers and ends in time.
func TestAgentOfAHungEngine(t *testing.T) {
	t.Parallel()
	d := newDockerd(t)
	a := newAgent(t, d)
	stays, comes := web{name: "stays", version: 1}, web{name: "comes", version: 1}
	a.put("stays", stays.manifest(a))
	a.start()
	before := a.settles("the pod runs", stays)

	d.hang()
	a.seesEngineAway()
	a.stop()
	a.start()
	a.seesEngineAway()
	a.put("comes", comes.manifest(a))
	a.stop()
	a.start()
	d.resume()

	after := a.settles("both pods run", stays, comes)
	if !maps.Equal(containerIDs(before["stays"]), containerIDs(after["stays"])) {
		t.Errorf("the pod has new containers: %v, before %v", containerIDs(after["stays"]), containerIDs(before["stays"]))
	}
	a.finish()
}

// containerIDs are those of a pod's containers, by name.
func containerIDs(p v1.Pod) map[string]string {
	ids := map[string]string{}
	for _, c := range p.Status.ContainerStatuses {
		ids[c.Name] = c.ContainerID
	}
	return ids
}
