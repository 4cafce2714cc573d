package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/runtime/runtimetest"
	"github.com/podstead/podstead/sources"
	"github.com/podstead/podstead/test/powercut"
)

// The power may go at any step: a write, a sync, an effect on the engine. What is
// left on disk is whole, knows all that runs, and leads to the same end.
func TestPowerCutsInTheLifeOfPods(t *testing.T) {
	disk := powercut.New(t)
	all := transitions()
	total := powercut.Number(60)
	for i, tr := range all {
		n := total*(i+1)/len(all) - total*i/len(all)
		steps := tr.countPowered(t, disk)
		for _, cut := range powercut.Cuts(n, steps) {
			t.Run(fmt.Sprintf("%s/%s", tr.name, cut), func(t *testing.T) { tr.playCut(t, disk, cut) })
		}
	}
}

// powered makes a world on the disk, in which what was before runs.
func (tr transition) powered(t *testing.T, disk *powercut.Disk, then func(w *world)) {
	t.Helper()
	disk.Clear()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.root = disk.Dir
		w.quiet()
		w.engine.Guard(disk.Step)
		w.engine.Behave("setup", runtimetest.Exits(time.Second, 0))
		w.engine.Behave("job/c", runtimetest.Exits(time.Second, 0))
		w.start()
		defer func() { w.kill() }()
		w.apply(tr.before...)
		w.advance(time.Minute)
		disk.Arm(0)
		then(w)
	})
}

// countPowered is how many steps the transition has.
func (tr transition) countPowered(t *testing.T, disk *powercut.Disk) (steps int) {
	t.Helper()
	tr.powered(t, disk, func(w *world) {
		tr.happen(w, true)
		w.advance(2 * time.Minute)
		steps = disk.Steps()
	})
	return steps
}

func (tr transition) playCut(t *testing.T, disk *powercut.Disk, cut powercut.Cut) {
	t.Helper()
	tr.powered(t, disk, func(w *world) {
		disk.Arm(cut.Step)
		known := w.shownUIDs()
		accepted := tr.happen(w, false)
		for range 1200 { // of which the grace of pods takes 300
			if disk.Out() {
				break
			}
			w.advance(100 * time.Millisecond)
			known = append(known, w.shownUIDs()...)
		}
		seen := w.testify(known)
		w.losePower(disk, cut)
		w.wantRecords()
		w.comeBack(cut, seen)
		tr.checkCut(w, accepted)
		seen.check(w)
	})
}

// testimony is what users were told before a cut.
type testimony struct {
	gone     []string // UIDs
	finished []string
	restarts map[string]int32 // by uid/container
}

func (w *world) shownUIDs() []string {
	var uids []string
	for _, p := range w.store.List() {
		uids = append(uids, string(p.UID))
	}
	return uids
}

func (w *world) testify(known []string) testimony {
	seen := testimony{restarts: map[string]int32{}}
	shown := w.shownUIDs()
	for _, uid := range known {
		if !slices.Contains(shown, uid) {
			seen.gone = append(seen.gone, uid)
		}
	}
	for _, p := range w.store.List() {
		if p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
			seen.finished = append(seen.finished, string(p.UID))
		}
		for _, c := range p.Status.ContainerStatuses {
			seen.restarts[string(p.UID)+"/"+c.Name] = c.RestartCount
		}
	}
	return seen
}

// losePower cuts the power, if that has not happened by itself, and brings it
// back: nothing runs, memory is empty, and the disk has what the fate leaves.
func (w *world) losePower(disk *powercut.Disk, cut powercut.Cut) {
	w.Helper()
	disk.Arm(1)
	disk.Step()
	w.kill()
	w.engine.Reboot()
	disk.Restore(cut.Fate, cut.Chance)
	if err := os.RemoveAll(filepath.Join(w.run, "pods")); err != nil {
		w.Fatal(err)
	}
	w.boot = "boot-2"
}

// wantRecords checks what is on disk: whole, and of all that has run. A first
// sandbox is created while the record is written, and not started before.
func (w *world) wantRecords() {
	w.Helper()
	records := NewRecords(w.root)
	list, err := records.Load()
	if err != nil {
		w.Errorf("records are damaged: %v", err)
	}
	var known []string
	for _, r := range list {
		uid := string(r.Pod.UID)
		known = append(known, uid)
		mark, _, err := records.loadView(uid)
		// A pod that has not run yet may lack its view, and so may one that ends.
		if pod := w.engine.Peek(uid); err != nil || mark.Turn < r.View.Turn && hasRun(pod) && r.Stopping == nil {
			w.Errorf("view of pod %s: turn %d, the record's is %d, %v", uid, mark.Turn, r.View.Turn, err)
		}
	}
	for _, p := range w.engine.PeekAll() {
		if hasRun(p) && !slices.Contains(known, p.UID) {
			w.Errorf("pod %s has run and has no record", p.UID)
		}
	}
}

func hasRun(p runtime.Pod) bool {
	for _, s := range p.Sandboxes {
		if s.State != runtime.StateCreated {
			return true
		}
	}
	return slices.ContainsFunc(p.Containers, func(c runtime.Container) bool { return c.State != runtime.StateCreated })
}

// comeBack starts the agent again, in one of two cases first without a word of its
// source, and in one of three on an engine that was pruned: of what has ended the
// record alone knows then.
func (w *world) comeBack(cut powercut.Cut, seen testimony) {
	w.Helper()
	if cut.Chance.IntN(3) == 0 {
		w.engine.Prune()
	}
	w.engine.ForgetCalls()
	w.mute = cut.Chance.IntN(2) == 0
	w.start()
	if w.mute {
		w.advance(10 * time.Minute)
		for _, process := range w.running() {
			if uid, _, _ := strings.Cut(process, "/"); slices.Contains(seen.gone, uid) {
				w.Errorf("%s runs, which was gone", process)
			}
		}
		w.mute = false
		w.speak(w.wanted...)
	}
	w.advance(20 * time.Minute)
}

// checkCut checks the end, which is the one without the cut, but for pods that do
// not start again what the cut has ended. Who asked for something and got no
// answer may or may not have it.
func (tr transition) checkCut(w *world, accepted *atomic.Bool) {
	w.Helper()
	answered := accepted == nil || accepted.Load()
	if got := len(w.store.List()); got != len(tr.after) {
		w.Errorf("%d pods are shown, want %d", got, len(tr.after))
	}
	w.wantFolders(tr.after)
	running := w.running()
	switch {
	case slices.ContainsFunc(tr.after, func(p sources.Pod) bool { return p.Spec.RestartPolicy == v1.RestartPolicyNever }):
		if len(running) > 0 && !slices.Equal(running, tr.running) {
			w.Errorf("running %v, want %v or nothing", running, tr.running)
		}
		return
	case !slices.Equal(running, tr.running) && (answered || w.agent.Drained() != nil):
		w.Errorf("running %v, want %v", running, tr.running)
	case len(tr.after) == 0:
		w.wantNothingLeft()
	}
	if tr.holds != nil && (answered || w.agent.Drained() != nil) {
		tr.holds(w)
	}
}

// wantFolders checks that nothing is on disk but of these pods.
func (w *world) wantFolders(pods []sources.Pod) {
	w.Helper()
	entries, err := os.ReadDir(filepath.Join(w.root, "pods"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Fatal(err)
	}
	for _, entry := range entries {
		if !slices.ContainsFunc(pods, func(p sources.Pod) bool { return string(p.UID) == entry.Name() }) {
			w.Errorf("left on disk: pods/%s", entry.Name())
		}
	}
}

// check compares what is told now with what was told before.
func (seen testimony) check(w *world) {
	w.Helper()
	for _, p := range w.store.List() {
		for _, c := range p.Status.ContainerStatuses {
			if before := seen.restarts[string(p.UID)+"/"+c.Name]; c.RestartCount < before {
				w.Errorf("pod %s: %d restarts of %s, and %d before", p.UID, c.RestartCount, c.Name, before)
			}
		}
		if slices.Contains(seen.finished, string(p.UID)) && p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed {
			w.Errorf("pod %s is %s, and had finished", p.UID, p.Status.Phase)
		}
	}
	for _, c := range w.engine.Calls() {
		if c.Verb == "StartContainer" && slices.Contains(seen.finished, c.UID) {
			w.Errorf("%s of pod %s starts, which had finished", c.Container, c.UID)
		}
	}
}
