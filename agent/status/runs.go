package status

import (
	"cmp"
	"slices"
	"time"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/runtime"
)

// The kubelet's words for a container whose record vanished.
const (
	reasonStatusUnknown = "ContainerStatusUnknown"
	messageVanished     = "The container could not be located when the pod was deleted.  The container used to be Running"
	messageUnlocated    = "The container could not be located when the pod was terminated"
	exitUnknown         = 137
)

// run is one instance of a container, from the engine or from memory.
type run struct {
	id         string
	attempt    int
	image      string
	imageID    string
	state      runtime.State
	startedAt  time.Time
	finishedAt time.Time
	exitCode   int
	reason     string
	message    string
	lost       bool // it was running when last seen, and nothing tells how it ended
	gone       bool // lost, and the engine has no record of it
}

// ended reports that the run is over, lost ones included.
func (r run) ended() bool { return r.state == runtime.StateExited || r.lost }

// runsOf returns the instances known of a container, newest first: those the
// engine shows, and those that the history remembers and a prune took.
func runsOf(name string, observed runtime.Pod, h plan.ContainerHistory) []run {
	var all []run
	for _, c := range observed.Containers {
		if c.Name == name {
			all = append(all, observedRun(c, h))
		}
	}
	for _, e := range []*plan.Ended{h.Ended, h.Previous} {
		if e != nil && !known(all, e.ID) {
			all = append(all, endedRun(*e))
		}
	}
	if h.Running != "" && !known(all, h.Running) {
		all = append(all, lostRun(h, all))
	}
	slices.SortStableFunc(all, func(a, b run) int { return cmp.Compare(b.attempt, a.attempt) })
	return all
}

func known(all []run, id string) bool {
	return slices.ContainsFunc(all, func(r run) bool { return r.id == id })
}

func observedRun(c runtime.Container, h plan.ContainerHistory) run {
	r := run{
		id: c.ID, attempt: c.Attempt, image: c.Image, imageID: c.ImageID, state: c.State,
		startedAt: c.StartedAt, finishedAt: c.FinishedAt, exitCode: c.ExitCode,
		reason: c.Reason, message: c.Message,
		lost: c.State == runtime.StateUnknown && c.ID == h.Running,
	}
	// The termination message is read once, when the instance ends.
	for _, e := range []*plan.Ended{h.Ended, h.Previous} {
		if e != nil && e.ID == c.ID && e.Message != "" {
			r.message = e.Message
		}
	}
	return r
}

// endedRun is an instance of which only its end is remembered. That the end is
// unknown is how the history says that its record vanished.
func endedRun(e plan.Ended) run {
	vanished := e.Reason == reasonStatusUnknown
	return run{
		id: e.ID, attempt: e.Attempt, state: runtime.StateExited,
		startedAt: e.StartedAt, finishedAt: e.FinishedAt, exitCode: e.ExitCode,
		reason: e.Reason, message: e.Message, lost: vanished, gone: vanished,
	}
}

// lostRun is the instance last seen running, if its record vanished and the
// history has not taken that in yet. Its attempt is the newest that was made, or
// the one before if that one is known.
func lostRun(h plan.ContainerHistory, others []run) run {
	r := run{id: h.Running, attempt: h.Attempt, state: runtime.StateUnknown, startedAt: h.RunningAt, lost: true, gone: true}
	if slices.ContainsFunc(others, func(o run) bool { return o.attempt >= h.Attempt }) {
		r.attempt = h.Attempt - 1
	}
	return r
}
