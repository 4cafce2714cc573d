package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/runtime/runtimetest"
)

// wantLogLinks checks that each container that has a log is found by log shippers,
// once, and that they find nothing else.
func (w *world) wantLogLinks() {
	w.Helper()
	want := map[string]bool{}
	for _, p := range w.engine.PeekAll() {
		for _, c := range p.Containers {
			if c.LogPath != "" {
				want[c.LogPath] = true
			}
		}
	}
	for _, pattern := range []string{"containers/*.log", "pods/*/*/*.log"} {
		found, err := filepath.Glob(filepath.Join(w.logs, pattern))
		if err != nil || len(found) != len(want) {
			w.Errorf("%d logs are found as %s, of %d: %v, %v", len(found), pattern, len(want), found, err)
		}
		for _, path := range found {
			if real, err := filepath.EvalSymlinks(path); err != nil || !want[real] {
				w.Errorf("%s leads to %q, %v", path, real, err)
			}
		}
	}
}

// Log shippers find each log by the time its container is shown to run, the dead
// instance's beside it, over restarts of the agent, and nothing once the pod is gone.
func TestLogShippersFindTheLogs(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("c", runtimetest.Exits(time.Minute, 1).Printing("one"), runtimetest.Forever().Printing("two"))
		w.apply(pod("a", "1", withInit("setup")))
		w.engine.Behave("setup", runtimetest.Exits(time.Second, 0))
		w.advance(30 * time.Second)
		w.wantLogLinks()
		c := w.container("a.1", "c")
		link := filepath.Join(w.logs, "containers", "a_default_c-"+c.ID+".log")
		if target, err := os.Readlink(link); err != nil || target != filepath.Join(w.logs, "pods", "default_a_a.1", "c", "0.log") {
			t.Errorf("%s leads to %q, %v", link, target, err)
		}
		w.advance(2 * time.Minute)
		w.wantLogLinks() // of the instance that crashed, too
		if text, err := os.ReadFile(filepath.Join(w.logs, "pods", "default_a_a.1", "c", "1.log")); err != nil || !strings.Contains(string(text), "two") {
			t.Errorf("read %q, %v", text, err)
		}
		w.restart()
		w.advance(time.Minute)
		w.wantLogLinks()

		// While no agent runs an instance is pruned, and another pod goes by force.
		w.kill()
		w.must(w.engine.Remove(context.Background(), c.ID))
		w.start()
		w.advance(time.Minute)
		w.wantLogLinks()
		w.apply()
		w.advance(time.Minute)
		w.wantNothingLeft()
	})
}

// What somebody removes is made again at the next resync, with one warning.
func TestRemovedLogLinksAreMadeAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("a", "1"), pod("b", "1"))
		w.advance(time.Minute)
		for range 3 {
			w.must(os.RemoveAll(filepath.Join(w.logs, "pods")))
			w.engine.ForgetCalls()
			w.advance(6 * time.Minute)
			w.wantLogLinks()
			if n := w.engine.Count() - w.engine.Count("List"); n != 0 {
				t.Errorf("%d calls to the engine for it", n)
			}
		}
		if told := w.nodeEvents(events.NodeLogsMissing); len(told) != 1 || !strings.Contains(told[0], "podLogsDir") {
			t.Errorf("told %q", told)
		}
	})
}

// A folder that cannot be written is told once for the node, stops no pod, and is
// made good once it can be.
func TestLogLinksThatCannotBeMadeStopNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.advance(time.Minute) // the start has made the folder
		blocked := filepath.Join(w.logs, "pods")
		w.must(os.RemoveAll(blocked))
		w.must(os.WriteFile(blocked, nil, 0o600)) // a file in its place
		w.apply(pod("a", "1"), pod("b", "1"), pod("c", "1"))
		w.advance(20 * time.Minute)
		w.wantRunning("a.1/POD", "a.1/c", "b.1/POD", "b.1/c", "c.1/POD", "c.1/c")
		if told := w.nodeEvents(events.NodeLogsMissing); len(told) != 1 || !strings.Contains(told[0], "not a directory") {
			t.Errorf("told %q", told)
		}
		w.apply(pod("a", "1"), pod("b", "1"))
		w.advance(time.Minute)
		w.wantRunning("a.1/POD", "a.1/c", "b.1/POD", "b.1/c")

		w.must(os.Remove(blocked))
		w.advance(6 * time.Minute)
		w.wantLogLinks()
		if told := w.nodeEvents(events.NodeLogsMissing); len(told) != 1 {
			t.Errorf("told %q", told)
		}
	})
}

// An engine that keeps no files, or keeps them where the agent cannot look, is told
// once.
func TestLogsWithoutFilesAreTold(t *testing.T) {
	for _, test := range []struct{ name, dir, says string }{
		{name: "another log driver", dir: "", says: "log driver"},
		{name: "an engine elsewhere", dir: "/dev/null/containers", says: "not to be seen from here"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.engine.KeepLogs(test.dir)
				w.apply(pod("a", "1"), pod("b", "1"))
				w.advance(30 * time.Minute)
				w.wantRunning("a.1/POD", "a.1/c", "b.1/POD", "b.1/c")
				if told := w.nodeEvents(events.NodeLogsMissing); len(told) != 1 || !strings.Contains(told[0], test.says) {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}
