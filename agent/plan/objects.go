package plan

import (
	"maps"

	"github.com/podstead/podstead/runtime"
)

// WithMade returns the history with what the given attempt of a container is
// made with. It must be remembered before the attempt is made.
func (h History) WithMade(container string, made Made) History {
	return h.with(container, func(c *ContainerHistory) { c.Made = made })
}

// WithRestart returns the history with a decided restart of a container. It must
// be remembered before the first signal.
func (h History) WithRestart(container string, restart Restart) History {
	return h.with(container, func(c *ContainerHistory) { c.Restart = &restart })
}

// with leaves the receiver as it is.
func (h History) with(container string, change func(*ContainerHistory)) History {
	next := History{SandboxAttempt: h.SandboxAttempt, Containers: maps.Clone(h.Containers)}
	if next.Containers == nil {
		next.Containers = map[string]ContainerHistory{}
	}
	c := next.Containers[container]
	change(&c)
	next.Containers[container] = c
	return next
}

// restarts reports that an instance ended because its restart was decided.
func (c ContainerHistory) restarts(e Ended) bool {
	return c.Restart != nil && c.Restart.Attempt == e.Attempt
}

// Restarting reports that an instance has ended so that the next one can take its
// place, which has not run yet: the container is not done, whatever the policy.
func (c ContainerHistory) Restarting() bool {
	return c.Running == "" && c.Ended != nil && c.restarts(*c.Ended)
}

// restarting is the same of the container as the engine shows it.
func (p *planner) restarting(name string) bool {
	e := p.endOf(name)
	return e != nil && p.History.Containers[name].restarts(*e)
}

// outdated reports an instance that was made and never started, and that would
// see other objects if it were made now. One of which that is not known is made
// again too: nothing is lost.
func (p *planner) outdated(c runtime.Container) bool {
	now, known := p.Objects[c.Name]
	return known && c.State == runtime.StateCreated &&
		(now.Digest == "" || p.History.Containers[c.Name].Made != Made{c.Attempt, now.Digest})
}

// changed reports that the given attempt was made with other objects than one
// made now would see. Where the one or the other is not known, nothing changed.
func (p *planner) changed(name string, attempt int) bool {
	made, now := p.History.Containers[name].Made, p.Objects[name].Digest
	return made.Attempt == attempt && made.Objects != "" && now != "" && made.Objects != now
}

// forgiven reports that a container need not wait for its crash back-off: it was
// stopped to be restarted, or what it reads is not what it crashed with.
func (p *planner) forgiven(name string) bool {
	h := p.History.Containers[name]
	return h.Ended != nil && (h.restarts(*h.Ended) || p.RestartOnChange && p.changed(name, h.Ended.Attempt))
}

// renew stops the regular containers that are to be restarted, side by side, and
// reports whether any has yet to end. One whose image is not there yet runs on
// until it is.
func (p *planner) renew() bool {
	if p.Gate < GateRun {
		return false
	}
	stops := stopping{stops: p.Stops, now: p.Now}
	for c, init := range p.containers {
		newest, ok := p.Observed.Newest(c.Name)
		if _, under := p.Stops[newest.ID]; init || !ok || !p.runs(newest) || !under && !p.Images[c.Name].Ready {
			continue
		}
		h := p.History.Containers[c.Name]
		switch {
		case h.Restart != nil && h.Restart.Attempt == newest.Attempt:
			stops.reason, stops.message = h.Restart.why()
		case p.RestartOnChange && p.changed(c.Name, newest.Attempt):
			stops.reason, stops.message = ReasonObjectsChanged, p.whatChanged(c.Name)
		default:
			continue
		}
		stops.container(newest, false, p.grace())
	}
	for i, a := range stops.signals {
		newest, _ := p.Observed.Newest(a.Container)
		stops.signals[i].Attempt = newest.Attempt + 1
	}
	p.step(stops.signals...)
	p.wake(stops.wake)
	return stops.busy()
}

func (p *planner) whatChanged(name string) string {
	if changed := p.Objects[name].Changed; changed != "" {
		return changed + " changed"
	}
	return "what it reads of ConfigMaps and Secrets changed"
}
