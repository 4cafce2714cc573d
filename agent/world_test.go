package agent

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"

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

const testImage = "busybox:1"

// world is a machine: an engine, a disk, and an agent that can be killed and
// started again. It lives inside a synctest bubble, in whose time hours pass at once.
type world struct {
	*testing.T
	engine *runtimetest.Fake
	root   string
	run    string // for what is secret
	logs   string // the engine's log files, and the links to them
	boot   string
	began  time.Time
	log    *slog.Logger

	agent   *Agent
	store   *status.Store
	updates chan sources.PodUpdate
	kill    func()
	cut     func() // kills it in the middle of what it does; kill then waits for its end
	wanted  []sources.Pod
	mute    bool // the source says nothing at the agent's start
}

// inWorld runs a test in a fresh world, with an agent started.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.start()
		defer func() { w.kill() }()
		test(w)
	})
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, engine: runtimetest.New(time.Now), root: memoryDir(t), run: memoryDir(t), logs: memoryDir(t), boot: "boot-1", began: time.Now()}
	w.log = slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.engine.AddImage(testImage)
	w.engine.KeepLogs(filepath.Join(w.logs, "engine"))
	return w
}

// memoryDir is a directory that costs no disk write where the machine has such;
// worlds are made by the thousand, and each syncs its records.
func memoryDir(t *testing.T) string {
	const memory = "/dev/shm"
	if info, err := os.Stat(memory); err != nil || !info.IsDir() {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "podstead-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// testWriter sends the agent's log to the test's, while the test lasts.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

// start begins a life of the agent; what its source wants is sent at once.
func (w *world) start() {
	w.Helper()
	w.store = status.NewStore()
	agent, err := New(Config{
		Node: podspec.Node{Name: "n1"}, HostIPs: []string{"192.0.2.1"}, RootDir: w.root,
		Sources: []string{"file"}, Resync: 5 * time.Minute, MaxPods: 600, Pulls: PullLimits{AtOnce: 1},
	}, Deps{
		Runtime: w.engine, Store: w.store, Clock: w.clock, Logger: w.log,
		Volumes: volumes.New(volumes.Config{Root: w.root, Run: w.run, CanMount: w.engine.CanMount, Logger: w.log}),
		NodeLogs: nodelogs.New(nodelogs.Config{
			Pods: filepath.Join(w.logs, "pods"), Containers: filepath.Join(w.logs, "containers"), Owner: "node-1",
		}),
		Events: events.New(events.Config{Node: "n1", Logger: w.log, Clock: time.Now}),
	})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.agent, w.updates = agent, make(chan sources.PodUpdate)
	engineEvents := make(chan runtime.Event)
	var running sync.WaitGroup
	running.Go(func() {
		defer close(engineEvents)
		_ = w.engine.Run(ctx, engineEvents) // ends with ctx
	})
	running.Go(func() {
		if err := agent.Run(ctx, w.updates, engineEvents); err != nil {
			w.Error(err)
		}
	})
	w.cut = cancel
	w.kill = func() {
		cancel()
		running.Wait()
	}
	if !w.mute {
		w.speak(w.wanted...)
	}
}

// restart kills the agent and starts it again on the same machine.
func (w *world) restart() {
	w.kill()
	w.start()
}

func (w *world) clock() plan.Moment {
	return plan.Moment{Boot: w.boot, Since: time.Since(w.began), Wall: time.Now()}
}

func (w *world) send(changes ...sources.Change) {
	w.updates <- sources.PodUpdate{
		Changes: changes, Source: sources.SourceState{Name: "file", Live: true, Attempted: true},
	}
}

// apply is what the source wants from now on; removals and additions are told
// as the merger would.
func (w *world) apply(pods ...sources.Pod) {
	var changes []sources.Change
	for _, old := range w.wanted {
		if !slices.ContainsFunc(pods, func(p sources.Pod) bool { return p.UID == old.UID }) {
			changes = append(changes, remove(old))
		}
	}
	for _, p := range pods {
		op := sources.ADD
		for _, old := range w.wanted {
			switch {
			case old.Pod.Pod == p.Pod.Pod && !old.Objects.Same(p.Objects):
				op = sources.RECONCILE
			case old.UID == p.UID:
				op = sources.UPDATE
			}
		}
		changes = append(changes, sources.Change{Op: op, Pod: p})
	}
	w.wanted = pods
	w.send(changes...)
}

// advance lets time pass, and then everything that is due come to rest.
func (w *world) advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// pod makes a pod as manifests would, with one running container for each name.
func pod(name, version string, edit ...func(*v1.Pod)) sources.Pod {
	p := makePod(name, version)
	grace := int64(30)
	p.Spec.RestartPolicy = v1.RestartPolicyAlways
	p.Spec.TerminationGracePeriodSeconds = &grace
	p.Spec.Containers[0].Image = testImage
	p.Spec.Containers[0].ImagePullPolicy = v1.PullIfNotPresent
	p.Spec.Containers[0].TerminationMessagePath = "/dev/termination-log"
	p.Written = []byte(fmt.Sprintf(`{"metadata":{"name":%q},"version":%q}`, name, version))
	for _, e := range edit {
		e(p.Pod.Pod)
	}
	return p
}

func withPort(port int32) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: port, HostPort: port, Protocol: v1.ProtocolTCP}}
	}
}

func withPolicy(policy v1.RestartPolicy) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.RestartPolicy = policy }
}

func withGrace(seconds int64) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = &seconds }
}

func withInit(names ...string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		for _, name := range names {
			c := *p.Spec.Containers[0].DeepCopy()
			c.Name, c.Ports = name, nil
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
	}
}

func withImage(image string, policy v1.PullPolicy) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.Containers[0].Image, p.Spec.Containers[0].ImagePullPolicy = image, policy }
}

// shows is the pod of a UID as users see it.
func (w *world) shows(uid string) *v1.Pod {
	w.Helper()
	pod, ok := w.store.Get(uid)
	if !ok {
		w.Fatalf("no status of %s", uid)
	}
	return pod
}

// running are the processes on the engine, as pod.version/container, sorted;
// sandboxes as POD.
func (w *world) running() []string {
	w.Helper()
	pods, err := w.engine.List(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	var all []string
	for _, p := range pods {
		for _, s := range p.Sandboxes {
			if s.State == runtime.StateRunning {
				all = append(all, p.UID+"/POD")
			}
		}
		for _, c := range p.Containers {
			if c.State == runtime.StateRunning {
				all = append(all, p.UID+"/"+c.Name)
			}
		}
	}
	slices.Sort(all)
	return all
}

// objects is how many sandboxes and containers there are, in any state.
func (w *world) objects() int {
	w.Helper()
	pods, err := w.engine.List(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	n := 0
	for _, p := range pods {
		n += len(p.Sandboxes) + len(p.Containers)
	}
	return n
}

// wantRunning checks the processes on the engine.
func (w *world) wantRunning(want ...string) {
	w.Helper()
	if got := w.running(); !slices.Equal(got, want) {
		w.Fatalf("running %v, want %v", got, want)
	}
}

// container is the newest instance of a pod's container on the engine.
func (w *world) container(uid, name string) runtime.Container {
	w.Helper()
	pod, err := w.engine.Pod(context.Background(), uid)
	if err != nil {
		w.Fatal(err)
	}
	c, ok := pod.Newest(name)
	if !ok {
		w.Fatalf("pod %s has no container %s", uid, name)
	}
	return c
}

// wantNothingLeft checks that engine and disk are as before any pod.
func (w *world) wantNothingLeft() {
	w.Helper()
	if n := w.objects(); n != 0 {
		w.Errorf("%d objects are left on the engine", n)
	}
	if left, _ := filepath.Glob(filepath.Join(w.root, "pods", "*")); len(left) != 0 {
		w.Errorf("left on disk: %v", left)
	}
	if pods := w.store.List(); len(pods) != 0 {
		w.Errorf("%d pods are still shown", len(pods))
	}
	if left, _ := filepath.Glob(filepath.Join(w.logs, "pods", "*")); len(left) != 0 {
		w.Errorf("links to logs are left: %v", left)
	}
	w.wantLogLinks()
}

// wantEvent checks that an event of that reason, holding that text, was told.
func (w *world) wantEvent(reason, part string) {
	w.Helper()
	for _, e := range w.agent.Events().List(events.Filter{}) {
		if e.Reason == reason && strings.Contains(e.Message, part) {
			return
		}
	}
	w.Errorf("no event %s with %q", reason, part)
}

// quiet keeps the agent's log out of the test's, for worlds by the hundred.
func (w *world) quiet() { w.log = slog.New(slog.DiscardHandler) }
