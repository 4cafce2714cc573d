package plan

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
)

// finish tells how the pod ended, nil if it has not. The phases are those of
// the kubelet's getPhase.
func (p *planner) finish() *Finished {
	policy := p.Pod.Spec.RestartPolicy
	if policy != v1.RestartPolicyNever && policy != v1.RestartPolicyOnFailure {
		return nil
	}
	if policy == v1.RestartPolicyNever {
		for _, c := range p.Pod.Spec.InitContainers {
			if e := p.endOf(c.Name); e != nil && e.failed() && !p.restarting(c.Name) {
				return failed("init container " + c.Name + " ended: " + e.words())
			}
		}
	}
	if end, over := p.outcome(policy); over {
		return end
	}
	// As the kubelet: a sandbox is not replaced when what ran in it may not run
	// twice. What was only created may, and what was stopped to run again.
	if policy == v1.RestartPolicyNever && p.loss.reason == ReasonSandboxLost && p.ran() && !p.anyRestarting() {
		return failed(p.loss.message + ", and restartPolicy is Never")
	}
	return nil
}

// outcome is the end of a pod whose regular containers have all ended for good.
func (p *planner) outcome(policy v1.RestartPolicy) (*Finished, bool) {
	end := &Finished{Phase: v1.PodSucceeded}
	for _, c := range p.Pod.Spec.Containers {
		e := p.endOf(c.Name)
		switch {
		case e == nil, p.restarting(c.Name), e.ExitCode != 0 && policy == v1.RestartPolicyOnFailure:
			return nil, false
		case e.ExitCode != 0 && end.Phase == v1.PodSucceeded:
			end = failed("container " + c.Name + " ended: " + e.words())
		}
	}
	return end, true
}

// ran reports that a container of the pod was ever started.
func (p *planner) ran() bool {
	for _, h := range p.History.Containers {
		if h.Running != "" || h.Ended != nil {
			return true
		}
	}
	return false
}

// anyRestarting reports that a container has ended so that it can run again.
func (p *planner) anyRestarting() bool {
	for c := range p.containers {
		if p.restarting(c.Name) {
			return true
		}
	}
	return false
}

func failed(message string) *Finished {
	return &Finished{Phase: v1.PodFailed, Message: message}
}

// words says for people how an instance ended.
func (e Ended) words() string {
	words := fmt.Sprintf("exit code %d", e.ExitCode)
	if e.Reason != "" && e.Reason != "Error" && e.Reason != "Completed" {
		words += " (" + e.Reason + ")"
	}
	if ran := e.FinishedAt.Sub(e.StartedAt); ran >= 0 && !e.StartedAt.IsZero() {
		words += " after " + shortly(ran)
	}
	return words
}
