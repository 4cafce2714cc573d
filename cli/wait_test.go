package cli

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/agent/api"
)

// aPod is a pod of node n1 as the agent shows it: ready, waiting for a reason, or
// at its end.
func aPod(name string, edit ...func(*v1.Pod)) v1.Pod {
	p := v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name + "-n1"},
		Spec:       v1.PodSpec{NodeName: "n1", Containers: []v1.Container{{Name: "main"}}},
		Status: v1.PodStatus{
			Phase:             v1.PodRunning,
			Conditions:        []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}},
			ContainerStatuses: []v1.ContainerStatus{{Name: "main", Ready: true, State: v1.ContainerState{Running: &v1.ContainerStateRunning{}}}},
		},
	}
	for _, e := range edit {
		e(&p)
	}
	return p
}

func unready(p *v1.Pod) {
	p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionFalse, Message: "containers with unready status: [main]"}}
	p.Status.ContainerStatuses[0].Ready = false
}

func crashing(p *v1.Pod) {
	unready(p)
	p.Status.ContainerStatuses[0].State = v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 10s"}}
}

func atEnd(phase v1.PodPhase) func(*v1.Pod) {
	return func(p *v1.Pod) {
		unready(p)
		p.Status.Phase, p.Status.Message = phase, "by itself"
		p.Status.ContainerStatuses[0].State = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{Reason: "Completed"}}
	}
}

func going(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon} }

func TestWaitingForPods(t *testing.T) {
	tests := []struct {
		name string
		cond string
		of   string // "" for all
		pods []v1.Pod
		met  bool
		why  string // part of it
		end  bool   // it can never come
	}{
		{name: "ready", cond: "ready", of: "web", pods: []v1.Pod{aPod("web")}, met: true},
		{name: "by its full name", cond: "ready", of: "web-n1", pods: []v1.Pod{aPod("web")}, met: true},
		{name: "not yet there", cond: "ready", of: "wbe", pods: []v1.Pod{aPod("web")}, why: "did you mean web?"},
		{name: "not ready yet", cond: "ready", of: "web", pods: []v1.Pod{aPod("web", unready)}, why: "Running: containers with unready status: [main]"},
		{name: "crashing", cond: "ready", of: "web", pods: []v1.Pod{aPod("web", crashing)}, why: "CrashLoopBackOff: back-off 10s"},
		{name: "succeeded", cond: "ready", of: "web", pods: []v1.Pod{aPod("web", atEnd(v1.PodSucceeded))}, why: "it can never be ready: it has succeeded (by itself)", end: true},
		{name: "failed", cond: "ready", of: "web", pods: []v1.Pod{aPod("web", atEnd(v1.PodFailed))}, why: "it has failed", end: true},
		{name: "on its way out", cond: "ready", of: "web", pods: []v1.Pod{aPod("web", going)}, why: "on its way out"},
		{name: "its replacement is not ready", cond: "ready", of: "web", pods: []v1.Pod{aPod("web"), aPod("web", unready)}, why: "containers with unready status"},
		{name: "its replacement is", cond: "ready", of: "web", pods: []v1.Pod{aPod("web", going, unready), aPod("web")}, met: true},
		{name: "a job's replacement is not ready yet", cond: "ready", of: "web", pods: []v1.Pod{aPod("web", atEnd(v1.PodSucceeded)), aPod("web", unready)}, why: "it has succeeded"},
		{name: "running and not ready", cond: "running", of: "web", pods: []v1.Pod{aPod("web", unready)}, met: true},
		{name: "crashing does not run", cond: "running", of: "web", pods: []v1.Pod{aPod("web", crashing)}, why: "CrashLoopBackOff"},
		{name: "what has failed does not either", cond: "running", of: "web", pods: []v1.Pod{aPod("web", atEnd(v1.PodFailed))}, why: "it can never run", end: true},
		{name: "gone", cond: "gone", of: "web", pods: []v1.Pod{aPod("db")}, met: true},
		{name: "not gone", cond: "gone", of: "web", pods: []v1.Pod{aPod("web", going)}, why: "web-n1 is still there: Terminating"},
		{name: "all, jobs included", cond: "ready", pods: []v1.Pod{aPod("web"), aPod("job", atEnd(v1.PodSucceeded))}, met: true},
		{name: "all but one", cond: "ready", pods: []v1.Pod{aPod("web"), aPod("db", crashing)}, why: "db-n1: CrashLoopBackOff: back-off 10s"},
		{name: "all, and one has failed", cond: "ready", pods: []v1.Pod{aPod("web"), aPod("job", atEnd(v1.PodFailed))}, why: "job-n1: it can never be ready", end: true},
		{name: "all of none", cond: "ready", why: "there are no pods"},
		{name: "all gone", cond: "gone", met: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cond, err := parseCondition(test.cond)
			if err != nil {
				t.Fatal(err)
			}
			v := podGoal(cond, "default", test.of).judge(sight{pods: test.pods})
			if v.met != test.met || v.never != test.end || !strings.Contains(v.why, test.why) {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestWaitingForSources(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	fleet := api.Source{Name: "fleet", State: api.SourceReady, Revision: commit}
	file := api.Source{Name: "file", State: api.SourceReady, Revision: "sha256:aaaa11112222", Units: []api.Unit{{Name: "web.yaml", Revision: "sha256:bbbb11112222"}}}
	faulty := fleet
	faulty.State, faulty.Faults = api.SourceError, []api.Fault{{Place: "fleet.git", Message: "refused"}}
	suspended := fleet
	suspended.State, suspended.Suspended = api.SourceSuspended, &api.Suspension{By: "alice"}
	retired := fleet
	retired.State, retired.Retired, retired.WaitsFor = api.SourceRetired, true, []string{"file"}
	tests := []struct {
		name    string
		cond    string
		of      string
		sources []api.Source
		met     bool
		why     string
	}{
		{name: "a commit", cond: "revision=" + commit, of: "fleet", sources: []api.Source{fleet}, met: true},
		{name: "a short one", cond: "revision=0123456", of: "fleet", sources: []api.Source{file, fleet}, met: true},
		{name: "too short a one", cond: "revision=012", of: "fleet", sources: []api.Source{fleet}, why: "in force is 0123456"},
		{name: "another", cond: "revision=abcdef", of: "fleet", sources: []api.Source{faulty}, why: "in force is 0123456, and its state is Error: fleet.git: refused"},
		{name: "none yet", cond: "revision=abcdef", of: "fleet", sources: []api.Source{{Name: "fleet", State: api.SourceWaiting}}, why: "nothing of it is in force, and its state is Waiting"},
		{name: "of a folder", cond: "revision=sha256:aaaa", of: "file", sources: []api.Source{file}, met: true},
		{name: "of a file in it, by its hash", cond: "revision=bbbb1111", of: "file", sources: []api.Source{file}, met: true},
		{name: "no such source", cond: "revision=0123456", of: "flete", sources: []api.Source{fleet}, why: "there are: fleet"},
		{name: "suspended", cond: "ready", of: "fleet", sources: []api.Source{suspended}, why: "its state is Suspended (not looked at, asked for by alice)"},
		{name: "ready", cond: "ready", of: "fleet", sources: []api.Source{fleet}, met: true},
		{name: "all ready", cond: "ready", sources: []api.Source{fleet, file}, met: true},
		{name: "gone", cond: "gone", of: "fleet", sources: []api.Source{file}, met: true},
		{name: "configured", cond: "gone", of: "fleet", sources: []api.Source{fleet}, why: "it is configured"},
		{name: "retired", cond: "gone", of: "fleet", sources: []api.Source{retired}, why: "until these have answered: file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cond, err := parseCondition(test.cond)
			if err != nil {
				t.Fatal(err)
			}
			v := sourceGoal(cond, test.of).judge(sight{sources: test.sources})
			if v.met != test.met || v.never || !strings.Contains(v.why, test.why) {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestWhatIsWaitedFor(t *testing.T) {
	tests := []struct {
		name    string
		cmd     WaitCmd
		pods    string
		sources string
		fault   string
	}{
		{name: "a pod", cmd: WaitCmd{For: "ready", Names: []string{"web"}}, pods: "pod/web"},
		{name: "both, with their kinds", cmd: WaitCmd{For: "ready", Names: []string{"po/web", "source/fleet", "db"}}, pods: "pod/web pod/db", sources: "source/fleet"},
		{name: "kubectl's words", cmd: WaitCmd{For: "condition=Ready", Names: []string{"pod", "web"}}, pods: "pod/web"},
		{name: "and its other ones", cmd: WaitCmd{For: "delete", Names: []string{"pods"}, All: true}, pods: "all pods"},
		{name: "a pod named like a kind", cmd: WaitCmd{For: "ready", Names: []string{"pod"}}, pods: "pod/pod"},
		{name: "a revision is a source's", cmd: WaitCmd{For: "revision=abc", Names: []string{"fleet"}}, sources: "source/fleet"},
		{name: "of all sources", cmd: WaitCmd{For: "revision=abc", All: true}, sources: "all sources"},
		{name: "nothing", cmd: WaitCmd{For: "ready"}, fault: "say --all"},
		{name: "all and one", cmd: WaitCmd{For: "ready", All: true, Names: []string{"web"}}, fault: "--all takes no names"},
		{name: "a revision of a pod", cmd: WaitCmd{For: "revision=abc", Names: []string{"pod/web"}}, fault: "say source/NAME"},
		{name: "a running source", cmd: WaitCmd{For: "running", Names: []string{"source/fleet"}}, fault: "a source does not run"},
		{name: "another kind", cmd: WaitCmd{For: "ready", Names: []string{"deployment/web"}}, fault: "podstead knows pods"},
		{name: "another condition", cmd: WaitCmd{For: "condition=Initialized", Names: []string{"web"}}, fault: "is not one of ready, running, gone, revision=REV"},
		{name: "no revision", cmd: WaitCmd{For: "revision=", Names: []string{"fleet"}}, fault: "is not one of"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pods, sources, err := test.cmd.goals()
			if test.fault != "" {
				if err == nil || !strings.Contains(err.Error(), test.fault) {
					t.Errorf("error %v, want %q", err, test.fault)
				}
				return
			}
			if err != nil || names(pods) != test.pods || names(sources) != test.sources {
				t.Errorf("pods %q, sources %q, %v", names(pods), names(sources), err)
			}
		})
	}
}

func names(goals []goal) string {
	var all []string
	for _, g := range goals {
		all = append(all, g.shown(g.kind))
	}
	return strings.Join(all, " ")
}

func TestWhatKeepsANodeFromBeingDrained(t *testing.T) {
	drained := func(p *v1.Pod) { crashing(p); p.Status.Phase, p.Status.Reason = v1.PodPending, "Drained" }
	tests := []struct {
		name string
		pod  v1.Pod
		want string
	}{
		{name: "it runs", pod: aPod("web"), want: "Running: running main"},
		{name: "it has not begun to end", pod: aPod("web", crashing), want: "CrashLoopBackOff"},
		{name: "at rest", pod: aPod("web", drained)},
		{name: "at rest, and removed", pod: aPod("web", drained, going), want: "Terminating"},
		{name: "a job that is done", pod: aPod("web", atEnd(v1.PodSucceeded))},
	}
	for _, test := range tests {
		if got := stillRuns(&test.pod); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestARestartIsDoneWhenItsCountsAreThere(t *testing.T) {
	counted := func(n int32) v1.Pod {
		return aPod("web", func(p *v1.Pod) { p.Status.ContainerStatuses[0].RestartCount = n })
	}
	g := restarted(api.Restart{Pod: "web-n1", RestartCounts: map[string]int{"main": 3}})
	for n, want := range map[int32]bool{2: false, 3: true, 4: true} {
		if v := g.judge(sight{pods: []v1.Pod{counted(n)}}); v.met != want || v.never {
			t.Errorf("with %d restarts: %+v", n, v)
		}
	}
	if v := g.judge(sight{}); !v.never {
		t.Errorf("a pod that is gone: %+v", v)
	}
}
