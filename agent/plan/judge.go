package plan

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// reasonCrashLoop is the waiting reason of a container that crashed too often.
const reasonCrashLoop = "CrashLoopBackOff"

// next is what happens to one container when its turn comes.
type next int

const (
	rest   next = iota // it runs, or has run to its end
	create             // create it, then start it
	start              // it exists where it should: start it
	hold               // not now
)

// stand is where one container stands. What is to be done carries the reason,
// what holds it back the words for it.
type stand struct {
	container *v1.Container
	init      bool
	next      next
	id        string // start: of the instance
	attempt   int    // create: of the instance to be
	reason    Reason
	message   string
	waiting   Waiting
	due       time.Duration // hold: until it may go on, 0 when something else will tell
}

// judge looks at one container for itself, whatever its turn.
func (p *planner) judge(c *v1.Container, init bool) stand {
	s := stand{container: c, init: init, waiting: Waiting{Reason: p.notYet()}}
	newest, ok := p.Observed.Newest(c.Name)
	switch {
	case ok && p.runs(newest):
		return s
	case ok && (newest.State == runtime.StateUnknown || p.anyRuns(c.Name)):
		s.next = hold // until that one is gone, or stopped
		return s
	case ok && newest.State == runtime.StateCreated && p.inBox(newest) && !p.outdated(newest):
		s.next, s.id, s.attempt = start, newest.ID, newest.Attempt
		s.reason, s.message = p.whyStart(p.History.Containers[c.Name].Ended)
	case !init && !p.again(c.Name):
		return s
	default:
		s.next, s.attempt = create, p.nextAttempt(c.Name)
		s.reason, s.message = p.whyMake(c.Name, init)
	}
	return p.held(s)
}

// anyRuns reports that an instance runs, be it in the wrong place.
func (p *planner) anyRuns(name string) bool {
	return slices.ContainsFunc(p.Observed.Containers, func(c runtime.Container) bool {
		return c.Name == name && c.State == runtime.StateRunning
	})
}

// again reports whether the restart policy lets a regular container run (once
// more), as the kubelet's ShouldContainerBeRestarted.
func (p *planner) again(name string) bool {
	e := p.endOf(name)
	switch {
	case e == nil, p.restarting(name):
		return true
	case p.Pod.Spec.RestartPolicy == v1.RestartPolicyNever:
		return false
	case p.Pod.Spec.RestartPolicy == v1.RestartPolicyOnFailure:
		return e.ExitCode != 0
	}
	return true
}

// nextAttempt counts the instances that ran. One that was made and never
// started gives its number back: it is no restart.
func (p *planner) nextAttempt(name string) int {
	h := p.History.Containers[name]
	if h.Ended != nil && h.Ended.Attempt >= h.Attempt {
		return h.Ended.Attempt + 1
	}
	return h.Attempt
}

// held turns a stand into one that waits, if something keeps it from going on:
// its crash back-off, a failure that is not to be retried yet, its image.
func (p *planner) held(s stand) stand {
	h := p.History.Containers[s.container.Name]
	if h.Ended != nil && !p.forgiven(s.container.Name) {
		delay := backOff(h.BackOff).within(p.MaxRestartPeriod)
		if left := delay.left(h.Ended.At, p.Now); left > 0 {
			return s.held(p.crashLoop(s.container.Name, time.Duration(delay)), left)
		}
	}
	if f, ok := p.Failures[s.container.Name]; ok {
		if left := f.Retry.After(p.Now, maxBackOff); left > 0 {
			return s.held(f.Waiting, left)
		}
		s.waiting = f.Waiting
	}
	if image := p.Images[s.container.Name]; s.next == create && !image.Ready {
		return s.held(image.Waiting, 0)
	}
	return s
}

func (s stand) held(w Waiting, due time.Duration) stand {
	s.next, s.due = hold, due
	if w.Reason != "" {
		s.waiting = w
	}
	return s
}

// whyStart is the reason to start what was made before; ended is how the
// instance before it ended, if there was one.
func (p *planner) whyStart(ended *Ended) (Reason, string) {
	switch {
	case p.Gate < GateRun:
		return ReasonPrepare, "made ready beside its predecessor"
	case p.Prepared && ended != nil:
		return ReasonContainerExited, ended.words()
	case p.Prepared:
		return ReasonNew, "made ready before"
	}
	return ReasonResume, "created before, never started"
}

// whyMake is the reason to make an instance.
func (p *planner) whyMake(name string, init bool) (Reason, string) {
	e := p.History.Containers[name].Ended
	newest, _ := p.Observed.Newest(name)
	switch {
	case p.outdated(newest):
		return ReasonObjectsChanged, p.whatChanged(name)
	case e == nil && p.Gate < GateRun:
		return ReasonPrepare, "made ready beside its predecessor"
	case e == nil:
		return ReasonNew, ""
	case p.restarting(name):
		return p.History.Containers[name].Restart.why()
	case e.SandboxID != p.box.ID:
		return ReasonSandboxLost, "its sandbox is gone; it had ended with " + e.words()
	case e.Reason == reasonStatusUnknown:
		return ReasonContainerLost, "its record vanished while it ran"
	case init:
		return ReasonInitFailed, e.words()
	}
	return ReasonContainerExited, e.words()
}

// notYet is the reason of a container that waits for nothing in particular.
func (p *planner) notYet() string {
	if len(p.Pod.Spec.InitContainers) > 0 {
		return "PodInitializing"
	}
	return "ContainerCreating"
}

// crashLoop is the kubelet's wording.
func (p *planner) crashLoop(name string, delay time.Duration) Waiting {
	return Waiting{
		Reason: reasonCrashLoop,
		Message: fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
			delay, name, p.Pod.Name, p.Pod.Namespace, p.Pod.UID),
	}
}

// shortly is a duration as people say it: whole seconds from one second on.
func shortly(d time.Duration) string {
	if d >= time.Second {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}
