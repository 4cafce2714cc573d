package plan

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// Sync decides what comes next for a pod that shall run, by the kubelet's rules
// (its computePodActions). It brings the history up to date by itself; what it
// learned there is not handed out, so the caller observes too.
func Sync(in Input) Decision {
	in.History, _, _ = in.History.Observe(in.Pod, in.Observed, in.Now)
	p := &planner{Input: in, loss: sandboxLoss(in)}
	if box, ok := in.Observed.Sandbox(); ok && p.loss.reason == "" {
		p.box = box
	}
	if p.end = p.finish(); p.end == nil && !p.clear() && !p.pause() {
		p.build()
	}
	return p.decision()
}

// planner is one decision in the making.
type planner struct {
	Input
	builder
	loss loss            // why a new sandbox is needed
	box  runtime.Sandbox // the one to work in; without an ID while a new one is needed
}

// runs reports that an instance runs where it should.
func (p *planner) runs(c runtime.Container) bool {
	return c.State == runtime.StateRunning && p.inBox(c)
}

// inBox reports that an instance belongs to the sandbox to work in.
func (p *planner) inBox(c runtime.Container) bool {
	return p.box.ID != "" && c.SandboxID == p.box.ID
}

func (p *planner) grace() time.Duration {
	if s := p.Pod.Spec.TerminationGracePeriodSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return v1.DefaultTerminationGracePeriodSeconds * time.Second
}

// containers calls yield for each container of the pod, init containers first.
func (p *planner) containers(yield func(c *v1.Container, init bool) bool) {
	for i := range p.Pod.Spec.InitContainers {
		if !yield(&p.Pod.Spec.InitContainers[i], true) {
			return
		}
	}
	for i := range p.Pod.Spec.Containers {
		if !yield(&p.Pod.Spec.Containers[i], false) {
			return
		}
	}
}

// end is how the container's newest instance ended, nil if it never ran or is
// not over.
func (p *planner) endOf(name string) *Ended {
	if newest, ok := p.Observed.Newest(name); ok && newest.State != runtime.StateExited {
		return nil
	}
	return p.History.Containers[name].Ended
}
