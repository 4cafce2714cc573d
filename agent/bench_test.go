package agent

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/nodelogs"
	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/agent/podspec"
	"github.com/podstead/podstead/agent/status"
	"github.com/podstead/podstead/agent/volumes"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/runtime/runtimetest"
	"github.com/podstead/podstead/sources"
)

// lookout is the fake engine, and tells who looks at which pod.
type lookout struct {
	*runtimetest.Fake
	looks chan string // capacity: more than one edit causes, so that nobody waits
}

func (l lookout) Pod(ctx context.Context, uid string) (runtime.Pod, error) {
	select {
	case l.looks <- uid:
	default:
	}
	return l.Fake.Pod(ctx, uid)
}

// BenchmarkEditWakesWorker measures from a snapshot with one edited pod to the
// first thing that pod's worker does, and how many engine calls the whole
// replacement takes: both must not grow with the number of pods.
func BenchmarkEditWakesWorker(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) { benchmarkEdit(b, n) })
	}
}

func benchmarkEdit(b *testing.B, n int) {
	engine := lookout{Fake: runtimetest.New(time.Now), looks: make(chan string, 4096)}
	engine.AddImage(testImage)
	snapshots, stop := startPipeline(b, engine, b.TempDir(), n)
	defer stop()

	pods := make([]sources.Pod, n)
	for i := range pods {
		pods[i] = pod(fmt.Sprintf("p%04d", i), "0", withGrace(0))
	}
	snapshots <- sources.Snapshot{Source: "file", Kind: sources.KindFile, Live: true, Attempted: true, Pods: pods}
	settled(b, engine, n)
	engine.ForgetCalls()

	var took time.Duration
	calls := 0
	for b.Loop() {
		b.StopTimer()
		next := slices.Clone(pods)
		next[n/2] = pod(fmt.Sprintf("p%04d", n/2), fmt.Sprint(calls, b.N, took), withGrace(0))
		uid := string(next[n/2].UID)
		drain(engine.looks)
		b.StartTimer()
		began := time.Now()
		snapshots <- sources.Snapshot{Source: "file", Kind: sources.KindFile, Live: true, Attempted: true, Pods: next}
		for seen := ""; seen != uid; {
			seen = <-engine.looks
		}
		took += time.Since(began)
		b.StopTimer()
		replaced(b, engine, string(pods[n/2].UID), uid)
		pods = next
		calls += engine.Count()
		engine.ForgetCalls()
		b.StartTimer()
	}
	b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "ns/op")
	b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
}

// startPipeline runs merger and agent over the engine, as cmd does.
func startPipeline(b *testing.B, engine lookout, root string, n int) (chan<- sources.Snapshot, func()) {
	quiet := slog.New(slog.DiscardHandler)
	merger := sources.NewMerger(sources.MergerConfig{Sources: []sources.Member{{Name: "file"}}, Logger: quiet})
	began := time.Now()
	agent, err := New(Config{
		Node: podspec.Node{Name: "n1"}, RootDir: root, Sources: []string{"file"},
		Resync: time.Hour, MaxPods: n, Pulls: PullLimits{AtOnce: 1},
	}, Deps{
		Runtime: engine, Store: status.NewStore(), Logger: quiet, Events: events.New(events.Config{Node: "n1"}),
		Volumes:  volumes.New(volumes.Config{Root: root, CanMount: engine.CanMount, Logger: quiet}),
		NodeLogs: nodelogs.New(nodelogs.Config{Pods: filepath.Join(root, "log", "pods"), Containers: filepath.Join(root, "log", "containers"), Owner: "node-1"}),
		Clock:    func() plan.Moment { return plan.Moment{Boot: "b", Since: time.Since(began), Wall: time.Now()} },
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	snapshots, updates, engineEvents := make(chan sources.Snapshot), make(chan sources.PodUpdate), make(chan runtime.Event)
	var running sync.WaitGroup
	running.Go(func() { _ = merger.Run(ctx, snapshots, updates) })
	running.Go(func() { _ = engine.Run(ctx, engineEvents) })
	running.Go(func() { _ = agent.Run(ctx, updates, engineEvents) })
	return snapshots, func() {
		cancel()
		running.Wait()
	}
}

// settled waits until n pods run and nothing else is on the engine.
func settled(b *testing.B, engine lookout, n int) {
	b.Helper()
	eventually(b, func() bool {
		all := engine.PeekAll()
		return len(all) == n && !slices.ContainsFunc(all, func(p runtime.Pod) bool { return !runs(p) })
	})
}

// replaced waits until one pod has taken the other's place and nothing of that
// is left.
func replaced(b *testing.B, engine lookout, old, next string) {
	b.Helper()
	eventually(b, func() bool {
		before := engine.Peek(old)
		return runs(engine.Peek(next)) && len(before.Sandboxes)+len(before.Containers) == 0
	})
}

func runs(p runtime.Pod) bool {
	return len(p.Sandboxes) == 1 && len(p.Containers) == 1 && p.Containers[0].State == runtime.StateRunning
}

func eventually(b *testing.B, holds func() bool) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-time.After(time.Millisecond) {
		if holds() {
			return
		}
	}
	b.Fatal("the pods did not come to rest")
}

func drain(looks chan string) {
	for {
		select {
		case <-looks:
		default:
			return
		}
	}
}
