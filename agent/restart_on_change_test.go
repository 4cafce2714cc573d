package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/runtime/runtimetest"
	"github.com/podstead/podstead/sources"
)

func TestRestartOnChange(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("setup", runtimetest.Exits(time.Second, 0))
		w.engine.Behave("c", runtimetest.Traps(3*time.Second, 0))
		p := pod("a", "1", withContainer("d"), withContainer("e"), withInit("setup"), restartOnChange,
			withEnv("setup", "conf"), withEnv("c", "conf"), withFile("d", manifests.KindSecret, "pass"))
		w.apply(seeing(p, configMap("conf", "one"), secret("pass", "open-sesame")))
		w.advance(10 * time.Second)
		sandbox := w.container("a.1", "c").SandboxID
		setup := w.container("a.1", "setup").ID

		w.apply(seeing(p, configMap("conf", "two"), secret("pass", "shut-sesame")))
		w.advance(time.Second)
		w.wantRunning("a.1/POD", "a.1/c", "a.1/d", "a.1/e") // c has its grace
		w.want("variable of c, which still runs", w.env("a.1", "c"), "CONF=one")
		w.advance(3 * time.Second)
		w.wantRunning("a.1/POD", "a.1/c", "a.1/d", "a.1/e")
		w.want("variable of c", w.env("a.1", "c"), "CONF=two")
		w.want("file of d", w.file("a.1", "d", "pass"), "shut-sesame")
		for name, want := range map[string]int{"c": 1, "d": 1, "e": 0} {
			if got := w.restarts("a.1", name); got != want {
				w.Errorf("container %s was restarted %d times, want %d", name, got, want)
			}
		}
		if c := w.container("a.1", "c"); c.SandboxID != sandbox || w.container("a.1", "setup").ID != setup {
			w.Error("the sandbox was exchanged, or the init container ran again")
		}
		w.wantEvent(events.ObjectsChanged, "Restarting container c: ConfigMap default/conf changed")
		w.wantEvent(events.ContainerCreated, "Created container: d (attempt 1: Secret default/pass changed)")
		for _, e := range w.agent.Events().List(events.Filter{}) {
			if strings.Contains(e.Message, "sesame") {
				w.Errorf("an event holds a value: %s", e.Message)
			}
		}

		// No crash back-off comes of it, however often.
		for i := range 5 {
			w.apply(seeing(p, configMap("conf", fmt.Sprint(i)), secret("pass", "shut-sesame")))
			w.advance(4 * time.Second)
			w.want("variable", w.env("a.1", "c"), fmt.Sprintf("CONF=%d", i))
		}
		// What cannot be started with is not stopped for.
		w.apply(seeing(p, secret("pass", "shut-sesame")))
		w.advance(time.Minute)
		w.wantRunning("a.1/POD", "a.1/c", "a.1/d", "a.1/e")
	})
}

func TestRestartOnChangeOfAJobAndAfterItsEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("c", runtimetest.Exits(time.Minute, 0))
		p := pod("a", "1", withEnv("c", "conf"), restartOnChange, withPolicy(v1.RestartPolicyNever))
		w.apply(seeing(p, configMap("conf", "one")))
		w.advance(time.Second)
		w.apply(seeing(p, configMap("conf", "two")))
		w.advance(time.Second)
		w.wantRunning("a.1/POD", "a.1/c")
		w.want("variable", w.env("a.1", "c"), "CONF=two")
		w.advance(2 * time.Minute)
		w.wantRunning()
		if got := w.shows("a.1").Status.Phase; got != v1.PodSucceeded {
			w.Errorf("phase %s", got)
		}
		w.apply(seeing(p, configMap("conf", "three")))
		w.advance(time.Minute)
		w.wantRunning()
		if got := w.restarts("a.1", "c"); got != 1 {
			w.Errorf("%d restarts", got)
		}
	})
}

// A change that came while the agent was away restarts too; what an older
// podstead made, of which nothing is known, stays.
func TestRestartOnChangeOverAnAgentRestart(t *testing.T) {
	for _, known := range []bool{true, false} {
		t.Run(fmt.Sprintf("known %v", known), func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := pod("a", "1", withEnv("c", "conf"), restartOnChange)
				w.apply(seeing(p, configMap("conf", "one")))
				w.advance(time.Second)
				w.kill()
				if !known {
					if err := os.Remove(filepath.Join(w.root, "pods", "a.1", "pod.json")); err != nil {
						w.Fatal(err)
					}
				}
				w.wanted = []sources.Pod{seeing(p, configMap("conf", "two"))}
				w.start()
				w.advance(time.Minute)
				w.wantRunning("a.1/POD", "a.1/c")
				want := map[bool]string{true: "CONF=two", false: "CONF=one"}[known]
				w.want("variable", w.env("a.1", "c"), want)
				if known {
					w.wantEvent(events.ObjectsChanged, "ConfigMap default/conf changed")
				}
			})
		})
	}
}

func TestTheAnnotationMayComeLater(t *testing.T) {
	inWorld(t, func(w *world) {
		p := pod("a", "1", withEnv("c", "conf"))
		w.apply(seeing(p, configMap("conf", "one")))
		w.advance(time.Second)
		w.apply(seeing(p, configMap("conf", "two")))
		w.advance(time.Second)
		w.want("variable", w.env("a.1", "c"), "CONF=one")
		later := pod("a", "1", withEnv("c", "conf"), restartOnChange)
		w.apply(seeing(later, configMap("conf", "two")))
		w.advance(time.Second)
		w.want("variable", w.env("a.1", "c"), "CONF=two")
	})
}
