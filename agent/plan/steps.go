package plan

import "github.com/podstead/podstead/runtime"

// build lays out the steps towards a running pod, as far as the gate lets it:
//
//	renew: stop what is to be restarted; the next round makes it anew
//	room: remove what is in the way; create the sandbox
//	sandbox: start it, and create beside it what starts first
//	start: one container after the other, in the pod's order
//	ahead: create what runs after the init containers, while those run
//	tidy: when nothing else is left to do, remove what is dead and of no more use
func (p *planner) build() {
	renewing := p.renew()
	p.step(append(p.room(), p.createSandbox()...)...)
	first, behind := p.turns()
	creates := p.creates(first)
	if p.Gate < GateRun {
		creates = append(creates, p.creates(behind)...)
	}
	p.step(append(p.startSandbox(), creates...)...)
	if p.Gate == GateRun {
		for _, s := range first {
			p.start(s)
		}
		p.step(p.creates(behind)...)
	}
	p.tell(first, behind)
	p.ready = len(p.steps) == 0 && !renewing && p.settled(append(first, behind...))
	if len(p.steps) == 0 {
		p.step(deadInstances(p.Pod, p.Observed)...)
	}
}

// turns are the containers that may start now, and those behind them. One init
// container at a time has its turn; then all regular ones have.
func (p *planner) turns() (first, behind []stand) {
	turn, n := p.initTurn(), 0
	for c, init := range p.containers {
		done := init && n < turn
		now := n == turn || !init && turn == len(p.Pod.Spec.InitContainers)
		n++
		switch {
		case done:
		case now:
			first = append(first, p.judge(c, init))
		default:
			behind = append(behind, p.judge(c, init))
		}
	}
	return first, behind
}

// room removes what was never started in another sandbox, and what the engine
// has lost track of.
func (p *planner) room() []Action {
	var all []Action
	for _, c := range p.Observed.Containers {
		a := Action{Verb: Remove, Container: c.Name, Init: isInit(p.Pod, c.Name), ID: c.ID}
		switch {
		case c.State == runtime.StateUnknown:
			a.Reason, a.Message = ReasonUnknownState, "the engine cannot tell its state"
		case c.State == runtime.StateCreated && (!p.inBox(c) || p.surplus(c)):
			a.Reason, a.Message = ReasonSandboxStale, "made for another sandbox and never started"
		case p.outdated(c):
			a.Reason, a.Message = ReasonObjectsChanged, p.whatChanged(c.Name)
		default:
			continue
		}
		all = append(all, a)
	}
	return all
}

func (p *planner) createSandbox() []Action {
	if p.box.ID != "" {
		return nil
	}
	a := Action{Verb: CreateSandbox, Attempt: p.nextSandbox(), Reason: p.loss.reason, Message: p.loss.message}
	if p.loss.reason == ReasonNew && p.Gate < GateRun {
		a.Reason, a.Message = ReasonPrepare, "made ready beside its predecessor"
	}
	return []Action{a}
}

func (p *planner) startSandbox() []Action {
	if p.Gate < GateSandbox || p.box.State == runtime.StateRunning {
		return nil
	}
	a := Action{Verb: StartSandbox, ID: p.box.ID, Reason: p.loss.reason, Message: p.loss.message}
	if p.box.ID != "" || p.Gate < GateRun {
		a.Reason, a.Message = p.whyStart(nil)
	}
	return []Action{a}
}

func (p *planner) creates(stands []stand) []Action {
	var all []Action
	for _, s := range stands {
		if s.next == create {
			all = append(all, Action{
				Verb: CreateContainer, Container: s.container.Name, Init: s.init,
				Attempt: s.attempt, Reason: s.reason, Message: s.message,
			})
		}
	}
	return all
}

func (p *planner) start(s stand) {
	if s.next == create || s.next == start {
		p.step(Action{
			Verb: StartContainer, Container: s.container.Name, Init: s.init,
			ID: s.id, Attempt: s.attempt, Reason: s.reason, Message: s.message,
		})
	}
}

// tell says why each container that does not run waits, and when to look again.
// One behind an init container waits for that first, not for its own back-off.
func (p *planner) tell(first, behind []stand) {
	for _, s := range first {
		p.explain(s)
		p.wake(s.due)
	}
	for _, s := range behind {
		if s.waiting.Reason == reasonCrashLoop {
			s.waiting, s.due = Waiting{Reason: p.notYet()}, 0
		}
		p.explain(s)
		p.wake(s.due)
	}
}

func (p *planner) explain(s stand) {
	newest, ok := p.Observed.Newest(s.container.Name)
	if s.next != rest && (!ok || newest.State != runtime.StateRunning) {
		p.wait(s.container.Name, s.waiting)
	}
}

// settled reports that each container is where the gate lets it be.
func (p *planner) settled(stands []stand) bool {
	for _, s := range stands {
		if s.next != rest && (s.next != start || p.Gate == GateRun) {
			return false
		}
	}
	return true
}
