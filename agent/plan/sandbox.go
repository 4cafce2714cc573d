package plan

import (
	"time"

	"github.com/podstead/podstead/runtime"
)

// loss is why the newest sandbox will not do and a new one is made; without a
// reason it is good.
type loss struct {
	reason  Reason
	message string
}

// sandboxLoss judges the newest sandbox as the kubelet's PodSandboxChanged does.
// One that was made and not started is good. One that was started again after
// it had ended is not: its containers are left in namespaces that are gone.
func sandboxLoss(in Input) loss {
	box, ok := in.Observed.Sandbox()
	switch {
	case !ok && in.History.SandboxAttempt < 0:
		return loss{reason: ReasonNew}
	case !ok:
		return loss{ReasonSandboxLost, "the sandbox is gone"}
	case box.State != runtime.StateCreated && box.State != runtime.StateRunning:
		return loss{ReasonSandboxLost, "the sandbox is " + string(box.State)}
	case box.HostNetwork != in.Pod.Spec.HostNetwork:
		return loss{ReasonSandboxLost, "the sandbox is not on the network asked for"}
	case box.State == runtime.StateCreated:
		return loss{}
	case runningSandboxes(in.Observed) > 1:
		return loss{ReasonSandboxLost, "more than one sandbox runs"}
	case !box.FinishedAt.IsZero():
		return loss{ReasonSandboxLost, "the sandbox was started again from outside"}
	case !box.HostNetwork && len(box.IPs) == 0:
		return loss{ReasonSandboxLost, "the sandbox has no address"}
	}
	return loss{}
}

func runningSandboxes(obs runtime.Pod) int {
	n := 0
	for _, s := range obs.Sandboxes {
		if s.State == runtime.StateRunning {
			n++
		}
	}
	return n
}

// nextSandbox is the attempt of the next sandbox; the history has the largest.
func (p *planner) nextSandbox() int { return p.History.SandboxAttempt + 1 }

// clear stops what runs outside the sandbox to work in, and reports whether all
// else has to wait for that: a new sandbox would collide with the old one.
func (p *planner) clear() bool {
	stops := stopping{stops: p.Stops, now: p.Now, reason: ReasonSandboxStale, message: p.loss.message}
	if stops.message == "" {
		stops.message = "not in the pod's sandbox"
	}
	for _, c := range p.Observed.Containers {
		if c.State == runtime.StateRunning && p.surplus(c) {
			stops.container(c, isInit(p.Pod, c.Name), p.grace())
		}
	}
	occupied, containers := false, stops.busy()
	for _, s := range p.Observed.Sandboxes {
		if s.State != runtime.StateRunning || s.ID == p.box.ID {
			continue
		}
		occupied = true
		if !containers {
			stops.sandbox(s)
		}
	}
	p.step(stops.signals...)
	p.wake(stops.wake)
	if !occupied && (p.box.ID != "" || !containers) {
		return false
	}
	p.allWait("")
	return true
}

// surplus reports an instance that may not run: it sits in another sandbox, a
// newer instance of its container is there, or the pod has no such container.
func (p *planner) surplus(c runtime.Container) bool {
	newest, _ := p.Observed.Newest(c.Name)
	return !p.inBox(c) || newest.ID != c.ID || !p.has(c.Name)
}

func (p *planner) has(name string) bool {
	for c := range p.containers {
		if c.Name == name {
			return true
		}
	}
	return false
}

// shortLived is how long a sandbox must run to be worth replacing at once; one
// that did not, and was not the pod's first, is replaced that long after its end.
const shortLived = 10 * time.Second

// pause reports whether the next sandbox has to wait because they keep dying.
// Only the engine's times are there to judge it; one in the future means that
// the clock was set, and is not waited for.
func (p *planner) pause() bool {
	dead, ok := p.Observed.Sandbox()
	if !ok || p.loss.reason == "" || dead.State != runtime.StateExited || dead.Attempt == 0 ||
		dead.FinishedAt.Sub(dead.StartedAt) >= shortLived {
		return false
	}
	ago := p.Now.Wall.Sub(dead.FinishedAt)
	if ago < 0 || ago >= shortLived {
		return false
	}
	p.wake(shortLived - ago)
	p.allWait("the sandbox keeps ending right after its start; the next one comes after a pause")
	return true
}

// allWait tells that nothing starts before there is a new sandbox.
func (p *planner) allWait(message string) {
	for c, init := range p.containers {
		s := p.judge(c, init)
		s.waiting = Waiting{Reason: p.notYet(), Message: message}
		p.explain(s)
	}
}
