//go:build e2e

package engine

import (
	"errors"

	"github.com/podstead/podstead/test/rig"
)

// transition is a change that a pod or its agent goes through, in the middle of
// which a fault strikes. What runs in the end is what would run without it.
type transition struct {
	name          string
	before, after web // their version is 0 for none
	port          bool
	change        func(s *stage) // puts or drops the manifest, unless something else is meant
	moments       []moment
	restarts      int            // of a container, that belong to it
	complete      func(s *stage) // done once the fault is over, to let it come to its end
	once          bool           // it is a run-once, not an agent, that the fault meets
}

// moment is where in a transition a fault strikes. await returns then.
type moment struct {
	name  string
	await func(s *stage)
}

// on is the moment at which the engine tells of an event.
func on(name string, when func(s *stage) point) moment {
	return moment{name, func(s *stage) { s.await(name, when(s)) }}
}

// any is a moment in the life of any pod, new of one that was not there before,
// old of the one that was.
func anyPod(action, container string) func(*stage) point {
	return func(*stage) point { return at(action, container) }
}

func newPod(action, container string) func(*stage) point {
	return func(s *stage) point { return at(action, container).notOf(s.old) }
}

func oldPod(action, container string) func(*stage) point {
	return func(s *stage) point { return at(action, container).of(s.old) }
}

// transitions are what faults are tried on. A replacement that shares a host port
// and one that does not take different ways. No fault strikes while the engine
// publishes a port: killed then, a dockerd with live-restore holds that port in
// its next life, for nobody, until it is started once more.
func transitions() []transition {
	one, two, three := web{name: "web", version: 1}, web{name: "web", version: 2}, web{name: "web", version: 3}
	with := func(conf string) web { return web{name: "web", version: 1, conf: conf} }
	return []transition{
		{name: "start", after: one, moments: []moment{
			on("sandbox created", anyPod("create", rig.Pause)),
		}},
		{name: "start with a port", after: one, port: true, moments: []moment{
			on("init container runs", anyPod("start", initial)),
			on("first container runs", anyPod("start", app)),
		}},
		{name: "replacement", before: one, after: two, moments: []moment{
			on("successor's sandbox runs", newPod("start", rig.Pause)),
			on("successor runs", newPod("start", app)),
		}},
		{name: "replacement on one port", before: one, after: two, port: true, moments: []moment{
			on("successor is created", newPod("create", site)),
			on("predecessor is told to end", oldPod("kill", site)),
		}},
		{name: "removal", before: one, port: true, moments: []moment{
			on("it is told to end", oldPod("kill", app)),
			on("it has ended", oldPod("die", app)),
		}},
		{name: "restart after a crash", before: one, after: one, restarts: 1,
			change: func(s *stage) { s.a.crash(s.before, app) },
			moments: []moment{
				on("it has crashed", oldPod("die", app)),
				on("it runs again", oldPod("start", app)),
			}},
		{name: "restart for a new ConfigMap", before: with("one"), after: with("two"), restarts: 1, moments: []moment{
			on("it is told to end", oldPod("kill", app)),
			on("it has ended", oldPod("die", app)),
		}},
		{name: "start of the agent", before: one, after: one,
			change:  func(s *stage) { s.a.stop(); s.a.start() },
			moments: []moment{{"it answers", func(*stage) {}}}},
		{name: "start without an image", after: three, complete: func(s *stage) {
			s.d.docker(nil, "docker", "tag", image1, image3)
			s.d.t.Cleanup(func() { s.d.docker(nil, "docker", "rmi", image3) })
		}, moments: []moment{{"it says what is missing", func(s *stage) {
			until(s.a.t, "the image is missed", func() error { return s.a.complains("web", image3) })
		}}}},
		{name: "run once", after: one, once: true, change: func(s *stage) {
			s.a.stop()
			s.a.put("web", s.after.manifest(s.a))
			s.a.spawn("--runonce")
		}, complete: func(s *stage) { s.a.runsOnce(); s.a.start() }, moments: []moment{
			on("init container runs", anyPod("start", initial)),
			on("first container runs", anyPod("start", app)),
		}},
	}
}

// image3 is not there before it is called for.
const image3 = "podstead-test/busybox:3"

// runsOnce waits until a run-once ends well, and starts it again when it does not.
func (a *agent) runsOnce() {
	a.t.Helper()
	until(a.t, "a run-once ends well", func() error {
		if a.process == nil {
			a.spawn("--runonce")
		}
		select {
		case <-a.process.Ended():
		default:
			return errors.New("it runs")
		}
		err := a.process.Err()
		a.process = nil
		return err
	})
}
