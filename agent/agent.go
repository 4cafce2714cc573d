package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/agent/podspec"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/sources"
)

// Config is what the agent is told at start.
type Config struct {
	Node    podspec.Node
	HostIPs []string // of the node, the primary family first; shown as status.hostIPs
	RootDir string   // pod records are kept below it
	// Sources are the configured source names in order of precedence.
	Sources []string
	// Resync is how often all pods are compared with the engine, jittered by a
	// tenth. It repairs what events missed.
	Resync time.Duration
	// MaxPods is the kubelet's maxPods.
	MaxPods int
	// PodsPerCore bounds the pods for each CPU of the engine, below MaxPods; 0 for no
	// such bound.
	PodsPerCore int
	// Reserved is what admission keeps from pods, of processors and memory.
	Reserved Claims
	// Pulls bounds image pulls.
	Pulls PullLimits
	// MaxRestartPeriod is the longest delay before a crashed container starts again;
	// 0 for the kubelet's 5 min.
	MaxRestartPeriod time.Duration
}

// Validate reports every value that cannot work.
func (c Config) Validate() error {
	var faults []error
	if c.Node.Name == "" {
		faults = append(faults, errors.New("agent: the node has no name"))
	}
	if c.Resync <= 0 {
		faults = append(faults, fmt.Errorf("agent: resync period %s is not positive", c.Resync))
	}
	if c.MaxPods <= 0 {
		faults = append(faults, fmt.Errorf("agent: maximum number of pods %d is not positive", c.MaxPods))
	}
	return errors.Join(faults...)
}

// Agent makes the engine run exactly the pods that the updates want.
type Agent struct {
	cfg     Config
	deps    Deps
	log     *slog.Logger
	records *Records
	puller  *puller
	metrics *metrics

	looks    chan look
	asks     chan chan<- []<-chan struct{}
	nudge    chan struct{} // one slot: a look that is owed is owed once
	reports  chan report
	restarts chan restartOf // what clients ask
	drains   chan struct{}  // one slot: the loop is to look whether the node is drained
	drain    *drainFile
	// inventory is what the last look at the engine said; read by Engine and Fresh.
	inventory inventory
	logs      logTrouble
	workers   sync.WaitGroup
}

// New checks the configuration and starts nothing.
func New(cfg Config, deps Deps) (*Agent, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	drain, err := newDrainFile(cfg.RootDir)
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(deps.Registerer)
	if err != nil {
		return nil, fmt.Errorf("register the agent's metrics: %w", err)
	}
	return &Agent{
		cfg: cfg, deps: deps, log: deps.Logger, metrics: m,
		records: NewRecords(cfg.RootDir),
		puller:  newPuller(deps.Runtime, cfg.Pulls),
		looks:   make(chan look),
		asks:    make(chan chan<- []<-chan struct{}),
		nudge:   make(chan struct{}, 1),
		reports: make(chan report), restarts: make(chan restartOf), drains: make(chan struct{}, 1),
		drain: drain,
	}, nil
}

// Run reads updates and engine events until ctx ends, then waits for all that
// it started. Pods are left running. Either channel may be closed before.
func (a *Agent) Run(ctx context.Context, updates <-chan sources.PodUpdate, engine <-chan runtime.Event) error {
	records, err := a.records.Load()
	if err != nil {
		// What can be read counts; a container without a record costs nothing but its history.
		a.log.Error("some pod records cannot be used", "err", err)
	}
	loop := newLoop(a, records)
	if d := a.Drained(); d != nil {
		a.log.Warn("no pod is run", "reason", string(plan.ReasonDrained), "message", d.String())
	}
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() { a.observe(ctx, records) })
	group.Go(func() { a.puller.run(ctx) })

	a.syncLoop(ctx, loop, updates, engine)
	a.workers.Wait()
	return nil
}

// Pods returns every pod with its newest status, sorted by namespace and name.
// They are shared: read only.
func (a *Agent) Pods() []*v1.Pod { return a.deps.Store.List() }

// Events returns the recorder that all acts are told to.
func (a *Agent) Events() *events.Recorder { return a.deps.Events }

// Engine returns what the engine last said of itself, and the error of the last
// look if it did not answer.
func (a *Agent) Engine() (runtime.Engine, error) { return a.inventory.engine() }

// Logs writes the log of a container of a pod, chosen as the kubelet does:
// with previous the instance before the current one; otherwise the newest that
// ever started. An empty container name takes the pod's only one.
func (a *Agent) Logs(ctx context.Context, req LogRequest, out io.Writer) error {
	pod, err := a.find(req.Namespace, req.Pod)
	if err != nil {
		return err
	}
	name, err := containerFor(pod, req.Container)
	if err != nil {
		return err
	}
	observed, err := a.deps.Runtime.Pod(ctx, string(pod.UID))
	if err != nil {
		return fmt.Errorf("look up containers of pod %s/%s: %w", req.Namespace, req.Pod, err)
	}
	instance, err := logInstance(pod, observed, name, req.Previous)
	if err != nil {
		return err
	}
	if err := a.deps.Runtime.Logs(ctx, instance.ID, req.Options, out, out); err != nil {
		return fmt.Errorf("read log of container %s in pod %s/%s: %w", name, req.Namespace, req.Pod, err)
	}
	return nil
}
