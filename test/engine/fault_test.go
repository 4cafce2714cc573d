//go:build e2e

package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/podstead/podstead/test/rig"
)

// fault is what is done to the engine, to the agent, or behind their backs. It
// ends with both at work again.
type fault struct {
	name     string
	strike   func(s *stage)
	restarts int  // of a container, that it may bring about
	disk     bool // the root-dir needs a file system of its own
	daemon   bool // it makes no sense with a run-once
}

// engineFaults are those of an engine whose containers end with it.
func engineFaults() []fault {
	return []fault{
		{name: "engine stopped", restarts: 1, strike: func(s *stage) { s.d.terminate(); s.away(); s.d.up() }},
		{name: "engine restarted", restarts: 1, strike: func(s *stage) { s.d.terminate(); s.d.up() }},
		{name: "engine killed", restarts: 1, strike: func(s *stage) { s.d.kill(); s.away(); s.d.up() }},
		{name: "engine hung", strike: func(s *stage) { s.d.hang(); s.away(); s.d.resume() }},
		{name: "engine and agent killed", restarts: 1, strike: func(s *stage) { s.d.kill(); s.killAgent(); s.d.up() }},
	}
}

// liveFaults are those of an engine with live-restore, whose containers run on.
func liveFaults() []fault {
	return []fault{
		{name: "engine with live-restore restarted", strike: func(s *stage) { s.d.terminate(); s.away(); s.d.up() }},
		{name: "engine with live-restore killed", strike: func(s *stage) { s.d.kill(); s.away(); s.d.up() }},
		{name: "engine with live-restore and agent killed", strike: func(s *stage) { s.d.kill(); s.killAgent(); s.d.up() }},
	}
}

// otherFaults leave the engine alone.
func otherFaults() []fault {
	return []fault{
		{name: "agent killed", strike: func(s *stage) { s.killAgent() }},
		{name: "agent hung", restarts: 1, strike: func(s *stage) {
			must(s.a.t, s.a.process.Signal(syscall.SIGSTOP))
			s.byHand(app, s.kill) // which it does not see
			must(s.a.t, s.a.process.Signal(syscall.SIGCONT))
		}},
		{name: "container killed", restarts: 1, strike: func(s *stage) { s.byHand(app, s.kill) }},
		{name: "container removed", restarts: 1, strike: func(s *stage) { s.byHand(app, s.remove) }},
		{name: "sandbox killed", restarts: 1, strike: func(s *stage) { s.byHand(rig.Pause, s.kill) }},
		{name: "sandbox removed", restarts: 1, strike: func(s *stage) { s.byHand(rig.Pause, s.remove) }},
		{name: "containers pruned", strike: func(s *stage) { s.d.docker(nil, "docker", "container", "prune", "-f") }},
		{name: "disk full", disk: true, strike: func(s *stage) {
			fill(s.a.t, s.a.root)
			s.killAgent()
			must(s.a.t, os.Remove(filler(s.a.root)))
		}},
		{name: "source away", daemon: true, strike: func(s *stage) {
			gone := s.a.manifests + ".gone"
			must(s.a.t, os.Rename(s.a.manifests, gone))
			until(s.a.t, "the source is missed", func() error {
				if code, _ := s.a.status(); code == 0 {
					return errors.New("all is well")
				}
				return nil
			})
			must(s.a.t, os.Rename(gone, s.a.manifests))
		}},
	}
}

// stage is where one fault strikes in one transition.
type stage struct {
	a             *agent
	d             *dockerd
	before, after web
	once          bool
	old           string // UID of the pod that ran before
	await         func(what string, p point)
}

// newStage starts an agent and what runs before.
func newStage(t *testing.T, d *dockerd, f fault, tr transition) *stage {
	t.Helper()
	root := ""
	if f.disk {
		root = filepath.Join(t.TempDir(), "root")
		must(t, os.Mkdir(root, 0o700))
		must(t, unix.Mount("tmpfs", root, "tmpfs", 0, "size=1m,mode=0700"))
		t.Cleanup(func() { must(t, unix.Unmount(root, 0)) })
	}
	s := &stage{a: newAgent(t, d), d: d, before: tr.before, after: tr.after, once: tr.once}
	if f.disk {
		s.a.root = root
	}
	if tr.port {
		s.before.port = freePort(t)
		s.after.port = s.before.port
	}
	s.a.start()
	if s.before.version != 0 {
		s.a.put("web", s.before.manifest(s.a))
		s.old = string(s.a.settles("the pod runs", s.before)["web"].UID)
	}
	s.await = d.watch(t, s.a.node)
	return s
}

// play lets the transition come to its end, with a fault on the way.
func (s *stage) play(f fault, tr transition, m moment) {
	s.a.t.Helper()
	switch {
	case tr.change != nil:
		tr.change(s)
	case s.after.version != 0:
		s.a.put("web", s.after.manifest(s.a))
	default:
		s.a.drop("web")
	}
	m.await(s)
	f.strike(s)
	if tr.complete != nil {
		tr.complete(s)
	}
	if s.after.version == 0 {
		s.a.settles("the pod is gone")
	} else if p, most := s.a.settles("the pod runs", s.after)["web"], tr.restarts+f.restarts; restarts(p) > most {
		s.a.t.Errorf("%d restarts, want at most %d", restarts(p), most)
	}
	s.a.finish()
}

// away looks that an agent says so while its engine does not answer.
func (s *stage) away() {
	if !s.once {
		s.a.seesEngineAway()
	}
}

// killAgent is kill -9, and a new life.
func (s *stage) killAgent() {
	s.a.t.Helper()
	s.a.kill()
	if s.once {
		s.a.spawn("--runonce")
	} else {
		s.a.start()
	}
}

// byHand does something to the node's newest container of a name, if there is one
// at that moment. That it is gone before is nobody's fault.
func (s *stage) byHand(container string, do func(id string)) {
	s.a.t.Helper()
	boxes, err := s.d.ps(s.a.node)
	must(s.a.t, err)
	if i := slices.IndexFunc(boxes, func(b rig.Box) bool { return b.Container() == container }); i >= 0 {
		do(boxes[i].ID)
	}
}

func (s *stage) kill(id string)   { _ = s.d.Kill(context.Background(), id, "KILL") }
func (s *stage) remove(id string) { _ = s.d.client.remove(id) }
