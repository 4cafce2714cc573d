package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent"
	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/podspec"
	"github.com/podstead/podstead/agent/status"
	"github.com/podstead/podstead/agent/volumes"
	"github.com/podstead/podstead/config"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/runtime/docker"
	"github.com/podstead/podstead/sources"
	"github.com/podstead/podstead/sources/webhook"
)

// farewell is how long what runs may take to end once it is told to: the agent
// is gone within 2 s of a signal, whatever hangs.
const farewell = 1800 * time.Millisecond

// engine is what run needs of a container engine.
type engine interface {
	agent.Runtime
	// Run sends engine events until ctx ends.
	Run(ctx context.Context, out chan<- runtime.Event) error
	// CheckRoot is an error when the engine does not see the root-dir.
	CheckRoot(ctx context.Context, rootDir string) error
	// CanMount says whether a mount made here is seen by the engine, or why not.
	CanMount(ctx context.Context) (bool, string)
}

var _ engine = (*docker.Manager)(nil)

// surroundings is what run takes from outside: the machine in main, a fake one
// in tests.
type surroundings struct {
	logger    *slog.Logger
	host      host
	runDir    string // memory-backed, root's alone
	newEngine func(docker.Config) (engine, error)
	// reload reads the configuration again; nil when nothing changes while the
	// agent runs. hangup asks for it.
	reload *rereading
	hangup <-chan os.Signal
}

// node is everything that runs, wired but not started.
type node struct {
	cfg      config.Config
	id       identity
	log      *slog.Logger
	registry *prometheus.Registry
	engine   engine
	store    *status.Store
	recorder *events.Recorder
	setup    *setup
	reload   *rereading
	hangup   <-chan os.Signal
	gatherer *sources.Gatherer
	hook     *webhook.Server // nil for none
	merger   *sources.Merger
	// sourcesChanged is turned by whatever may change what is shown of sources.
	sourcesChanged turnstile
	agent          *agent.Agent
	server         *api.Server
	started        time.Time
}

// run runs the agent until ctx ends or something that it cannot do without
// breaks. Pods are left running. With once it ends when once returns. The
// root-dir is locked meanwhile.
func run(ctx context.Context, cfg config.Config, out surroundings, once func(context.Context, *node)) error {
	unlock, err := lockRootDir(cfg.RootDir)
	if err != nil {
		return err
	}
	defer unlock()
	id, warnings, err := loadIdentity(cfg.RootDir, cfg.Hostname, out.host)
	if err != nil {
		return err
	}
	n, err := assemble(ctx, cfg, id, out)
	if err != nil {
		return err
	}
	n.announce(warnings)
	return n.run(ctx, once)
}

// assemble makes every part and connects it. Nothing is started.
func assemble(ctx context.Context, cfg config.Config, id identity, out surroundings) (*node, error) {
	n := &node{
		cfg: cfg, id: id, log: out.logger, started: time.Now(), store: status.NewStore(),
		setup: newSetup(cfg, time.Now()), reload: out.reload, hangup: out.hangup,
		gatherer: sources.NewGatherer(sources.GathererConfig{Dir: filepath.Join(cfg.RootDir, "sources"), Logger: out.logger}),
		registry: prometheus.NewRegistry(),
		recorder: events.New(events.Config{Node: id.Name, Logger: out.logger}),
	}
	n.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	var err error
	if n.engine, err = out.newEngine(n.dockerConfig()); err != nil {
		return nil, fmt.Errorf("set up the engine: %w", err)
	}
	if err := n.gatherer.Apply(ctx, n.specs(cfg)); err != nil {
		return nil, &config.Error{Err: err}
	}
	told := &plights{recorder: n.recorder, known: map[string]plight{}}
	n.merger = sources.NewMerger(sources.MergerConfig{
		Sources: n.members(cfg), Logger: n.log,
		Heard:   func(s sources.Snapshot) { told.hear(s); n.sourcesChanged.turn() },
		Settled: func() { n.gatherer.Sweep(); n.sourcesChanged.turn() },
	})
	if n.hook, err = n.newWebhook(); err != nil {
		return nil, err
	}
	if n.agent, err = n.newAgent(filepath.Join(out.runDir, id.NodeID)); err != nil {
		return nil, err
	}
	n.server, err = api.New(api.Config{Socket: cfg.Socket, Handlers: n.handlers(), Logger: n.log})
	return n, err
}

func (n *node) dockerConfig() docker.Config {
	c := docker.Config{
		Endpoint: n.cfg.DockerEndpoint, NodeName: n.id.Name, NodeID: n.id.NodeID,
		LogMaxSize: fmt.Sprint(n.cfg.LogMaxSize), LogMaxFiles: n.cfg.LogMaxFiles,
		Logger: n.log, Registerer: n.registry,
	}
	if n.cfg.PodCIDR.IsValid() {
		c.PodCIDR = n.cfg.PodCIDR.String()
	}
	return c
}

func (n *node) newAgent(runDir string) (*agent.Agent, error) {
	clock, err := agent.SystemClock()
	if err != nil {
		return nil, err
	}
	return agent.New(agent.Config{
		Node: podspec.Node{Name: n.id.Name}, HostIPs: hostIPs(), RootDir: n.cfg.RootDir, Sources: n.gatherer.Names(),
		Resync: n.cfg.SyncFrequency, MaxPods: n.cfg.MaxPods, PodsPerCore: n.cfg.PodsPerCore, Reserved: reserved(n.cfg),
		Pulls: pullLimits(n.cfg), MaxRestartPeriod: n.cfg.MaxRestartPeriod,
	}, agent.Deps{
		Runtime: n.engine, Events: n.recorder, Store: n.store, Clock: clock, Logger: n.log, Registerer: n.registry,
		NodeLogs: n.nodeLogs(),
		Volumes:  volumes.New(volumes.Config{Root: n.cfg.RootDir, Run: runDir, CanMount: n.engine.CanMount, Forbids: n.forbids, Logger: n.log}),
	})
}

// announce tells who starts, and what is odd about it.
func (n *node) announce(warnings []string) {
	n.log.Info("podstead starts", append(n.cfg.Describe(), "version", thisVersion().Version, "node", n.id.Name, "nodeID", n.id.NodeID)...)
	about := events.Node(n.id.Name)
	n.recorder.Event(about, v1.EventTypeNormal, events.NodeStarting, "Starting podstead.")
	for _, w := range warnings {
		n.log.Warn("node name", "err", w)
		n.recorder.Event(about, v1.EventTypeWarning, "NodeNameDiffers", w)
	}
}

// run starts every part in one group, which ends as a whole: when ctx ends,
// when once returns, or when a part breaks.
func (n *node) run(ctx context.Context, once func(context.Context, *node)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	snapshots := make(chan sources.Snapshot)
	updates := make(chan sources.PodUpdate)
	engineEvents := make(chan runtime.Event)
	part := func(name string, run func() error) {
		group.Go(func() error {
			if err := run(); err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil // it was told to end
		})
	}
	part("gather sources", func() error { return n.gatherer.Run(ctx, snapshots) })
	part("merge sources", func() error { return n.merger.Run(ctx, snapshots, updates) })
	part("follow engine events", func() error { return n.engine.Run(ctx, engineEvents) })
	part("run pods", func() error { return n.agent.Run(ctx, updates, engineEvents) })
	part("local API", func() error { return n.server.Run(ctx) })
	part("check the engine", func() error { return n.checkEngine(ctx) })
	if n.hook != nil {
		part("webhook", func() error { return n.hook.Run(ctx) })
	}
	if n.reload != nil {
		part("follow the configuration", func() error { return n.configWatch().Run(ctx) })
	}
	if once != nil {
		group.Go(func() error {
			defer cancel()
			once(ctx, n)
			return nil
		})
	}
	err := n.wait(ctx, group.Wait)
	n.log.Info("podstead has ended; its pods are left running")
	return err
}

// errHung is returned when a part does not end in time. The process ends
// without it: nothing is lost by that.
var errHung = errors.New("a part of the agent did not end in time")

// wait waits for the group, but once ctx has ended only for the farewell.
func (n *node) wait(ctx context.Context, group func() error) error {
	ended := make(chan error, 1) // so that a late end finds room
	go func() { ended <- group() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(farewell)
	defer late.Stop()
	select {
	case err := <-ended:
		return err
	case <-late.C:
		return errHung
	}
}

// checkEngine looks, as soon as there is an engine, whether it is what podstead
// needs, and what the configuration says of it.
func (n *node) checkEngine(ctx context.Context) error {
	if err := n.checkRoot(ctx); err != nil {
		return err
	}
	n.tellCgroupDriver(ctx)
	return nil
}

// checkRoot makes sure that the engine sees the root-dir, as soon as there is an
// engine: what containers mount from there must be what the agent wrote.
func (n *node) checkRoot(ctx context.Context) error {
	const retry = 2 * time.Second
	for {
		err := n.engine.CheckRoot(ctx, n.cfg.RootDir)
		if !errors.Is(err, runtime.ErrUnavailable) && !errors.Is(err, runtime.ErrNoSpace) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		again := time.NewTimer(retry)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return ctx.Err()
		}
	}
}
