package plan

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// reads is an input of a pod whose containers a and b were made with one of
// objects and would now see what is given.
func reads(policy v1.RestartPolicy, obs runtime.Pod, now map[string]Objects) Input {
	in := input(aPod(policy, "a", "b"), obs, at(time.Hour))
	in.History.SandboxAttempt = 0
	in.History = in.History.WithMade("a", Made{0, "one"}).WithMade("b", Made{0, "one"})
	in.Objects = now
	return in
}

func TestOnlyWhatReadsSomethingElseIsRestarted(t *testing.T) {
	running := shows(box(0, isRunning), instance("a", 0, 0, isRunning), instance("b", 0, 0, isRunning))
	two := map[string]Objects{"a": {Digest: "two", Changed: "ConfigMap default/x"}, "b": {Digest: "one"}}
	tests := []struct {
		name string
		edit func(*Input)
		want []string
	}{
		{name: "one of two", want: []string{"signal a0 TERM: ObjectsChanged"}},
		{name: "both, side by side", edit: func(in *Input) { in.Objects["b"] = Objects{Digest: "two"} },
			want: []string{"signal a0 TERM: ObjectsChanged | signal b0 TERM: ObjectsChanged"}},
		{name: "not asked for", edit: func(in *Input) { in.RestartOnChange = false }},
		{name: "asked for before, which is carried out", edit: func(in *Input) {
			in.RestartOnChange = false
			in.History = in.History.WithRestart("b", Restart{Attempt: 0, Message: "ConfigMap default/x changed"})
		}, want: []string{"signal b0 TERM: ObjectsChanged"}},
		{name: "a restart that is over", edit: func(in *Input) {
			in.RestartOnChange = false
			in.History = in.History.WithRestart("b", Restart{Attempt: -1, Message: "ConfigMap default/x changed"})
		}},
		{name: "something is missing now", edit: func(in *Input) { in.Objects["a"] = Objects{} }},
		{name: "not known what there is", edit: func(in *Input) { in.Objects = nil }},
		{name: "not known what it was made with", edit: func(in *Input) { in.History = in.History.WithMade("a", Made{}) }},
		{name: "known of another attempt only", edit: func(in *Input) { in.History = in.History.WithMade("a", Made{3, "one"}) }},
		{name: "the image is awaited", edit: func(in *Input) { in.Images["a"] = Image{} }},
		{name: "the stop is under way", edit: func(in *Input) {
			in.Images["a"] = Image{}
			in.Stops = map[string]Stop{"a0": {Signalled: at(time.Hour - 5*time.Second), Grace: 30 * time.Second}}
		}},
		{name: "the grace is over", edit: func(in *Input) {
			in.Stops = map[string]Stop{"a0": {Signalled: at(time.Hour - 31*time.Second), Grace: 30 * time.Second}}
		}, want: []string{"signal a0 KILL: GraceExpired"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := reads(v1.RestartPolicyAlways, running, map[string]Objects{"a": two["a"], "b": two["b"]})
			in.RestartOnChange = true
			if test.edit != nil {
				test.edit(&in)
			}
			checkSteps(t, Sync(in), test.want...)
		})
	}
}

func TestARestartThatWasDecidedKnowsNoPolicyAndNoBackOff(t *testing.T) {
	for _, policy := range []v1.RestartPolicy{v1.RestartPolicyAlways, v1.RestartPolicyOnFailure, v1.RestartPolicyNever} {
		obs := shows(box(0, isRunning), ended("a", 0, 0, 0, 0, time.Hour), instance("b", 0, 0, isRunning))
		in := reads(policy, obs, map[string]Objects{"a": {Digest: "two"}, "b": {Digest: "one"}})
		in.History = in.History.WithRestart("a", Restart{Attempt: 0, Message: "ConfigMap default/x changed"})
		d := Sync(in)
		checkSteps(t, d, "create-container a1: ObjectsChanged", "start-container a: ObjectsChanged")
		if m := d.Steps[0][0].Message; m != "ConfigMap default/x changed" {
			t.Errorf("the reason reads %q", m)
		}
	}
}

func TestARestartThatWasDecidedIsNoCrash(t *testing.T) {
	h := NewHistory()
	look := func(at Moment, c ...any) { h, _, _ = h.Observe(nil, shows(append(c, box(0, isRunning))...), at) }
	look(at(2*time.Second), ended("a", 0, 0, 1, 0, time.Second))
	look(at(4*time.Second), ended("a", 1, 0, 1, 2*time.Second, 3*time.Second))
	if got := h.Containers["a"].BackOff; got != 10*time.Second {
		t.Fatalf("back-off is %v", got)
	}
	h = h.WithRestart("a", Restart{Attempt: 2, Message: "m"})
	look(at(30*time.Second), ended("a", 2, 0, 143, 14*time.Second, 29*time.Second))
	if got := h.Containers["a"].BackOff; got != 10*time.Second {
		t.Errorf("after the restart the back-off is %v", got)
	}
	look(at(32*time.Second), ended("a", 3, 0, 1, 30*time.Second, 31*time.Second))
	if got := h.Containers["a"].BackOff; got != 20*time.Second {
		t.Errorf("after one more crash the back-off is %v", got)
	}
}

func TestWhatItReadsMayCureACrash(t *testing.T) {
	obs := shows(box(0, isRunning), ended("a", 0, 0, 1, time.Hour-2*time.Second, time.Hour), instance("b", 0, 0, isRunning))
	for _, test := range []struct {
		name    string
		restart bool
		digest  string
		want    []string
	}{
		{name: "the same as before", restart: true, digest: "one"},
		{name: "not asked for", digest: "two"},
		{name: "something else", restart: true, digest: "two", want: []string{"create-container a1: ContainerExited", "start-container a: ContainerExited"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := reads(v1.RestartPolicyAlways, obs, map[string]Objects{"a": {Digest: test.digest}})
			in.RestartOnChange = test.restart
			h := in.History.Containers["a"]
			h.Ended, h.BackOff = &Ended{Container: "a", ID: "a0", At: at(time.Hour), SandboxID: "box0", ExitCode: 1}, 10*time.Second
			in.History.Containers["a"] = h
			checkSteps(t, Sync(in), test.want...)
		})
	}
}

func TestWhatWasNotStartedIsMadeAgainWithWhatThereIs(t *testing.T) {
	obs := shows(box(0, isRunning), instance("a", 0, 0, isCreated), instance("b", 0, 0, isCreated))
	in := reads(v1.RestartPolicyAlways, obs, map[string]Objects{"a": {Digest: "two", Changed: "Secret default/s"}, "b": {Digest: "one"}})
	in.Gate = GateSandbox
	checkSteps(t, Sync(in), "remove a0: ObjectsChanged", "create-container a0: ObjectsChanged")
	in.Objects["a"] = Objects{}
	in.Failures = map[string]Failure{"a": {Waiting: Waiting{Reason: "CreateContainerConfigError"}, Retry: at(2 * time.Hour)}}
	d := Sync(in)
	checkSteps(t, d, "remove a0: ObjectsChanged")
	checkWaiting(t, d, map[string]string{"a": "CreateContainerConfigError", "b": "ContainerCreating"})
}
