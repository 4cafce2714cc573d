package agent

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/durable"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/runtime/runtimetest"
	"github.com/podstead/podstead/sources"
)

// transition is one change of what is wanted, and how the machine must look
// when it is over, whatever went wrong on the way.
type transition struct {
	name   string
	before []sources.Pod
	after  []sources.Pod
	// act is done instead of wanting other pods. It reports whether what it asks for
	// has been accepted, and asks again and again if told to insist.
	act     func(w *world, insist bool) (accepted *atomic.Bool)
	running []string
	objects int // on the engine, dead ones included
	phases  map[string]v1.PodPhase
	// restarts by uid/container; none of others.
	restarts map[string]int
	holds    func(w *world) // what else must hold in the end
	// kept is what must hold unless the containers had to be made anew.
	kept func(w *world)
}

func transitions() []transition {
	job := func(version string) sources.Pod { return pod("job", version, withPolicy(v1.RestartPolicyNever)) }
	return []transition{
		{
			name:    "start",
			after:   []sources.Pod{pod("a", "1", withInit("setup"))},
			running: []string{"a.1/POD", "a.1/c"}, objects: 3,
		},
		{
			name:    "replacement",
			before:  []sources.Pod{pod("a", "1")},
			after:   []sources.Pod{pod("a", "2")},
			running: []string{"a.2/POD", "a.2/c"}, objects: 2,
		},
		{
			name:    "replacement with a shared host port",
			before:  []sources.Pod{pod("a", "1", withPort(80))},
			after:   []sources.Pod{pod("a", "2", withPort(80))},
			running: []string{"a.2/POD", "a.2/c"}, objects: 2,
		},
		{
			name:    "two pods swap their ports",
			before:  []sources.Pod{pod("a", "1", withPort(80)), pod("b", "1", withPort(81))},
			after:   []sources.Pod{pod("a", "2", withPort(81)), pod("b", "2", withPort(80))},
			running: []string{"a.2/POD", "a.2/c", "b.2/POD", "b.2/c"}, objects: 4,
		},
		{
			name:   "removal",
			before: []sources.Pod{pod("a", "1", withInit("setup")), pod("b", "1", withGrace(0))},
		},
		{
			name:    "a job that ends",
			after:   []sources.Pod{job("1")},
			objects: 2, phases: map[string]v1.PodPhase{"job.1": v1.PodSucceeded},
		},
		objectsChange("objects change", map[string]int{}, "one"),
		objectsChange("objects change, and what uses them is restarted", map[string]int{"a.1/c": 1, "a.1/d": 1}, "two", restartOnChange),
		{
			name:    "objects change with the pod",
			before:  []sources.Pod{seeing(pod("a", "1", withEnv("c", "conf"), withFile("c", manifests.KindConfigMap, "conf")), configMap("conf", "one"))},
			after:   []sources.Pod{seeing(pod("a", "2", withEnv("c", "conf"), withFile("c", manifests.KindConfigMap, "conf")), configMap("conf", "two"))},
			running: []string{"a.2/POD", "a.2/c"}, objects: 2,
			holds: func(w *world) {
				w.want("variable", w.env("a.2", "c"), "CONF=two")
				w.want("file", w.file("a.2", "c", "conf"), "two")
			},
		},
		askedRestart("restart on request", pod("a", "1", withInit("setup"), withContainer("d"))),
		askedRestart("restart of a job on request", pod("a", "1", withInit("setup"), withContainer("d"), withPolicy(v1.RestartPolicyNever))),
		drained("drain", pod("a", "1", withInit("setup"), withContainer("d"))),
		drained("drain of a job", pod("a", "1", withInit("setup"), withContainer("d"), withPolicy(v1.RestartPolicyNever))),
	}
}

// askedRestart is a pod with containers c and d that is restarted in place.
func askedRestart(name string, p sources.Pod) transition {
	return transition{
		name: name, before: []sources.Pod{p}, after: []sources.Pod{p}, act: askRestart,
		running: []string{"a.1/POD", "a.1/c", "a.1/d"}, objects: 6,
		restarts: map[string]int{"a.1/c": 1, "a.1/d": 1},
	}
}

func askRestart(w *world, insist bool) *atomic.Bool {
	var accepted atomic.Bool
	asked := w.agent
	go func() {
		for range 100 {
			_, err := asked.Restart(context.Background(), "default", "a", "a test")
			if accepted.Store(err == nil); err == nil || !insist {
				return
			}
			<-time.After(time.Second)
		}
	}()
	return &accepted
}

// drained is a pod with containers c and d that comes to rest, and runs again when
// the node is resumed.
func drained(name string, p sources.Pod) transition {
	return transition{
		name: name, before: []sources.Pod{p}, after: []sources.Pod{p},
		act: func(w *world, insist bool) *atomic.Bool {
			if _, err := w.agent.Drain("a test"); err != nil {
				if insist {
					w.Error(err)
				}
				return new(atomic.Bool)
			}
			return nil
		},
		objects: 4, phases: map[string]v1.PodPhase{"a.1": v1.PodPending},
		holds: func(w *world) {
			if _, err := w.agent.Resume("a test"); err != nil {
				w.Error(err)
			}
			w.advance(time.Minute)
			w.wantRunning("a.1/POD", "a.1/c", "a.1/d")
		},
		kept: func(w *world) {
			for _, c := range []string{"c", "d"} {
				if got := w.restarts("a.1", c); got != 1 {
					w.Errorf("container %s was restarted %d times", c, got)
				}
			}
		},
	}
}

// objectsChange is a pod that stays, with another ConfigMap and Secret.
func objectsChange(name string, restarts map[string]int, variable string, edit ...func(*v1.Pod)) transition {
	p := pod("a", "1", append(edit, withContainer("d"), withContainer("e"), withInit("setup"),
		withEnv("c", "conf"), withFile("c", manifests.KindConfigMap, "conf"), withFile("d", manifests.KindSecret, "pass"))...)
	return transition{
		name:    name,
		before:  []sources.Pod{seeing(p, configMap("conf", "one"), secret("pass", "one"))},
		after:   []sources.Pod{seeing(p, configMap("conf", "two"), secret("pass", "two"))},
		running: []string{"a.1/POD", "a.1/c", "a.1/d", "a.1/e"}, objects: 5 + len(restarts),
		restarts: restarts,
		kept:     func(w *world) { w.want("variable", w.env("a.1", "c"), "CONF="+variable) },
		holds: func(w *world) {
			w.want("file", w.file("a.1", "c", "conf"), "two")
			w.want("secret file", w.file("a.1", "d", "pass"), "two")
		},
	}
}

// play runs a transition with a fault planted by plant, and checks the end.
func (tr transition) play(t *testing.T, plant func(w *world)) {
	t.Helper()
	tr.begin(t, func(w *world) {
		plant(w)
		accepted := tr.happen(w, true)
		w.advance(20 * time.Minute)
		w.engine.ClearFaults() // one that met nothing must not meet the check
		tr.check(w, accepted)
	})
}

// begin makes a world in which what was before runs, and goes on from there.
func (tr transition) begin(t *testing.T, then func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		if !testing.Verbose() {
			w.quiet()
		}
		w.engine.Behave("setup", runtimetest.Exits(time.Second, 0))
		w.engine.Behave("job/c", runtimetest.Exits(time.Second, 0))
		w.start()
		defer func() { w.kill() }()
		w.apply(tr.before...)
		w.advance(time.Minute)
		then(w)
	})
}

// happen begins what the transition is about. It reports, once that is known,
// whether it was accepted.
func (tr transition) happen(w *world, insist bool) (accepted *atomic.Bool) {
	if tr.act != nil {
		return tr.act(w, insist)
	}
	w.apply(tr.after...)
	return nil
}

func (tr transition) check(w *world, accepted *atomic.Bool) {
	w.Helper()
	w.wantLogLinks()
	if got := w.running(); !slices.Equal(got, tr.running) {
		w.Errorf("running %v, want %v", got, tr.running)
	}
	if got := w.objects(); got != tr.objects && (accepted == nil || accepted.Load()) {
		w.Errorf("%d objects on the engine, want %d", got, tr.objects)
	}
	for _, p := range w.store.List() {
		for _, c := range p.Status.ContainerStatuses {
			want := tr.restarts[string(p.UID)+"/"+c.Name]
			if accepted != nil && !accepted.Load() {
				want = min(want, int(c.RestartCount)) // who asked knows that it may not come
			}
			if int(c.RestartCount) != want {
				w.Errorf("pod %s: container %s was restarted %d times, want %d", p.UID, c.Name, c.RestartCount, want)
			}
		}
	}
	for uid, phase := range tr.phases {
		if got := w.shows(uid).Status.Phase; got != phase {
			w.Errorf("pod %s is %s, want %s", uid, got, phase)
		}
	}
	if got := len(w.store.List()); got != len(tr.after) {
		w.Errorf("%d pods are shown, want %d", got, len(tr.after))
	}
	if len(tr.after) == 0 {
		w.wantNothingLeft()
	}
	for _, holds := range []func(*world){tr.holds, tr.kept} {
		if holds != nil {
			holds(w)
		}
	}
}

// steps is how many engine calls the transition takes without a fault.
func (tr transition) steps(t *testing.T) int {
	var engine *runtimetest.Fake
	tr.play(t, func(w *world) {
		engine = w.engine
		w.engine.ForgetCalls()
	})
	return engine.Count() - engine.Count("List")
}

func TestEveryEngineCallMayGoWrongOnce(t *testing.T) {
	modes := []runtimetest.Fault{
		{Mode: runtimetest.Fail},
		{Mode: runtimetest.FailAfter},
		{Mode: runtimetest.Fail, Err: fmt.Errorf("injected: some engine error")},
		{Mode: runtimetest.FailAfter, Err: fmt.Errorf("injected: some engine error")},
		{Mode: runtimetest.Hang},
		{Mode: runtimetest.HangAfter},
		{Mode: runtimetest.Late, Delay: 10 * time.Second},
		{Mode: runtimetest.Slow, Delay: 10 * time.Second},
	}
	for _, tr := range transitions() {
		steps := tr.steps(t)
		for _, mode := range modes {
			for n := 1; n <= steps; n++ {
				fault := mode
				fault.Nth = n
				t.Run(fmt.Sprintf("%s/%s %v/call %d", tr.name, mode.Mode, mode.Err, n), func(t *testing.T) {
					tr.play(t, func(w *world) { w.engine.Inject(fault) })
				})
			}
		}
	}
}

func TestTheAgentMayBeKilledAfterEveryStep(t *testing.T) {
	for _, tr := range transitions() {
		steps := tr.steps(t)
		for n := 1; n <= steps; n++ {
			for _, mode := range []runtimetest.Mode{runtimetest.Hang, runtimetest.HangAfter} {
				t.Run(fmt.Sprintf("%s/%s/call %d", tr.name, mode, n), func(t *testing.T) {
					tr.playKilled(t, n, mode)
				})
			}
		}
	}
}

// playKilled kills the agent in the n-th call of the transition, before or
// after its effect, and starts it again.
func (tr transition) playKilled(t *testing.T, n int, mode runtimetest.Mode) {
	tr.begin(t, func(w *world) {
		w.engine.Inject(runtimetest.Fault{Nth: n, Mode: mode})
		accepted := tr.happen(w, false)
		for range 100 {
			if w.engine.PendingFaults() == 0 {
				break
			}
			w.advance(100 * time.Millisecond)
		}
		w.engine.ClearFaults()
		w.restart()
		w.advance(20 * time.Minute)
		tr.check(w, accepted)
	})
}

func TestEveryRecordWriteMayFindTheDiskFull(t *testing.T) {
	for _, tr := range transitions() {
		for n := 1; n <= 6; n++ {
			t.Run(fmt.Sprintf("%s/write %d", tr.name, n), func(t *testing.T) {
				tr.play(t, func(w *world) {
					var writes atomic.Int32
					w.agent.records.write = func(path string, data []byte, mode fs.FileMode) error {
						if i := int(writes.Add(1)); i >= n && i < n+3 {
							return syscall.ENOSPC
						}
						return durable.WriteFile(path, data, mode)
					}
				})
			})
		}
	}
}

func TestTheAgentMayBeKilledAtEveryWriteToTheDisk(t *testing.T) {
	for _, tr := range transitions() {
		for _, done := range []bool{false, true} {
			for n := 1; n <= 8; n++ {
				t.Run(fmt.Sprintf("%s/write %d done %v", tr.name, n, done), func(t *testing.T) {
					tr.begin(t, func(w *world) {
						var writes atomic.Int32
						w.agent.records.write = func(path string, data []byte, mode fs.FileMode) error {
							i := int(writes.Add(1))
							if i == n {
								w.cut()
							}
							if i > n || i == n && !done {
								return syscall.EIO
							}
							return durable.WriteFile(path, data, mode)
						}
						accepted := tr.happen(w, false)
						w.advance(time.Second)
						w.restart()
						w.advance(20 * time.Minute)
						tr.check(w, accepted)
					})
				})
			}
		}
	}
}
