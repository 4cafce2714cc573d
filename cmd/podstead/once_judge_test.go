package main

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/sources"
)

// wantedPod is a pod as a source wants it.
func wantedPod(name, uid string, policy v1.RestartPolicy) sources.Pod {
	return sources.Pod{
		Pod: manifests.Pod{Pod: &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(uid)},
			Spec:       v1.PodSpec{RestartPolicy: policy},
		}},
		Origin: sources.Origin{Source: "file", Unit: name + ".yaml", Line: 1},
	}
}

// shownPod is the same pod as the agent shows it.
func shownPod(p sources.Pod, phase v1.PodPhase, isReady bool) *v1.Pod {
	out := p.Pod.Pod.DeepCopy()
	out.Status.Phase = phase
	if isReady {
		out.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}}
	}
	return out
}

func TestWhenARunOnceIsOver(t *testing.T) {
	const always, never, onFailure = v1.RestartPolicyAlways, v1.RestartPolicyNever, v1.RestartPolicyOnFailure
	fault := []manifests.Fault{{Place: manifests.Place{Unit: "bad.yaml", Line: 3}, Message: "wrong"}}
	good := sources.Unit{Name: "web.yaml", Revision: "sha256:1"}
	type wish struct {
		policy  v1.RestartPolicy
		phase   v1.PodPhase // "" for not taken up
		isReady bool
	}
	cases := []struct {
		name        string
		unattempted bool
		dead        bool // the place has not been heard, last good in force
		faults      []manifests.Fault
		units       []sources.Unit
		pods        []wish
		over        bool
		code        int
		results     string
	}{
		{name: "nothing to run and no fault", over: true, code: 0},
		{name: "a source not tried yet", unattempted: true, over: false, code: cli.ExitConfig},
		{name: "not taken up yet", units: []sources.Unit{good}, pods: []wish{{policy: always}}, results: "Waiting", code: 1},
		{name: "running but not ready", units: []sources.Unit{good}, pods: []wish{{always, v1.PodRunning, false}}, results: "Waiting", code: 1},
		{name: "ready", units: []sources.Unit{good}, pods: []wish{{always, v1.PodRunning, true}}, over: true, results: "Ready", code: 0},
		{name: "a job that runs is not done", units: []sources.Unit{good}, pods: []wish{{never, v1.PodRunning, true}}, results: "Waiting", code: 1},
		{name: "a job that succeeded", units: []sources.Unit{good}, pods: []wish{{onFailure, v1.PodSucceeded, false}}, over: true, results: "Succeeded", code: 0},
		{name: "a job that failed", units: []sources.Unit{good}, pods: []wish{{never, v1.PodFailed, false}}, over: true, results: "Failed", code: 1}, // B118
		{name: "refused at admission", units: []sources.Unit{good}, pods: []wish{{always, v1.PodFailed, false}}, over: true, results: "Failed", code: 1},
		{name: "one of two", units: []sources.Unit{good}, pods: []wish{{always, v1.PodRunning, true}, {never, v1.PodPending, false}}, results: "Ready Waiting", code: 1},
		{name: "the rest runs beside a faulty unit", units: []sources.Unit{good, {Name: "bad.yaml", Faults: fault}}, pods: []wish{{always, v1.PodRunning, true}}, over: true, results: "Ready", code: 1},
		{name: "a faulty unit runs its last good version", units: []sources.Unit{{Name: "web.yaml", Revision: "sha256:0", Faults: fault}}, pods: []wish{{always, v1.PodRunning, true}}, over: true, results: "Ready", code: 1},
		{name: "every unit faulty, none with a last good set", units: []sources.Unit{{Name: "bad.yaml", Faults: fault}}, over: true, code: cli.ExitConfig},
		{name: "the place is gone, nothing kept", dead: true, faults: fault, over: true, code: cli.ExitConfig},
		{name: "the place is gone, last good runs", dead: true, faults: fault, units: []sources.Unit{good}, pods: []wish{{always, v1.PodRunning, true}}, over: true, results: "Ready", code: 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := sources.Status{Snapshot: sources.Snapshot{Source: "file", Live: !c.dead, Attempted: !c.unattempted, Faults: c.faults, Units: c.units}}
			var shown []*v1.Pod
			for i, w := range c.pods {
				p := wantedPod(string(rune('a'+i)), string(rune('a'+i)), w.policy)
				s.Pods = append(s.Pods, p)
				if w.phase != "" {
					shown = append(shown, shownPod(p, w.phase, w.isReady))
				}
			}
			view := judge([]sources.Status{s}, shown)
			var results []string
			for _, p := range view.pods {
				results = append(results, string(p.Result))
			}
			if view.over() != c.over || strings.Join(results, " ") != c.results || view.exitCode() != c.code {
				t.Errorf("over %v, results %q, code %d; want %v, %q, %d", view.over(), results, view.exitCode(), c.over, c.results, c.code)
			}
		})
	}
}

func TestWhatIsWaitedForAtTheEnd(t *testing.T) {
	web := wantedPod("web", "u1", v1.RestartPolicyAlways)
	view := judge([]sources.Status{{Snapshot: sources.Snapshot{Source: "file", Live: true, Attempted: true, Pods: []sources.Pod{web}}}}, nil)
	if view.holding {
		t.Error("a live source without faults holds nothing back")
	}
	mine, other := runtime.Pod{PodRef: runtime.PodRef{UID: "u1"}}, runtime.Pod{PodRef: runtime.PodRef{UID: "u0"}}
	if view.leftovers([]runtime.Pod{mine}) || !view.leftovers([]runtime.Pod{mine, other}) {
		t.Error("what is not wanted is left over, and nothing else is")
	}
}

func TestTheLoserOfANameIsNotWaitedFor(t *testing.T) {
	first, second := wantedPod("web", "u1", v1.RestartPolicyAlways), wantedPod("web", "u2", v1.RestartPolicyAlways)
	view := judge([]sources.Status{
		{Snapshot: sources.Snapshot{Source: "file", Live: true, Attempted: true, Pods: []sources.Pod{first}}},
		{Snapshot: sources.Snapshot{Source: "file-2", Live: true, Attempted: true, Pods: []sources.Pod{second}}},
	}, []*v1.Pod{shownPod(first, v1.PodRunning, true)})
	if !view.over() || view.exitCode() != 0 || view.wanted["u2"] {
		t.Errorf("over %v, code %d, wanted %v", view.over(), view.exitCode(), view.wanted)
	}
}

func TestAPodIsOnlyReadyOnceItStaysSo(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }
	web := wantedPod("web", "u1", v1.RestartPolicyAlways)
	view := func(isReady bool, container string) onceView {
		p := shownPod(web, v1.PodRunning, isReady)
		p.Status.ContainerStatuses = []v1.ContainerStatus{{ContainerID: container}}
		return judge([]sources.Status{{Snapshot: sources.Snapshot{Live: true, Attempted: true, Pods: []sources.Pod{web}}}}, []*v1.Pod{p})
	}
	var still stillness
	steps := []struct {
		name string
		view onceView
		ms   int
		want time.Duration
	}{
		{"ready", view(true, "c0"), 0, 0},
		{"still ready", view(true, "c0"), 600, 600 * time.Millisecond},
		{"crashed", view(false, "c0"), 700, 0},
		{"restarted", view(true, "c1"), 900, 0},
		{"restarted unseen", view(true, "c2"), 1000, 0},
		{"steady", view(true, "c2"), 2000, time.Second},
	}
	for _, s := range steps {
		if got := still.lasts(s.view, at(s.ms)); got != s.want {
			t.Errorf("%s: %s, want %s", s.name, got, s.want)
		}
	}
}
