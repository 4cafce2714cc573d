//go:build e2e

package engine

import (
	"testing"

	"github.com/podstead/podstead/test/rig"
)

// transition is a change that a pod goes through: its start, its replacement,
// its removal.
type transition struct {
	name   string
	before int // version that runs before, 0 for none
	after  int // version to run after, 0 for none
	port   bool
	points []moment
}

// moment is where in a transition a fault strikes. old is the UID of the pod
// that ran before.
type moment struct {
	name string
	when func(old string) point
}

// transitions are what a fault is tried on. A replacement that shares a host
// port and one that does not take different ways. No fault strikes while the
// engine publishes a port: killed then, a dockerd with live-restore holds that
// port in its next life, for nobody, until it is started once more.
func transitions() []transition {
	any := func(p point) func(string) point { return func(string) point { return p } }
	return []transition{
		{name: "start", after: 1, points: []moment{
			{"sandbox created", any(at("create", rig.Pause))},
		}},
		{name: "start with a port", after: 1, port: true, points: []moment{
			{"init container runs", any(at("start", initial))},
			{"first container runs", any(at("start", app))},
		}},
		{name: "replacement", before: 1, after: 2, points: []moment{
			{"successor's sandbox runs", at("start", rig.Pause).notOf},
			{"successor runs", at("start", app).notOf},
		}},
		{name: "replacement on one port", before: 1, after: 2, port: true, points: []moment{
			{"successor is created", at("create", site).notOf},
			{"predecessor is told to end", at("kill", site).of},
		}},
		{name: "removal", before: 1, port: true, points: []moment{
			{"it is told to end", at("kill", app).of},
			{"it has ended", at("die", app).of},
		}},
	}
}

// fault is what is done to the engine. It ends with an engine that works again;
// away is called while it does not.
type fault struct {
	name   string
	strike func(d *dockerd, away func())
	keeps  bool // what runs, runs on
}

func TestFaults(t *testing.T) {
	t.Parallel()
	tryAll(t, newDockerd(t), []fault{
		{name: "stopped", strike: func(d *dockerd, away func()) { d.terminate(); away(); d.up() }},
		{name: "restarted", strike: func(d *dockerd, _ func()) { d.terminate(); d.up() }},
		{name: "killed", strike: func(d *dockerd, away func()) { d.kill(); away(); d.up() }},
		{name: "hung", keeps: true, strike: func(d *dockerd, away func()) { d.hang(); away(); d.resume() }},
	})
}

func TestFaultsWithLiveRestore(t *testing.T) {
	t.Parallel()
	tryAll(t, newDockerd(t, "--live-restore"), []fault{
		{name: "restarted", keeps: true, strike: func(d *dockerd, away func()) { d.terminate(); away(); d.up() }},
		{name: "killed", keeps: true, strike: func(d *dockerd, away func()) { d.kill(); away(); d.up() }},
	})
}

// tryAll strikes with every fault at every point of every transition.
func tryAll(t *testing.T, d *dockerd, faults []fault) {
	for _, f := range faults {
		for _, tr := range transitions() {
			for _, m := range tr.points {
				t.Run(f.name+"/"+tr.name+"/"+m.name, func(t *testing.T) { try(t, d.in(t), f, tr, m) })
			}
		}
	}
}

func try(t *testing.T, d *dockerd, f fault, tr transition, m moment) {
	a := newAgent(t, d)
	a.start()
	before, after := web{name: "web", version: tr.before}, web{name: "web", version: tr.after}
	if tr.port {
		before.port = freePort(t)
		after.port = before.port
	}
	old := ""
	if tr.before != 0 {
		a.put("web", before.manifest(a))
		old = string(a.settles("the pod runs", before)["web"].UID)
	}
	await := d.watch(t, a.node)
	if tr.after != 0 {
		a.put("web", after.manifest(a))
	} else {
		a.drop("web")
	}
	await(m.name, m.when(old))
	f.strike(d, a.seesEngineAway)
	if tr.after == 0 {
		a.settles("the pod is gone")
	} else if p := a.settles("the pod runs", after)["web"]; restarts(p) > f.most() {
		t.Errorf("%d restarts, want at most %d", restarts(p), f.most())
	}
	a.finish()
}

// most is how often the fault may make a container start again.
func (f fault) most() int {
	if f.keeps {
		return 0
	}
	return 1
}
