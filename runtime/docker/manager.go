// Package docker runs pods on a Docker engine: it is the only package that
// knows the engine's API. Idempotent verbs go in (create, start, signal,
// remove, pull), runtime.Pod and runtime.Event come out. The agent runs Run;
// every other method belongs to its caller's goroutine.
package docker

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/podstead/podstead/runtime"
	"github.com/prometheus/client_golang/prometheus"
)

// Config says which engine to use and how.
type Config struct {
	Endpoint    string // "" for DOCKER_HOST, else unix:///var/run/docker.sock
	NodeName    string
	NodeID      string
	PodCIDR     string
	MTU         int
	LogMaxSize  string
	LogMaxFiles int
	Slots       int // short calls at once; 0 for 2 per CPU
	Logger      *slog.Logger
	Registerer  prometheus.Registerer // nil for none
}

// Manager is the engine's face to the agent.
type Manager struct{ cfg Config }

// New checks the configuration. It starts nothing and does not need the engine.
func New(cfg Config) (*Manager, error) { return &Manager{cfg: cfg}, nil }

func (m *Manager) Run(ctx context.Context, out chan<- runtime.Event) error { return errors.ErrUnsupported }
func (m *Manager) Close() error                                            { return nil }
func (m *Manager) Engine(ctx context.Context) (runtime.Engine, error) {
	return runtime.Engine{}, errors.ErrUnsupported
}
func (m *Manager) List(ctx context.Context) ([]runtime.Pod, error) { return nil, errors.ErrUnsupported }
func (m *Manager) Pod(ctx context.Context, uid string) (runtime.Pod, error) {
	return runtime.Pod{}, errors.ErrUnsupported
}
func (m *Manager) CreateSandbox(ctx context.Context, cfg runtime.SandboxConfig) (id string, notes []runtime.Degraded, err error) {
	return "", nil, errors.ErrUnsupported
}
func (m *Manager) StartSandbox(ctx context.Context, id string) (runtime.StartedSandbox, error) {
	return runtime.StartedSandbox{}, errors.ErrUnsupported
}
func (m *Manager) CreateContainer(ctx context.Context, cfg runtime.ContainerConfig) (id string, notes []runtime.Degraded, err error) {
	return "", nil, errors.ErrUnsupported
}
func (m *Manager) StartContainer(ctx context.Context, id string) error { return errors.ErrUnsupported }
func (m *Manager) Signal(ctx context.Context, id, signal string) error { return errors.ErrUnsupported }
func (m *Manager) Remove(ctx context.Context, id string) error         { return errors.ErrUnsupported }
func (m *Manager) Image(ctx context.Context, ref string) (runtime.Image, error) {
	return runtime.Image{}, errors.ErrUnsupported
}
func (m *Manager) Pull(ctx context.Context, req runtime.ImageRequest) (runtime.Image, error) {
	return runtime.Image{}, errors.ErrUnsupported
}
func (m *Manager) Logs(ctx context.Context, id string, opts runtime.LogOptions, stdout, stderr io.Writer) error {
	return errors.ErrUnsupported
}
func (m *Manager) CheckRoot(ctx context.Context, rootDir string) error { return errors.ErrUnsupported }
func (m *Manager) CanMount(ctx context.Context) (bool, string)         { return false, "" }
