package plan

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// script gives a story its choices, from the bytes of a fuzz test: zeros when they
// are used up.
type script struct{ data []byte }

func (s *script) next() int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b)
}

// pick is a number below n.
func (s *script) pick(n int) int { return s.next() % n }

// FuzzPlan lives through any story of a pod: faults, kills, prunes, reboots, ends of
// containers and sandboxes, other objects, gates. Of one container two never run at
// once, regular ones run in a running sandbox when the init containers are through,
// and once peace comes the pod is as it should be; or, when it is to go, gone.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{0, 1, 1})
	f.Add([]byte{0, 2, 2, 0, 0, 0, 1, 3, 0, 0, 4, 0, 0, 5, 0, 6, 1, 0, 0, 7, 0, 0, 10})
	f.Add([]byte{1, 0, 2, 0, 0, 0, 0, 6, 0, 0, 6, 3, 1, 0, 0, 8, 0, 9, 2, 0, 0, 0})
	f.Add([]byte{2, 1, 0, 8, 1, 0, 8, 2, 0, 2, 1, 0, 2, 3, 0, 2, 4, 0, 7, 5, 0, 11, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		const longest = 200
		if len(data) <= longest {
			live(t, data)
		}
	})
}

// The short form, with the same stories every time.
func TestAnyStoryEndsWell(t *testing.T) {
	const stories, longest = 300, 100
	random := rand.New(rand.NewPCG(1, 2))
	for range stories {
		data := make([]byte, random.IntN(longest))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		if live(t, data); t.Failed() {
			t.Fatalf("the story: %q", data)
		}
	}
}

func live(t *testing.T, data []byte) {
	t.Helper()
	s := &script{data}
	l := newLife(t, s)
	for len(s.data) > 0 && !l.over {
		l.event(s)
		l.lawful()
	}
	l.peace()
}

// life is a model's, from its first moment to its end.
type life struct {
	*model
	ending bool // it is to go
	over   bool // it has finished, or is gone
}

func newLife(t *testing.T, s *script) *life {
	policy := []v1.RestartPolicy{v1.RestartPolicyAlways, v1.RestartPolicyOnFailure, v1.RestartPolicyNever}[s.pick(3)]
	names := [][]string{{}, {"init:get"}, {"init:get", "init:set"}}[s.pick(3)]
	names = append(slices.Clone(names), [][]string{{"web"}, {"web", "log"}}[s.pick(2)]...)
	return &life{model: newModel(t, aPod(policy, names...))}
}

// event is one thing that happens, with a step of the worker between.
func (l *life) event(s *script) {
	switch s.pick(12) {
	case 1:
		l.fault = fault{l.acts + 1 + s.pick(3), []string{lost, doneFailed, killedBefore, killedAfter, prunedAfter}[s.pick(5)]}
	case 2:
		l.restart()
	case 3:
		l.prune()
	case 4:
		l.reboot()
	case 5:
		l.now += time.Duration(s.next()) * time.Second
	case 6:
		l.exit(s.pick(8), s.pick(3))
	case 7:
		if len(l.boxes) > 0 {
			l.sandboxDies(&l.boxes[s.pick(len(l.boxes))])
		}
	case 8:
		l.gate = []Gate{GateCreate, GateSandbox, GateRun}[s.pick(3)]
	case 9:
		l.see([]string{"a", "b", ""}[s.pick(3)])
	case 10:
		l.ending = true
	default:
		l.step()
	}
}

// step is the worker's: look, decide, act.
func (l *life) step() {
	d := l.decide()
	l.carryOut(d)
	l.now += 500 * time.Millisecond
	l.over = l.over || d.Gone
}

func (l *life) decide() Decision {
	if l.ending {
		return l.terminate()
	}
	d := l.sync()
	if d.Finished != nil && len(d.Steps) == 0 {
		l.over = true
	}
	return d
}

// exit ends a running container with a code.
func (l *life) exit(which, code int) {
	if len(l.made) == 0 {
		return
	}
	c := &l.made[which%len(l.made)]
	if c.State == isRunning {
		c.State, c.FinishedAt, c.ExitCode = isExited, epoch.Add(l.now), code
	}
}

// sandboxDies takes its containers along, as the engine does with a shared network.
func (l *life) sandboxDies(b *runtime.Sandbox) {
	if b.State == isRunning {
		l.killBox(b)
	}
}

// lawful is what holds at any time.
func (l *life) lawful() {
	l.t.Helper()
	l.observe()
	running := map[string]int{}
	for _, c := range l.made {
		if c.State == isRunning {
			running[c.Name]++
		}
	}
	for name, n := range running {
		if n > 1 {
			l.t.Fatalf("%d instances of %s run", n, name)
		}
	}
	for _, c := range l.pod.Spec.InitContainers {
		if l.started[c.Name] == 0 && running["web"]+running["log"] > 0 {
			l.t.Fatalf("a container runs, and %s never did", c.Name)
		}
	}
}

// peace is when nothing happens any more: the pod comes to be what it should be, in
// finite time, and stays so.
func (l *life) peace() {
	l.t.Helper()
	l.fault, l.gate = fault{}, GateRun
	if l.objects != nil {
		l.see("a")
	}
	for range 400 {
		if l.over {
			return
		}
		d := l.decide()
		if len(d.Steps) == 0 && (d.Ready || d.Gone) {
			l.atPeace(d)
			return
		}
		l.carryOut(d)
		l.lawful()
		l.now += max(500*time.Millisecond, min(d.Wake, time.Hour))
	}
	l.t.Fatalf("it never comes to rest: %s, ready to do %q", l.state(), told(l.decide()))
}

func (l *life) atPeace(d Decision) {
	l.t.Helper()
	if d.Gone {
		if len(l.boxes)+len(l.made) > 0 {
			l.t.Fatalf("gone, and there is %s", l.state())
		}
		return
	}
	homes := map[string]bool{}
	for _, c := range l.made {
		if c.State == isRunning {
			homes[c.SandboxID] = true
		}
	}
	if len(homes) > 1 {
		l.t.Fatalf("at peace its containers run in %d sandboxes", len(homes))
	}
	again := l.decide()
	if len(again.Steps) > 0 {
		l.t.Fatalf("at peace, and then %q", told(again))
	}
}
