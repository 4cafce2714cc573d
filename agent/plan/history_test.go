package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

func TestObserveTakesInOnceWhatHappened(t *testing.T) {
	pod := aPod(v1.RestartPolicyAlways, "init:get", "web", "log")
	obs := shows(box(2, isRunning),
		ended("get", 0, 2, 0, 0, time.Second),
		ended("web", 0, 2, 1, time.Second, 2*time.Second), ended("web", 1, 2, 3, 3*time.Second, 4*time.Second),
		instance("log", 0, 2, isRunning))
	h, ends, changed := NewHistory().Observe(pod, obs, at(5*time.Second))
	if !changed || h.SandboxAttempt != 2 {
		t.Errorf("changed %v, sandbox attempt %d", changed, h.SandboxAttempt)
	}
	if len(ends) != 3 || ends[0].Container != "get" || ends[1].ID != "web0" || ends[2].ID != "web1" {
		t.Errorf("ends are %+v, want get0, web0, web1", ends)
	}
	web := h.Containers["web"]
	if web.Attempt != 1 || web.Ended.ID != "web1" || web.Ended.ExitCode != 3 || web.Previous.ID != "web0" || web.BackOff != 10*time.Second {
		t.Errorf("web is %+v", web)
	}
	if web.Ended.At != at(4*time.Second) {
		t.Errorf("web ended at %+v, want 4 s after the boot", web.Ended.At)
	}
	if log := h.Containers["log"]; log.Running != "log0" || !log.RunningAt.Equal(epoch) {
		t.Errorf("log is %+v", log)
	}
	again, ends, changed := h.Observe(pod, obs, at(time.Hour))
	if changed || len(ends) != 0 || !reflect.DeepEqual(again, h) {
		t.Errorf("the same again: changed %v, ends %v", changed, ends)
	}
	var read History
	data, err := json.Marshal(h)
	if err != nil || json.Unmarshal(data, &read) != nil {
		t.Fatalf("does not survive its record: %v", err)
	}
	if _, ends, changed := read.Observe(pod, obs, at(time.Hour)); changed || len(ends) != 0 {
		t.Errorf("read back: changed %v, ends %v", changed, ends)
	}
}

func TestObserveLeavesTheReceiver(t *testing.T) {
	before, _, _ := NewHistory().Observe(nil, shows(box(0, isRunning), instance("web", 0, 0, isRunning)), at(0))
	kept := before.Containers["web"]
	before.Observe(nil, shows(box(0, isRunning), ended("web", 0, 0, 1, 0, time.Second)), at(time.Minute))
	before.WithMessage("web", "web0", "bye")
	if before.Containers["web"] != kept {
		t.Errorf("the receiver became %+v", before.Containers["web"])
	}
}

func TestObserveSeesRunsEnd(t *testing.T) {
	running, _, _ := NewHistory().Observe(nil, shows(box(0, isRunning), instance("web", 3, 0, isRunning)), at(0))
	prune := shows(box(0, isRunning))
	tests := []struct {
		name     string
		observed runtime.Pod
		ended    string // code and reason
		running  string
		attempt  int
	}{
		{name: "it still runs", observed: shows(box(0, isRunning), instance("web", 3, 0, isRunning)), running: "web3", attempt: 3},
		{name: "it ended", observed: shows(box(0, isRunning), ended("web", 3, 0, 2, 0, time.Second)), ended: "2 Error", attempt: 3},
		{name: "its record vanished (B37)", observed: prune, ended: "137 ContainerStatusUnknown", attempt: 3},
		{name: "it is being removed: not over yet", observed: shows(box(0, isRunning), instance("web", 3, 0, isUnknown)), running: "web3", attempt: 3},
		{name: "its record vanished and the next one runs", observed: shows(box(0, isRunning), instance("web", 4, 0, isRunning)), ended: "137 ContainerStatusUnknown", running: "web4", attempt: 4},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			h, ends, _ := running.Observe(nil, tc.observed, at(time.Minute))
			web := h.Containers["web"]
			got := ""
			if web.Ended != nil {
				got = fmt.Sprintf("%d %s", web.Ended.ExitCode, web.Ended.Reason)
			}
			if got != tc.ended || web.Running != tc.running || web.Attempt != tc.attempt || (len(ends) > 0) != (tc.ended != "") {
				t.Errorf("ended %q, running %q, attempt %d, ends %v; want %q, %q, %d", got, web.Running, web.Attempt, ends, tc.ended, tc.running, tc.attempt)
			}
		})
	}
}

// B110: what was made and never started is no run, and gives its number back.
func TestObserveDoesNotCountWhatNeverStarted(t *testing.T) {
	h, ends, _ := NewHistory().Observe(nil, shows(box(0, isExited), instance("web", 0, 0, isCreated)), at(0))
	h, more, _ := h.Observe(nil, shows(box(0, isExited)), at(time.Second))
	if len(ends)+len(more) != 0 {
		t.Errorf("ends are %v and %v", ends, more)
	}
	in := input(aPod(v1.RestartPolicyNever, "web"), shows(box(1, isRunning)), at(time.Minute))
	in.History = h
	checkSteps(t, Sync(in), "create-container web0: New", "start-container web: New")
}

// The engine's clock is the machine's wall clock, which can be anything.
func TestObserveMapsTheEnginesTimes(t *testing.T) {
	past := Moment{Boot: "one", Since: 100 * time.Second, Wall: time.Unix(0, 0)}
	tests := []struct {
		name     string
		finished time.Time
		now      Moment
		since    time.Duration
	}{
		{name: "just now", finished: epoch.Add(99 * time.Second), now: at(100 * time.Second), since: 99 * time.Second},
		{name: "in the future", finished: epoch.Add(time.Hour), now: at(100 * time.Second), since: 100 * time.Second},
		{name: "long ago, in an earlier boot", finished: epoch.Add(-48 * time.Hour), now: at(100 * time.Second), since: 100*time.Second - maxBackOff},
		{name: "never told", now: at(100 * time.Second), since: 100 * time.Second},
		{name: "a board that boots in 1970", finished: epoch, now: past, since: 100 * time.Second},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			c := ended("web", 0, 0, 1, 0, 0)
			c.FinishedAt = tc.finished
			h, _, _ := NewHistory().Observe(nil, shows(c), tc.now)
			if got := h.Containers["web"].Ended.At; got.Since != tc.since || got.Boot != tc.now.Boot {
				t.Errorf("ended at %v, want %v", got.Since, tc.since)
			}
		})
	}
}

// A wall clock that jumps ahead while a container crashes makes no good run of
// a bad one: the boot clock knows better.
func TestObserveIsNotFooledByAJump(t *testing.T) {
	h, _, _ := NewHistory().Observe(nil, shows(box(0, isRunning), ended("web", 0, 0, 1, 0, time.Second)), at(time.Second))
	now := at(5 * time.Second)
	now.Wall = now.Wall.Add(50 * 365 * 24 * time.Hour)
	jumped := ended("web", 1, 0, 1, 2*time.Second, 0)
	jumped.FinishedAt = now.Wall
	h, _, _ = h.Observe(nil, shows(box(0, isRunning), jumped), now)
	if got := h.Containers["web"].BackOff; got != 10*time.Second {
		t.Errorf("back-off is %v, want 10s", got)
	}
}

// What goes down with its sandbox (the machine, the engine, the pause process) has
// not crashed: the next start is not put off for it. Crashes before it still count.
func TestObserveTellsAnOutageFromACrash(t *testing.T) {
	dead := func(attempt int, to time.Duration) runtime.Sandbox {
		s := box(attempt, isExited)
		s.FinishedAt = epoch.Add(to)
		return s
	}
	tests := []struct {
		name   string
		second []any // what the engine shows of the container's second end
		want   time.Duration
	}{
		{name: "a crash", second: []any{box(0, isRunning), ended("web", 1, 0, 1, 2*time.Second, 4*time.Second)}, want: 10 * time.Second},
		{name: "with its sandbox", second: []any{dead(0, 4*time.Second), ended("web", 1, 0, 137, 2*time.Second, 4*time.Second)}},
		{name: "a little before it", second: []any{dead(0, 5*time.Second), ended("web", 1, 0, 137, 2*time.Second, 4*time.Second)}},
		{name: "after it, in its grace", second: []any{dead(0, 4*time.Second), ended("web", 1, 0, 137, 2*time.Second, 30*time.Second)}},
		{name: "long before it", second: []any{dead(0, time.Minute), ended("web", 1, 0, 1, 2*time.Second, 4*time.Second)}, want: 10 * time.Second},
		{name: "the sandbox was pruned since", second: []any{ended("web", 1, 0, 137, 2*time.Second, 4*time.Second)}},
		{name: "in a sandbox that a newer one follows", second: []any{box(1, isRunning), dead(0, 4*time.Second), ended("web", 1, 0, 137, 2*time.Second, 4*time.Second)}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			h, _, _ := NewHistory().Observe(nil, shows(box(0, isRunning), ended("web", 0, 0, 1, 0, time.Second)), at(time.Second))
			h, _, _ = h.Observe(nil, shows(tc.second...), at(2*time.Minute))
			if got := h.Containers["web"].BackOff; got != tc.want {
				t.Errorf("back-off is %v, want %v", got, tc.want)
			}
		})
	}
}

// Somebody's docker start of an ended instance is a run of its own.
func TestObserveSeesASecondEndOfOneInstance(t *testing.T) {
	h := NewHistory()
	for i, c := range []runtime.Container{ended("web", 0, 0, 1, 0, 1), instance("web", 0, 0, isRunning), ended("web", 0, 0, 4, 2, 3)} {
		h, _, _ = h.Observe(nil, shows(c), at(time.Duration(i)*time.Second))
	}
	if web := h.Containers["web"]; web.Ended.ExitCode != 4 || web.Previous.ExitCode != 1 || web.Attempt != 0 {
		t.Errorf("web is %+v", web)
	}
}

func TestWithMessage(t *testing.T) {
	h, _, _ := NewHistory().Observe(nil, shows(ended("web", 0, 0, 1, 0, 1), ended("web", 1, 0, 1, 1, 2)), at(time.Second))
	h = h.WithMessage("web", "web0", "first").WithMessage("web", "web1", "second").WithMessage("web", "web9", "x").WithMessage("log", "web1", "x")
	if web := h.Containers["web"]; web.Ended.Message != "second" || web.Previous.Message != "first" {
		t.Errorf("messages are %q and %q", web.Ended.Message, web.Previous.Message)
	}
	if _, ok := h.Containers["log"]; ok {
		t.Error("a stranger got a history")
	}
}
