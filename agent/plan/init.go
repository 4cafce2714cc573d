package plan

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// initTurn is the index of the init container whose turn it is: the first that
// has not run to a good end in the sandbox to work in; the number of init
// containers when all have. As in the kubelet a later one that was started tells
// that those before it are done, and a regular one that all are, so a removed
// record of a finished init container runs nothing again.
func (p *planner) initTurn() int {
	inits := p.Pod.Spec.InitContainers
	if slices.ContainsFunc(p.Pod.Spec.Containers, func(c v1.Container) bool { return p.startedHere(c.Name) }) {
		return len(inits)
	}
	for i, c := range slices.Backward(inits) {
		if !p.startedHere(c.Name) {
			continue
		}
		if e := p.endOf(c.Name); e != nil && e.SandboxID == p.box.ID && !e.failed() {
			return i + 1
		}
		return i
	}
	return 0
}

// startedHere reports that an instance of the container was started in the
// sandbox to work in, now or before.
func (p *planner) startedHere(name string) bool {
	if p.box.ID == "" {
		return false
	}
	if e := p.History.Containers[name].Ended; e != nil && e.SandboxID == p.box.ID {
		return true
	}
	return slices.ContainsFunc(p.Observed.Containers, func(c runtime.Container) bool {
		return c.Name == name && p.inBox(c) && c.State != runtime.StateCreated
	})
}
