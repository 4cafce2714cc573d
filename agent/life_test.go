package agent

import (
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/status"
	"github.com/podstead/podstead/durable"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/runtime/runtimetest"
	"github.com/podstead/podstead/sources"
)

func TestAPodRunsAndGoes(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1", withInit("setup")))
		w.engine.Behave("setup", runtimetest.Exits(time.Second, 0))
		w.advance(500 * time.Millisecond)
		w.wantRunning("a.1/POD", "a.1/setup")
		w.advance(time.Second)
		w.wantRunning("a.1/POD", "a.1/c")
		if got := w.shows("a.1").Status.Phase; got != v1.PodRunning {
			w.Errorf("phase %s", got)
		}
		w.wantEvent("Accepted", "all.yaml")
		w.wantEvent("Started", "Started container c")
		w.apply()
		w.advance(time.Second)
		w.wantNothingLeft()
	})
}

func TestSteadyStateAsksTheEngineNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1"), pod("b", "1"))
		w.advance(time.Second)
		w.engine.ForgetCalls()
		w.advance(4 * time.Minute)
		if calls := w.engine.Calls(); len(calls) != 0 {
			w.Errorf("calls between resyncs: %v", calls)
		}
		w.advance(2 * time.Minute)
		if n, lists := w.engine.Count(), w.engine.Count("List"); n != 1 || lists != 1 {
			w.Errorf("a resync made %d calls, %d of them lists; want one list", n, lists)
		}
	})
}

func TestCrashBackOffIsTheKubelets(t *testing.T) { // B112
	inWorld(t, func(w *world) {
		w.engine.Behave("c", runtimetest.Exits(0, 1))
		w.apply(pod("a", "1"))
		began := time.Now()
		var starts []time.Duration
		seen := -1
		for time.Since(began) < time.Hour {
			w.advance(time.Second)
			if c := w.container("a.1", "c"); c.Attempt > seen {
				seen = c.Attempt
				starts = append(starts, c.CreatedAt.Sub(began).Round(time.Second))
			}
		}
		want := []time.Duration{0, 0, 10, 30, 70, 150, 310, 610, 910, 1210}
		// Attempts 0 and 1 come within the first second: a first crash restarts at once.
		for i, s := range want[2:] {
			if got := starts[i+1]; got != s*time.Second {
				w.Errorf("restart %d after %s, want %s", i+2, got, s*time.Second)
			}
		}
		if len(starts) < 14 {
			w.Errorf("only %d restarts in an hour: it must go on for ever", len(starts))
		}
		status := w.shows("a.1").Status.ContainerStatuses[0]
		if status.State.Waiting == nil || status.State.Waiting.Reason != "CrashLoopBackOff" || int(status.RestartCount) != seen {
			w.Errorf("status %+v with %d attempts", status, seen)
		}
		w.wantEvent("BackOff", "Back-off restarting failed container c")
	})
}

func TestRestartsAndBackOffSurviveAgentAndPrune(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("c", runtimetest.Exits(0, 3))
		w.apply(pod("a", "1"))
		w.advance(35 * time.Second) // attempts at 0, 0, 10, 30
		before := w.container("a.1", "c").Attempt
		w.kill()
		w.engine.Prune()
		w.start()
		w.advance(time.Second)
		if got := w.shows("a.1").Status.ContainerStatuses[0]; int(got.RestartCount) != before || got.State.Waiting == nil {
			w.Errorf("after restart and prune: %+v, want %d restarts and a wait", got, before)
		}
		w.advance(40 * time.Second)
		if got := w.container("a.1", "c").Attempt; got != before+1 {
			w.Errorf("attempt %d, want %d", got, before+1)
		}
	})
}

func TestAnEditReplacesThePodOnceTheNewOneIsReady(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("c", runtimetest.Traps(3*time.Second, 0))
		w.apply(pod("a", "1"))
		w.advance(time.Second)
		w.apply(pod("a", "2"))
		w.advance(time.Second)
		w.wantRunning("a.1/POD", "a.1/c", "a.2/POD")
		if word, _, _, _, _ := status.Reason(w.shows("a.1")); word != "Terminating" {
			w.Errorf("the old pod is shown as %s", word)
		}
		w.advance(3 * time.Second)
		w.wantRunning("a.2/POD", "a.2/c")
		w.wantEvent("Replacing", "uid a.1")
		if pods := w.store.List(); len(pods) != 1 {
			w.Errorf("%d pods are shown", len(pods))
		}
	})
}

func TestAMissingImageLeavesTheOldPod(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1"))
		w.advance(time.Second)
		w.apply(pod("a", "2", withImage("gone:1", v1.PullIfNotPresent)))
		w.advance(time.Minute)
		w.wantRunning("a.1/POD", "a.1/c")
		waiting := w.shows("a.2").Status.ContainerStatuses[0].State.Waiting
		if waiting == nil || !strings.Contains(waiting.Reason, "Pull") {
			w.Errorf("the new pod says %+v", waiting)
		}
		w.engine.AddImage("gone:1")
		w.advance(5 * time.Minute)
		w.wantRunning("a.2/POD", "a.2/c")
	})
}

func TestSharedHostPort(t *testing.T) { // B28
	inWorld(t, func(w *world) {
		w.engine.Behave("c", runtimetest.Deaf())
		w.apply(pod("a", "1", withPort(80), withGrace(10)))
		w.advance(time.Second)
		w.apply(pod("a", "2", withPort(80), withGrace(10)))
		w.advance(9 * time.Second)
		w.wantRunning("a.1/POD", "a.1/c")
		w.advance(5 * time.Second)
		w.wantRunning("a.2/POD", "a.2/c")
		for _, c := range w.engine.Calls() {
			if c.Err != nil && !errors.Is(c.Err, runtime.ErrNotFound) {
				w.Errorf("failed call: %s %v", c.Verb, c.Err)
			}
		}
	})
}

func TestFinishedPodsStayFinished(t *testing.T) {
	for _, policy := range []v1.RestartPolicy{v1.RestartPolicyNever, v1.RestartPolicyOnFailure} {
		t.Run(string(policy), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.engine.Behave("c", runtimetest.Exits(time.Second, 0))
				w.apply(pod("a", "1", withPolicy(policy)))
				w.advance(10 * time.Second)
				w.wantRunning()
				if got := w.shows("a.1").Status.Phase; got != v1.PodSucceeded {
					w.Errorf("phase %s", got)
				}
				starts := w.engine.Count("StartContainer")
				w.kill()
				w.engine.Prune()
				w.boot = "boot-2"
				w.start()
				w.advance(time.Minute)
				w.wantRunning()
				if got := w.engine.Count("StartContainer"); got != starts {
					w.Errorf("it ran again")
				}
				if got := w.shows("a.1").Status.Phase; got != v1.PodSucceeded {
					w.Errorf("phase %s after prune and reboot", got)
				}
				w.apply()
				w.advance(time.Second)
				w.wantNothingLeft()
			})
		})
	}
}

func TestNeverFailsOnceForACommandThatCannotRun(t *testing.T) { // B113
	inWorld(t, func(w *world) {
		w.engine.Behave("c", runtimetest.CannotRun(127))
		w.apply(pod("a", "1", withPolicy(v1.RestartPolicyNever)))
		w.advance(time.Minute)
		got := w.shows("a.1").Status
		if got.Phase != v1.PodFailed || got.ContainerStatuses[0].State.Terminated == nil ||
			got.ContainerStatuses[0].State.Terminated.ExitCode != 127 {
			w.Errorf("status %+v", got)
		}
		if n := w.engine.Count("StartContainer"); n != 1 {
			w.Errorf("%d starts, want one try", n)
		}
	})
}

func TestAgentRestartTouchesNothing(t *testing.T) { // B38
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1"), pod("b", "1", withPort(80)), pod("c", "1", withInit("setup")))
		w.engine.Behave("setup", runtimetest.Exits(0, 0))
		w.advance(time.Second)
		before := w.running()
		for range 2 {
			w.engine.ForgetCalls()
			w.restart()
			w.advance(time.Minute)
			w.wantRunning(before...)
			if n := w.engine.Writes(); n != 0 {
				w.Errorf("%d writes: %v", n, w.engine.Calls())
			}
		}
		if got := w.shows("c.1").Status.Phase; got != v1.PodRunning {
			w.Errorf("phase %s", got)
		}
	})
}

func TestRemovedWhileTheAgentWasDown(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("c", runtimetest.Traps(5*time.Second, 0))
		w.apply(pod("a", "1"), pod("b", "1"))
		w.advance(time.Second)
		w.kill()
		w.wanted = []sources.Pod{pod("b", "1")}
		w.start()
		w.advance(4 * time.Second)
		w.wantRunning("a.1/POD", "a.1/c", "b.1/POD", "b.1/c") // its grace holds
		w.advance(2 * time.Second)
		w.wantRunning("b.1/POD", "b.1/c")
	})
}

func TestChangedWhileTheAgentWasDown(t *testing.T) { // B31
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1", withPort(80)))
		w.advance(time.Second)
		w.kill()
		w.wanted = []sources.Pod{pod("a", "2", withPort(80))}
		w.start()
		w.advance(5 * time.Second)
		w.wantRunning("a.2/POD", "a.2/c")
	})
}

func TestAKilledSandboxIsReplacedAndInitRunsAgain(t *testing.T) { // B160
	inWorld(t, func(w *world) {
		w.engine.Behave("setup", runtimetest.Exits(0, 0))
		w.apply(pod("a", "1", withInit("setup")))
		w.advance(time.Second)
		observed, _ := w.engine.Pod(w.Context(), "a.1")
		w.engine.Kill(observed.Sandboxes[0].ID, 137)
		w.advance(40 * time.Second)
		w.wantRunning("a.1/POD", "a.1/c")
		if got := w.container("a.1", "setup").Attempt; got != 1 {
			w.Errorf("init attempt %d, want 1", got)
		}
		w.wantEvent("SandboxChanged", "")
	})
}

func TestARemovedInitRecordRunsNothing(t *testing.T) { // B37
	inWorld(t, func(w *world) {
		w.engine.Behave("setup", runtimetest.Exits(0, 0))
		w.apply(pod("a", "1", withInit("setup")))
		w.advance(time.Second)
		id := w.container("a.1", "c").ID
		w.engine.RemoveBehindBack(w.container("a.1", "setup").ID)
		w.advance(10 * time.Minute)
		w.wantRunning("a.1/POD", "a.1/c")
		if got := w.container("a.1", "c").ID; got != id {
			w.Errorf("the app container was replaced")
		}
	})
}

func TestRebootedMachineRunsItsPodsAgain(t *testing.T) { // B158
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1"), pod("b", "1"))
		w.advance(time.Second)
		w.kill()
		w.engine.Reboot()
		w.boot, w.began = "boot-2", time.Now()
		w.start()
		w.advance(30 * time.Second)
		w.wantRunning("a.1/POD", "a.1/c", "b.1/POD", "b.1/c")
		if got := w.shows("a.1").Status.ContainerStatuses[0].RestartCount; got != 1 {
			w.Errorf("restart count %d, want 1", got)
		}
		if n := w.objects(); n > 8 {
			w.Errorf("%d objects: old ones pile up", n)
		}
	})
}

func TestEngineAwayAndBack(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1"))
		w.advance(time.Second)
		w.engine.Down()
		w.apply(pod("a", "1"), pod("b", "1"))
		w.advance(time.Minute)
		if err := w.agent.Fresh(w.Context()); !errors.Is(err, runtime.ErrUnavailable) {
			w.Errorf("Fresh says %v", err)
		}
		w.engine.Up()
		w.advance(time.Minute)
		w.wantRunning("a.1/POD", "a.1/c", "b.1/POD", "b.1/c")
		if err := w.agent.Fresh(w.Context()); err != nil {
			w.Errorf("Fresh says %v", err)
		}
	})
}

func TestNothingStartsWithoutARecord(t *testing.T) {
	inWorld(t, func(w *world) {
		var full atomic.Bool
		full.Store(true)
		w.agent.records.write = func(path string, data []byte, mode fs.FileMode) error {
			if full.Load() {
				return syscall.ENOSPC
			}
			return durable.WriteFile(path, data, mode)
		}
		w.apply(pod("a", "1"))
		w.advance(time.Hour)
		w.wantRunning()
		if got := w.shows("a.1").Status.ContainerStatuses[0].State.Waiting; got == nil || !strings.Contains(got.Message, "no space left") {
			w.Errorf("it waits for %+v", got)
		}
		w.wantEvent(events.FailedSync, "no space left")
		full.Store(false)
		w.advance(time.Minute)
		w.wantRunning("a.1/POD", "a.1/c")
	})
}

func TestHungEngineIsToldToEverybodyWhoAsks(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1"))
		w.advance(time.Second)
		w.engine.Freeze()
		w.engine.BreakStream() // the agent looks by itself, and waits
		w.advance(time.Second)
		if err := w.agent.Fresh(w.Context()); !errors.Is(err, runtime.ErrUnavailable) {
			w.Errorf("Fresh says %v", err)
		}
		if _, err := w.agent.Engine(); !errors.Is(err, runtime.ErrUnavailable) {
			w.Errorf("Engine says %v", err)
		}
		w.engine.Thaw()
		w.advance(time.Second)
		if _, err := w.agent.Engine(); err != nil {
			w.Errorf("Engine says %v after it has answered", err)
		}
	})
}

func TestFreshCatchesWhatNoEventTold(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1", withPolicy(v1.RestartPolicyNever)))
		w.advance(time.Second)
		w.engine.Mute()
		w.engine.Kill(w.container("a.1", "c").ID, 1)
		w.advance(time.Second)
		if got := w.shows("a.1").Status.Phase; got != v1.PodRunning {
			w.Fatalf("phase %s before anybody looked", got)
		}
		if err := w.agent.Fresh(w.Context()); err != nil {
			w.Fatal(err)
		}
		if got := w.shows("a.1").Status.Phase; got != v1.PodFailed {
			w.Errorf("phase %s after a fresh look", got)
		}
	})
}

func TestThreeHundredEditsEndInTheLast(t *testing.T) { // B29
	inWorld(t, func(w *world) {
		w.engine.Takes("StartSandbox", 200*time.Millisecond)
		w.apply(pod("a", "0"))
		w.advance(time.Second)
		for i := 1; i <= 300; i++ {
			w.apply(pod("a", string(rune('0'+i%10))+"."+time.Duration(i).String()))
			w.advance(33 * time.Millisecond)
		}
		w.advance(time.Minute)
		last := string(w.wanted[0].UID)
		w.wantRunning(last+"/POD", last+"/c")
		if n := w.objects(); n != 2 {
			w.Errorf("%d objects are left, want 2", n)
		}
	})
}

func TestAPodThatDoesNotFitIsTriedAgain(t *testing.T) { // B169
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1", withPort(80)))
		w.advance(time.Second)
		w.apply(pod("a", "1", withPort(80)), pod("b", "1", withPort(80)))
		w.advance(time.Second)
		got := w.shows("b.1").Status
		if got.Phase != v1.PodFailed || got.Reason != "NodePorts" || !strings.Contains(got.Message, "default/a") {
			w.Errorf("status %+v", got)
		}
		w.apply(pod("b", "1", withPort(80)))
		w.advance(5 * time.Second)
		w.wantRunning("b.1/POD", "b.1/c")
	})
}

func TestABoundPortIsWaitedFor(t *testing.T) { // B121
	inWorld(t, func(w *world) {
		w.engine.OccupyPort("TCP", "", 80)
		w.apply(pod("a", "1", withPort(80)))
		w.advance(time.Minute)
		w.wantRunning()
		w.wantEvent("FailedCreatePodSandBox", "host port in use")
		if n := w.engine.Count("StartSandbox"); n > 12 {
			w.Errorf("%d tries in a minute", n)
		}
		w.engine.FreePorts()
		w.advance(20 * time.Second)
		w.wantRunning("a.1/POD", "a.1/c")
	})
}

func TestAPullIsGivenUpWhenNobodyWantsItAnyMore(t *testing.T) { // B152
	inWorld(t, func(w *world) {
		w.engine.Serve("slow:1", runtimetest.Remote{Takes: time.Hour})
		w.engine.Serve("quick:1", runtimetest.Remote{Takes: time.Second})
		w.apply(pod("a", "1", withImage("slow:1", v1.PullIfNotPresent)))
		w.advance(time.Second)
		w.apply(pod("a", "2", withImage("quick:1", v1.PullIfNotPresent)))
		w.advance(10 * time.Second)
		w.wantRunning("a.2/POD", "a.2/c")
	})
}

// An engine that will not start what it has made, and does not show that as an
// end, is asked again after a while, not again and again.
func TestRefusedStartsComeWithDelays(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Inject(runtimetest.Fault{Call: "StartContainer", Container: "c", Mode: runtimetest.Fail, Err: runtime.ErrCannotRun})
		w.apply(pod("a", "1"))
		w.advance(time.Minute)
		if n := w.engine.Count("StartContainer"); n < 3 || n > 20 {
			w.Errorf("%d tries in a minute", n)
		}
		w.engine.ClearFaults()
		w.advance(20 * time.Second)
		w.wantRunning("a.1/POD", "a.1/c")
	})
}

// An engine that has more urgent work keeps what is dead for a while. The pod is
// shown as it is meanwhile, nobody is told, and what happens to it is seen to.
func TestABusyEngineDelaysOnlyTheTidying(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1"))
		w.advance(11 * time.Second)
		w.engine.Inject(runtimetest.Fault{Call: "Remove", Mode: runtimetest.Fail, Err: runtime.ErrBusy})
		observed, _ := w.engine.Pod(w.Context(), "a.1")
		w.engine.Kill(observed.Sandboxes[0].ID, 137)
		w.advance(5 * time.Second)
		w.wantRunning("a.1/POD", "a.1/c")
		if got := w.shows("a.1").Status; got.Phase != v1.PodRunning || !got.ContainerStatuses[0].Ready {
			w.Errorf("shown as %v", got)
		}
		w.engine.Kill(w.container("a.1", "c").ID, 1)
		w.advance(25 * time.Second)
		w.wantRunning("a.1/POD", "a.1/c")
		w.apply()
		w.advance(time.Minute)
		w.wantRunning()
		w.engine.ClearFaults()
		w.advance(5 * time.Second)
		w.wantNothingLeft()
		for _, e := range w.agent.Events().List(events.Filter{}) {
			if e.Type == v1.EventTypeWarning && e.Reason != "BackOff" {
				w.Errorf("told: %s %s", e.Reason, e.Message)
			}
		}
	})
}
