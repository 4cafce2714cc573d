package plan

import (
	"time"

	"github.com/podstead/podstead/runtime"
)

// The kubelet's words for a container whose record vanished while it ran.
const (
	reasonStatusUnknown = "ContainerStatusUnknown"
	messageVanished     = "The container could not be located when the pod was deleted.  The container used to be Running"
	exitUnknown         = 137
	reasonOOMKilled     = "OOMKilled"
)

// observe takes in the instances of one container, and returns with it those
// that ended since.
func (c ContainerHistory) observe(name string, obs runtime.Pod, now Moment) (ContainerHistory, []Ended) {
	instances := oldestFirst(name, obs)
	var ends []Ended
	note := func(e Ended) {
		c = c.ended(e, withSandbox(e, obs), now)
		ends = append(ends, *c.Ended)
	}
	if c.Running != "" && !contains(instances, c.Running) {
		note(c.vanished(name, now))
	}
	for _, i := range instances {
		if i.State == runtime.StateExited && c.isNews(i) {
			note(endOf(i))
		}
	}
	return c.current(instances), ends
}

// current takes over which instance is the newest and which one runs. One in an
// unknown state, on its way to being removed, is not over until it is gone.
func (c ContainerHistory) current(instances []runtime.Container) ContainerHistory {
	last := c.Running
	c.Running = ""
	at := c.RunningAt
	for _, i := range instances {
		if i.Attempt >= c.Attempt {
			c.Attempt, c.SandboxID = i.Attempt, i.SandboxID
		}
		switch {
		case i.State == runtime.StateRunning:
			c.Running, at = i.ID, i.StartedAt
		case i.State == runtime.StateUnknown && i.ID == last:
			c.Running = last
		}
	}
	if !at.Equal(c.RunningAt) {
		c.RunningAt = at
	}
	return c
}

// isNews reports that the end of an instance has not been taken in. An instance
// that somebody started again by hand ends once more.
func (c ContainerHistory) isNews(i runtime.Container) bool {
	return c.Ended == nil || i.Attempt > c.Ended.Attempt || i.ID == c.Running
}

// together is how far apart the ends of a container and of its sandbox may be and
// still have one cause.
const together = 2 * time.Second

// withSandbox reports that an instance went down with its sandbox, or after it:
// with the machine, the engine or the pause process. That is no crash of its own.
func withSandbox(e Ended, obs runtime.Pod) bool {
	for _, s := range obs.Sandboxes {
		if s.ID == e.SandboxID {
			return s.State == runtime.StateExited && !e.FinishedAt.Before(s.FinishedAt.Add(-together))
		}
	}
	return e.SandboxID != ""
}

// ended makes e the newest end and sets the delay before the next restart: one
// that went down with its sandbox adds nothing to it.
func (c ContainerHistory) ended(e Ended, outage bool, now Moment) ContainerHistory {
	if e.FinishedAt.IsZero() {
		e.FinishedAt = now.Wall
	}
	ago := min(max(now.Wall.Sub(e.FinishedAt), 0), maxBackOff)
	if c.Ended == nil {
		e.At = now.Add(-ago)
		c.BackOff = 0
	} else {
		// It began after the one before it had ended, so what the wall clock says
		// of its life cannot be more than the boot clock allows.
		ago = min(ago, now.After(c.Ended.At, maxBackOff))
		e.At = now.Add(-ago)
		ran := min(e.FinishedAt.Sub(e.StartedAt), e.At.After(c.Ended.At, 2*forgiven))
		if next := backOff(c.BackOff).next(ran); next == 0 || !outage && !c.restarts(e) {
			c.BackOff = time.Duration(next)
		}
	}
	c.Previous, c.Ended = c.Ended, &e
	if c.Running == e.ID {
		c.Running = ""
	}
	return c
}

// vanished is the end of the instance that was running when last seen.
func (c ContainerHistory) vanished(name string, now Moment) Ended {
	return Ended{
		Container: name, ID: c.Running, Attempt: c.Attempt, SandboxID: c.SandboxID,
		StartedAt: c.RunningAt, FinishedAt: now.Wall,
		ExitCode: exitUnknown, Reason: reasonStatusUnknown, Message: messageVanished,
	}
}

func endOf(i runtime.Container) Ended {
	return Ended{
		Container: i.Name, ID: i.ID, Attempt: i.Attempt, SandboxID: i.SandboxID,
		StartedAt: i.StartedAt, FinishedAt: i.FinishedAt,
		ExitCode: i.ExitCode, Reason: i.Reason, Message: i.Message,
	}
}

// failed reports that an init container must run again: an OOM kill is a failure
// whatever the exit code.
func (e Ended) failed() bool { return e.ExitCode != 0 || e.Reason == reasonOOMKilled }

func oldestFirst(name string, obs runtime.Pod) []runtime.Container {
	var all []runtime.Container
	for i := len(obs.Containers) - 1; i >= 0; i-- {
		if obs.Containers[i].Name == name {
			all = append(all, obs.Containers[i])
		}
	}
	return all
}

func contains(instances []runtime.Container, id string) bool {
	for _, i := range instances {
		if i.ID == id {
			return true
		}
	}
	return false
}
