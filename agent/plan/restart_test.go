package plan

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

func TestBackOffIsTheKubelets(t *testing.T) {
	short, long := time.Second, forgiven+time.Second
	tests := []struct {
		name string
		ran  []time.Duration // of the ends after the first
		want []time.Duration // the delay after each
	}{
		{
			name: "doubles up to the cap and stays",
			ran:  []time.Duration{short, short, short, short, short, short, short, short},
			want: seconds(10, 20, 40, 80, 160, 300, 300, 300),
		},
		{
			name: "begins anew after a good run",
			ran:  []time.Duration{short, short, long, short},
			want: seconds(10, 20, 0, 10),
		},
		{
			name: "ten minutes are not more than ten minutes",
			ran:  []time.Duration{short, forgiven},
			want: seconds(10, 20),
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var b backOff
			for i, ran := range tc.ran {
				if b = b.next(ran); time.Duration(b) != tc.want[i] {
					t.Errorf("after end %d: %v, want %v", i+1, time.Duration(b), tc.want[i])
				}
			}
		})
	}
}

func seconds(n ...int) []time.Duration {
	var all []time.Duration
	for _, s := range n {
		all = append(all, time.Duration(s)*time.Second)
	}
	return all
}

// crash lets the container of a pod that always ends at once be restarted as
// the decisions say, for that long, and returns when it was started.
func crash(t *testing.T, pod *v1.Pod, code int, span time.Duration, lives func() time.Duration) []time.Duration {
	t.Helper()
	var starts []time.Duration
	history, now, attempt := NewHistory(), time.Duration(0), 0
	newest := runtime.Container{}
	for now < span {
		obs := shows(box(0, isRunning))
		if attempt > 0 {
			obs = shows(box(0, isRunning), newest)
		}
		history, _, _ = history.Observe(pod, obs, at(now))
		in := input(pod, obs, at(now))
		in.History = history
		d := Sync(in)
		switch {
		case d.Finished != nil:
			return starts
		case len(d.Steps) > 0:
			if got := d.Steps[0][0]; got.Verb != CreateContainer || got.Attempt != attempt {
				t.Fatalf("at %v: %v, want attempt %d", now, told(d), attempt)
			}
			starts = append(starts, now)
			end := now + lives()
			newest = ended("web", attempt, 0, code, now, end)
			attempt, now = attempt+1, end
		case d.Wake > 0:
			if got := d.Waiting["web"].Reason; got != reasonCrashLoop {
				t.Fatalf("at %v: waits as %q", now, got)
			}
			now += d.Wake
		default:
			t.Fatalf("at %v: nothing to do and nothing to wait for", now)
		}
	}
	return starts
}

// B112: the back-off reaches its cap and goes on for ever, whatever the code.
func TestCrashingContainersAreRestartedForEver(t *testing.T) {
	for _, code := range []int{0, 1, 137} {
		starts := crash(t, aPod(v1.RestartPolicyAlways, "web"), code, time.Hour, func() time.Duration { return 0 })
		want := seconds(0, 0, 10, 30, 70, 150, 310, 610, 910, 1210, 1510, 1810, 2110, 2410, 2710, 3010, 3310)
		if len(starts) != len(want) {
			t.Fatalf("code %d: started at %v, want %v", code, starts, want)
		}
		for i := range want {
			if starts[i] != want[i] {
				t.Errorf("code %d: start %d at %v, want %v", code, i, starts[i], want[i])
			}
		}
	}
}

// Whatever the runs' lengths: delays stay within the cap, counts only rise
// (B113, checked in crash), and a run of over ten minutes is restarted at once.
func TestBackOffHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var lived []time.Duration
		starts := crash(t, aPod(v1.RestartPolicyAlways, "web"), 1, 24*time.Hour, func() time.Duration {
			lived = append(lived, time.Duration(random.Int64N(int64(1200*time.Second))))
			return lived[len(lived)-1]
		})
		for i := 1; i < len(starts); i++ {
			delay := starts[i] - starts[i-1] - lived[i-1]
			if delay < 0 || delay > maxBackOff || (lived[i-1] > forgiven && delay != 0) {
				t.Fatalf("restart %d came %v after a run of %v", i, delay, lived[i-1])
			}
		}
	}
}

func TestPoliciesLimitTheTries(t *testing.T) {
	at0 := func() time.Duration { return 0 }
	if n := len(crash(t, aPod(v1.RestartPolicyNever, "web"), 127, time.Hour, at0)); n != 1 {
		t.Errorf("Never: %d tries", n)
	}
	if n := len(crash(t, aPod(v1.RestartPolicyOnFailure, "web"), 0, time.Hour, at0)); n != 1 {
		t.Errorf("OnFailure and success: %d tries", n)
	}
	if n := len(crash(t, aPod(v1.RestartPolicyOnFailure, "web"), 127, time.Hour, at0)); n != 17 {
		t.Errorf("OnFailure and failure: %d tries", n)
	}
}

// The delay is told as the kubelet tells it, and the wake is its rest.
func TestBackOffIsTold(t *testing.T) {
	first, second := ended("web", 0, 0, 1, 0, time.Second), ended("web", 1, 0, 1, time.Second, 2*time.Second)
	h, _, _ := NewHistory().Observe(nil, shows(box(0, isRunning), first), at(time.Second))
	in := input(aPod(v1.RestartPolicyAlways, "web"), shows(box(0, isRunning), first, second), at(5*time.Second))
	in.History = h
	d := Sync(in)
	want := Waiting{Reason: "CrashLoopBackOff", Message: "back-off 10s restarting failed container=web pod=lamp-n1_default(4711)"}
	if d.Waiting["web"] != want || d.Wake != 7*time.Second {
		t.Errorf("waits as %+v for %v, want %+v for 7s", d.Waiting["web"], d.Wake, want)
	}
	in.MaxRestartPeriod = 4 * time.Second // of this node
	want.Message = strings.Replace(want.Message, "10s", "4s", 1)
	if d := Sync(in); d.Waiting["web"] != want || d.Wake != time.Second {
		t.Errorf("waits as %+v for %v, want %+v for 1s", d.Waiting["web"], d.Wake, want)
	}
}

// Delays survive clock steps and reboots: they are never longer than they were,
// and a step of the wall clock within a boot changes nothing.
func TestBackOffSurvivesTheClock(t *testing.T) {
	crashed := History{SandboxAttempt: 0, Containers: map[string]ContainerHistory{"web": {
		Attempt: 5, SandboxID: "box0", BackOff: 160 * time.Second,
		Ended: &Ended{ID: "web5", Attempt: 5, SandboxID: "box0", ExitCode: 1, At: at(time.Hour)},
	}}}
	step := func(now Moment, wall time.Duration) Moment {
		now.Wall = now.Wall.Add(wall)
		return now
	}
	boot := func(wall time.Duration) Moment {
		return Moment{Boot: "two", Since: 5 * time.Second, Wall: epoch.Add(wall)}
	}
	tests := []struct {
		name string
		now  Moment
		wake time.Duration
	}{
		{name: "no step", now: at(time.Hour + time.Minute), wake: 100 * time.Second},
		{name: "wall clock an hour ahead", now: step(at(time.Hour+time.Minute), time.Hour), wake: 100 * time.Second},
		{name: "wall clock in 1970", now: step(at(time.Hour+time.Minute), -50*365*24*time.Hour), wake: 100 * time.Second},
		{name: "next boot", now: boot(time.Hour + time.Minute), wake: 100 * time.Second},
		{name: "next boot, long after", now: boot(48 * time.Hour), wake: -1},
		{name: "next boot, in the past", now: boot(-time.Hour), wake: 160 * time.Second},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			in := input(aPod(v1.RestartPolicyAlways, "web"), shows(box(0, isRunning)), tc.now)
			in.History = crashed
			if d := Sync(in); d.Wake != tc.wake || (len(d.Steps) > 0) != (tc.wake < 0) {
				t.Errorf("wakes after %v with steps %v, want %v", d.Wake, told(d), tc.wake)
			}
		})
	}
}

func TestARestartComesNoLaterThanItIsSaid(t *testing.T) {
	for _, c := range []struct{ recorded, most, want time.Duration }{
		{10 * time.Second, 0, 10 * time.Second},
		{300 * time.Second, 0, 300 * time.Second},
		{10 * time.Second, time.Second, time.Second},
		{300 * time.Second, 30 * time.Second, 30 * time.Second},
		{20 * time.Second, 30 * time.Second, 20 * time.Second},
	} {
		if got := backOff(c.recorded).within(c.most); time.Duration(got) != c.want {
			t.Errorf("%s within %s: %s, want %s", c.recorded, c.most, time.Duration(got), c.want)
		}
	}
}
