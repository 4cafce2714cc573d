package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/status"
	"github.com/podstead/podstead/durable"
	"github.com/podstead/podstead/runtime/runtimetest"
	"github.com/podstead/podstead/sources"
)

func (w *world) drain() {
	w.Helper()
	if _, err := w.agent.Drain("a test"); err != nil {
		w.Fatal(err)
	}
}

func (w *world) resume() {
	w.Helper()
	if was, err := w.agent.Resume("a test"); err != nil || was == nil {
		w.Fatalf("resume: it was %v, %v", was, err)
	}
}

// wantDrained checks how a pod at rest is shown.
func (w *world) wantDrained(uid string) {
	w.Helper()
	p := w.shows(uid)
	word, ready, _, _, _ := status.Reason(p)
	if p.Status.Phase != v1.PodPending || p.Status.Reason != status.ReasonDrained || word != status.ReasonDrained || ready != 0 ||
		!strings.Contains(p.Status.Message, "`podstead resume`") || !strings.Contains(p.Status.Message, "a test") {
		w.Errorf("pod %s is shown as %s: %s %s: %q", uid, word, p.Status.Phase, p.Status.Reason, p.Status.Message)
	}
}

func TestDrainAndResume(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		inWorld(t, func(w *world) {
			w.engine.Behave("slow/c", runtimetest.Traps(10*time.Second, 0))
			w.engine.Behave("done/c", runtimetest.Exits(time.Second, 0))
			volume := func(p *v1.Pod) {
				p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}}
				p.Spec.Containers[0].VolumeMounts = []v1.VolumeMount{{Name: "data", MountPath: "/data"}}
			}
			pods := []sources.Pod{
				pod("a", "1", withPort(80), volume), pod("slow", "1"),
				pod("done", "1", withPolicy(v1.RestartPolicyNever)), pod("job", "1", withPolicy(v1.RestartPolicyNever)),
			}
			w.apply(pods...)
			w.advance(time.Minute)
			kept := filepath.Join(w.root, "pods/a.1/volumes/kubernetes.io~empty-dir/data/kept")
			if err := os.WriteFile(kept, []byte("x"), 0o600); err != nil {
				w.Fatal(err)
			}
			w.drain()
			w.drain() // again is no other
			w.advance(5 * time.Second)
			w.wantRunning("slow.1/POD", "slow.1/c") // it has its grace
			if word, _, _, _, _ := status.Reason(w.shows("slow.1")); word != status.ReasonDraining {
				w.Errorf("while it ends it is shown as %s", word)
			}
			if restarts {
				w.restart()
				w.advance(time.Minute)
			}
			w.advance(20 * time.Minute)
			w.wantRunning()
			for _, uid := range []string{"a.1", "slow.1", "job.1"} {
				w.wantDrained(uid)
			}
			if got := w.shows("done.1").Status.Phase; got != v1.PodSucceeded {
				w.Errorf("what had finished is %s", got)
			}
			w.engine.ForgetCalls()
			w.advance(4 * time.Minute)
			if n := w.engine.Count() - w.engine.Count("List"); n != 0 {
				w.Errorf("a node at rest makes %d calls: %v", n, w.engine.Calls())
			}

			w.resume()
			w.advance(time.Minute)
			w.wantRunning("a.1/POD", "a.1/c", "job.1/POD", "job.1/c", "slow.1/POD", "slow.1/c")
			if got := w.restarts("a.1", "c"); got != 1 {
				w.Errorf("%d restarts", got)
			}
			if p := w.shows("a.1"); p.Status.Phase != v1.PodRunning || p.Status.Reason != "" {
				w.Errorf("it is shown as %s %q", p.Status.Phase, p.Status.Reason)
			}
			if _, err := os.Stat(kept); err != nil {
				w.Errorf("its volume: %v", err)
			}
			w.wantEvent(events.NodeResumed, "asked for by a test")
			if !restarts {
				w.wantEvent(events.NodeDrained, "asked for by a test")
				w.wantEvent(events.ContainerKilling, "Stopping container c (the node was drained")
			}
			if was, err := w.agent.Resume("a test"); was != nil || err != nil {
				w.Errorf("resumed twice: %v, %v", was, err)
			}
			w.apply()
			w.advance(time.Minute)
			w.wantNothingLeft()
		})
	}
}

func TestSourcesGoOnWhileTheNodeIsDrained(t *testing.T) {
	inWorld(t, func(w *world) {
		old := pod("changed", "1")
		w.apply(old, pod("removed", "1", withPort(80)), pod("back", "1"), pod("stays", "1"))
		w.advance(time.Minute)
		w.drain()
		w.advance(time.Minute)
		refused := pod("refused", "1", func(p *v1.Pod) { p.Labels = map[string]string{v1.LabelOSStable: "plan9"} })
		heir := pod("heir", "1", withPort(80))
		w.apply(pod("changed", "2"), heir, pod("stays", "1"), refused)
		w.advance(time.Minute)
		w.apply(pod("changed", "2"), heir, pod("stays", "1"), refused, pod("back", "1"))
		w.advance(time.Minute)
		w.wantRunning()
		for _, uid := range []string{"changed.2", "heir.1", "back.1", "stays.1"} {
			w.wantDrained(uid)
		}
		if got := w.shows("refused.1").Status.Phase; got != v1.PodFailed {
			w.Errorf("a pod that does not fit is %s", got)
		}
		left, _ := filepath.Glob(filepath.Join(w.root, "pods", "*"))
		if len(left) != 1 || len(w.store.List()) != 5 {
			w.Errorf("on disk %v; %d pods are shown", left, len(w.store.List()))
		}
		w.apply(pod("changed", "3"), heir, refused)
		w.advance(time.Minute)
		w.wantDrained("changed.3")
		w.resume()
		w.advance(time.Minute)
		w.wantRunning("changed.3/POD", "changed.3/c", "heir.1/POD", "heir.1/c")
		if n := len(w.store.List()); n != 3 {
			w.Errorf("%d pods are shown", n)
		}
	})
}

// One that is removed while the agent is away is forgotten by the orphan rule.
func TestAnOrphanOfADrainedNode(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1"), pod("b", "1"))
		w.advance(time.Minute)
		w.drain()
		w.advance(time.Minute)
		w.kill()
		w.wanted = w.wanted[:1]
		w.start()
		w.advance(time.Minute)
		w.wantDrained("a.1")
		if n := len(w.store.List()); n != 1 || w.objects() != 2 {
			w.Errorf("%d pods are shown, %d objects are on the engine", n, w.objects())
		}
	})
}

func TestDrainInTheMiddleOfThings(t *testing.T) {
	tests := []struct {
		name    string
		begin   func(w *world)
		running []string // after the node was resumed
	}{
		{
			name: "of a replacement that waits for its image",
			begin: func(w *world) {
				w.apply(pod("a", "1"))
				w.advance(time.Minute)
				w.apply(pod("a", "2", withImage("late:1", v1.PullIfNotPresent)))
				w.engine.Serve("late:1", runtimetest.Remote{Takes: 30 * time.Minute})
			},
			running: []string{"a.2/POD", "a.2/c"},
		},
		{
			name: "of a replacement whose predecessor stops",
			begin: func(w *world) {
				w.engine.Behave("c", runtimetest.Traps(20*time.Second, 0))
				w.apply(pod("a", "1"))
				w.advance(time.Minute)
				w.apply(pod("a", "2"))
			},
			running: []string{"a.2/POD", "a.2/c"},
		},
		{
			name: "of a pod's init containers",
			begin: func(w *world) {
				w.engine.Behave("setup", runtimetest.Exits(time.Minute, 0).Trapping(time.Second, 1))
				w.apply(pod("a", "1", withInit("setup"), withPolicy(v1.RestartPolicyNever)))
			},
			running: []string{"a.1/POD", "a.1/c"},
		},
		{
			name: "of a restart",
			begin: func(w *world) {
				w.engine.Behave("c", runtimetest.Traps(20*time.Second, 0))
				w.apply(pod("a", "1", withContainer("d")))
				w.advance(time.Minute)
				if _, err := w.askRestart("a"); err != nil {
					w.Fatal(err)
				}
			},
			running: []string{"a.1/POD", "a.1/c", "a.1/d"},
		},
		{
			name: "of a removal",
			begin: func(w *world) {
				w.engine.Behave("c", runtimetest.Traps(20*time.Second, 0))
				w.apply(pod("a", "1"))
				w.advance(time.Minute)
				w.apply()
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				test.begin(w)
				w.advance(time.Second)
				w.drain()
				w.advance(time.Minute)
				w.wantRunning()
				w.resume()
				w.advance(time.Hour)
				w.wantRunning(test.running...)
			})
		})
	}
}

func TestResumeWhileItDrains(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("c", runtimetest.Traps(20*time.Second, 0))
		w.apply(pod("a", "1", withContainer("d")), pod("job", "1", withPolicy(v1.RestartPolicyNever)))
		w.advance(time.Minute)
		w.drain()
		w.advance(time.Second)
		w.resume()
		w.advance(time.Minute)
		w.wantRunning("a.1/POD", "a.1/c", "a.1/d", "job.1/POD", "job.1/c")
		for _, c := range []string{"c", "d"} {
			if got := w.restarts("a.1", c); got != 1 {
				w.Errorf("container %s was restarted %d times", c, got)
			}
		}
	})
}

func TestACrashBackOffGoesOnAfterADrain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("c", runtimetest.Exits(0, 1))
		w.apply(pod("a", "1"))
		w.advance(16 * time.Minute) // the next start is 300 s after the last
		before := w.restarts("a.1", "c")
		w.drain()
		w.advance(time.Second)
		w.wantDrained("a.1")
		w.resume()
		w.advance(time.Second)
		if got := w.restarts("a.1", "c"); got != before {
			w.Errorf("%d restarts, before %d", got, before)
		}
		if got := w.waiting("a.1").Reason; got != "CrashLoopBackOff" {
			w.Errorf("it waits for %s", got)
		}
	})
}

func TestWhatSomebodyStartsOnADrainedNodeIsStopped(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1"))
		w.advance(time.Minute)
		w.drain()
		w.advance(time.Minute)
		w.engine.RestartBehindBack(w.engine.Peek("a.1").Sandboxes[0].ID)
		w.advance(time.Second)
		w.wantRunning()
	})
}

// A pod of which only its names are known ends with the others.
func TestDrainWithoutRecords(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1"))
		w.advance(time.Minute)
		w.kill()
		if err := os.Remove(filepath.Join(w.root, "pods/a.1/pod.json")); err != nil {
			w.Fatal(err)
		}
		w.mute = true
		w.start()
		w.advance(time.Second)
		w.drain()
		w.advance(time.Minute)
		w.wantRunning()
		w.speak(w.wanted...)
		w.advance(time.Minute)
		w.wantDrained("a.1")
		w.resume()
		w.advance(time.Minute)
		w.wantRunning("a.1/POD", "a.1/c")
	})
}

func TestADrainThatCannotBeWrittenStopsNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1"))
		w.advance(time.Minute)
		w.agent.drain.write = func(string, []byte, fs.FileMode) error { return syscall.ENOSPC }
		if _, err := w.agent.Drain("a test"); !errors.Is(err, syscall.ENOSPC) {
			w.Errorf("drain: %v", err)
		}
		w.advance(time.Minute)
		w.wantRunning("a.1/POD", "a.1/c")
		w.agent.drain.write = durable.WriteFile
	})
}

func TestAMarkThatCannotBeReadDrains(t *testing.T) {
	root := t.TempDir()
	if d, err := ReadDrained(root); d != nil || err != nil {
		t.Fatalf("without a mark: %v, %v", d, err)
	}
	if err := os.WriteFile(drainPath(root), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := ReadDrained(root); d == nil || err != nil || d.String() != "the node is drained; `podstead resume` starts its pods again" {
		t.Errorf("with half a mark: %v, %v", d, err)
	}
}
