// Package docker runs pods on a Docker engine; nothing else in podstead knows
// the engine's API. Idempotent verbs go in (create, start, signal, remove,
// pull), runtime.Pod and runtime.Event come out.
//
// Three kinds of file: translate (pure: convert, security, labels, subnet),
// call (engine, errors) and sequence (sandbox, container, network, images).
// The agent runs Run; every other method works in its caller's goroutine.
package docker

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	goruntime "runtime"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Config says which engine to use and how.
type Config struct {
	Endpoint    string                // "" for DOCKER_HOST, else unix:///var/run/docker.sock
	NodeName    string                // a label, for people
	NodeID      string                // tells this agent's containers from other agents'
	PodCIDR     string                // subnet of the pod network, should it have to be made; "" for a free one
	MTU         int                   // of the pod network; 0 for the default route's
	NetworkLock string                // file that serialises making the network; "" for /run/podstead/network.lock
	LogMaxSize  string                // size at which a container's log is rotated, a quantity; "" for 10Mi
	LogMaxFiles int                   // log files kept for each container; 0 for 5
	Slots       int                   // short engine calls at once; 0 for 2 per CPU
	Logger      *slog.Logger          // nil for none
	Registerer  prometheus.Registerer // nil for no metrics
}

// Manager is the engine's face to the agent. All methods may be called from
// any goroutine.
type Manager struct {
	cfg      Config
	engine   *engine
	log      *slog.Logger
	proc     procfs
	logLimit string // bytes

	facts   kept[facts] // of the engine, until it is reconnected to
	details details
	members members
	network kept[string] // id of the pod network, until it turns out to be gone

	fresh    sync.Map // ids created here whose start was never tried
	reported sync.Map // ids of foreign containers already warned of
	imageIDs sync.Map // imageKey → Container.ImageID
}

// New checks the configuration and returns every fault in it. It starts
// nothing and does not need the engine.
func New(cfg Config) (*Manager, error) {
	cfg = cfg.withDefaults()
	limit, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	e, err := newEngine(cfg)
	if err != nil {
		return nil, err
	}
	return &Manager{
		cfg:      cfg,
		engine:   e,
		log:      cfg.Logger,
		proc:     "/proc",
		logLimit: limit,
		facts:    newKept[facts](),
		network:  newKept[string](),
	}, nil
}

// Close drops idle connections. Streams end with their own contexts.
func (m *Manager) Close() error { return m.engine.close() }

func (c Config) withDefaults() Config {
	if c.NetworkLock == "" {
		c.NetworkLock = "/run/podstead/network.lock"
	}
	if c.LogMaxSize == "" {
		c.LogMaxSize = "10Mi"
	}
	if c.LogMaxFiles == 0 {
		c.LogMaxFiles = 5
	}
	if c.Slots == 0 {
		c.Slots = 2 * goruntime.NumCPU()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// validate returns LogMaxSize in bytes, as the engine wants it: its own units
// are decimal ones.
func (c Config) validate() (logLimit string, err error) {
	var faults []error
	if c.NodeID == "" {
		faults = append(faults, errors.New("node id is empty"))
	}
	if c.PodCIDR != "" {
		if _, err := netip.ParsePrefix(c.PodCIDR); err != nil {
			faults = append(faults, fmt.Errorf("pod CIDR: %w", err))
		}
	}
	size, err := resource.ParseQuantity(c.LogMaxSize)
	if err != nil || size.Value() <= 0 {
		faults = append(faults, fmt.Errorf("log size %q is not a positive quantity", c.LogMaxSize))
	}
	for name, number := range map[string]int{"MTU": c.MTU, "log files": c.LogMaxFiles, "slots": c.Slots} {
		if number < 0 {
			faults = append(faults, fmt.Errorf("%s: %d is negative", name, number))
		}
	}
	return strconv.FormatInt(size.Value(), 10), errors.Join(faults...)
}
