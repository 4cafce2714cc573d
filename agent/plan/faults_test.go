package plan

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Decisions stand on what is there. So whatever happens to any one action, the
// end is the same as if nothing had.
func TestTheEndIsTheSameWhateverGoesWrong(t *testing.T) {
	up := func(m *model) { m.settle(m.sync, ready) }
	renewed := func(m *model) {
		m.see("one")
		up(m)
		m.see("two")
		up(m)
		m.wantMade("web", "log")
	}
	scenarios := []struct {
		name   string
		policy v1.RestartPolicy
		run    func(m *model)
		end    string
	}{
		{
			name: "start", policy: v1.RestartPolicyAlways, run: up,
			end: "1 sandboxes run, containers in 1, [log runs web runs]",
		},
		{
			name: "start behind gates", policy: v1.RestartPolicyAlways,
			run: func(m *model) {
				for _, m.gate = range []Gate{GateCreate, GateSandbox, GateRun} {
					up(m)
				}
			},
			end: "1 sandboxes run, containers in 1, [log runs web runs]",
		},
		{
			name: "the sandbox dies (B160)", policy: v1.RestartPolicyAlways,
			run: func(m *model) {
				up(m)
				m.now += time.Hour
				m.killBox(&m.boxes[len(m.boxes)-1])
				up(m)
			},
			end: "1 sandboxes run, containers in 1, [log runs web runs]",
		},
		{
			name: "reboot (B158)", policy: v1.RestartPolicyOnFailure,
			run: func(m *model) {
				up(m)
				m.now += time.Hour
				m.reboot()
				up(m)
			},
			end: "1 sandboxes run, containers in 1, [log runs web runs]",
		},
		{
			name: "a container is killed", policy: v1.RestartPolicyAlways,
			run: func(m *model) {
				up(m)
				m.now += time.Hour
				m.signal(m.history.Containers["web"].Running, signalKill)
				up(m)
			},
			end: "1 sandboxes run, containers in 1, [log runs web runs]",
		},
		{
			name: "a job runs to its end", policy: v1.RestartPolicyNever,
			run: func(m *model) {
				up(m)
				m.signal(m.history.Containers["web"].Running, signalKill)
				m.signal(m.history.Containers["log"].Running, signalKill)
				m.settle(m.sync, finished)
			},
			end: "1 sandboxes run, containers in 0, []",
		},
		{
			name: "objects change", policy: v1.RestartPolicyAlways, run: renewed,
			end: "1 sandboxes run, containers in 1, [log runs web runs]",
		},
		{
			name: "objects of a job change", policy: v1.RestartPolicyNever, run: renewed,
			end: "1 sandboxes run, containers in 1, [log runs web runs]",
		},
		{
			name: "objects change behind the gate", policy: v1.RestartPolicyAlways,
			run: func(m *model) {
				m.see("one")
				m.gate = GateSandbox
				up(m)
				m.see("two")
				up(m)
				m.gate = GateRun
				up(m)
				m.wantMade("get", "web", "log")
			},
			end: "1 sandboxes run, containers in 1, [log runs web runs]",
		},
		{
			name: "removal", policy: v1.RestartPolicyAlways,
			run: func(m *model) {
				up(m)
				m.settle(m.terminate, gone)
				if len(m.boxes)+len(m.made) != 0 {
					m.t.Errorf("left over: %v %v", m.boxes, m.made)
				}
			},
			end: "0 sandboxes run, containers in 0, []",
		},
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			pod := aPod(s.policy, "init:get", "init:put", "web", "log")
			play := func(t *testing.T, f fault) *model {
				m := newModel(t, pod)
				m.fault = f
				s.run(m)
				if got := m.state(); got != s.end {
					t.Errorf("ends as %q, want %q", got, s.end)
				}
				return m
			}
			clean := play(t, fault{})
			for nth := 1; nth <= clean.acts; nth++ {
				for _, what := range []string{lost, doneFailed, killedBefore, killedAfter, prunedAfter} {
					t.Run(fmt.Sprintf("action %d: %s", nth, what), func(t *testing.T) {
						checkRuns(t, clean, play(t, fault{nth, what}))
					})
				}
			}
		})
	}
}

// wantMade checks that what runs was made with what there is to see now.
func (m *model) wantMade(names ...string) {
	m.t.Helper()
	for _, name := range names {
		if h := m.history.Containers[name]; h.Made != (Made{h.Attempt, m.objects[name].Digest}) {
			m.t.Errorf("%s: attempt %d was made as %+v, want %s", name, h.Attempt, h.Made, m.objects[name].Digest)
		}
	}
}

// checkRuns: the faults end no process, so nothing may run once more than it
// would have without.
func checkRuns(t *testing.T, clean, m *model) {
	t.Helper()
	for name, n := range m.started {
		if n != clean.started[name] {
			t.Errorf("%s ran %d times, without the fault %d", name, n, clean.started[name])
		}
	}
}
