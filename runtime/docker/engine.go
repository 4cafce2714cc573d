package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/podstead/podstead/runtime"
)

// The engine's calls that podstead uses, by noun.
type (
	containers interface {
		ContainerCreate(context.Context, *container.Config, *container.HostConfig, *network.NetworkingConfig, *ocispec.Platform, string) (container.CreateResponse, error)
		ContainerStart(context.Context, string, container.StartOptions) error
		ContainerKill(ctx context.Context, id, signal string) error
		ContainerRemove(context.Context, string, container.RemoveOptions) error
		ContainerInspect(context.Context, string) (container.InspectResponse, error)
		ContainerList(context.Context, container.ListOptions) ([]container.Summary, error)
		ContainerLogs(context.Context, string, container.LogsOptions) (io.ReadCloser, error)
	}
	insides interface {
		ContainerStatPath(ctx context.Context, id, path string) (container.PathStat, error)
		CopyFromContainer(ctx context.Context, id, path string) (io.ReadCloser, container.PathStat, error)
		CopyToContainer(ctx context.Context, id, dir string, archive io.Reader, opts container.CopyToContainerOptions) error
		ContainerStatsOneShot(ctx context.Context, id string) (container.StatsResponseReader, error)
	}
	streaming interface {
		ContainerExecCreate(ctx context.Context, id string, opts container.ExecOptions) (container.ExecCreateResponse, error)
		ContainerExecInspect(ctx context.Context, exec string) (container.ExecInspect, error)
		ContainerExecResize(ctx context.Context, exec string, opts container.ResizeOptions) error
		ContainerResize(ctx context.Context, id string, opts container.ResizeOptions) error
		Dialer() func(context.Context) (net.Conn, error) // for hijack
		DaemonHost() string
	}
	images interface {
		ImageInspect(context.Context, string, ...client.ImageInspectOption) (image.InspectResponse, error)
		ImagePull(context.Context, string, image.PullOptions) (io.ReadCloser, error)
		ImageLoad(context.Context, io.Reader, ...client.ImageLoadOption) (image.LoadResponse, error)
	}
	networks interface {
		NetworkList(context.Context, network.ListOptions) ([]network.Summary, error)
		NetworkCreate(context.Context, string, network.CreateOptions) (network.CreateResponse, error)
		NetworkRemove(context.Context, string) error
	}
	daemon interface {
		Ping(context.Context) (types.Ping, error)
		Info(context.Context) (system.Info, error)
		Events(context.Context, events.ListOptions) (<-chan events.Message, <-chan error)
		ClientVersion() string
		Close() error
	}
	api interface {
		containers
		streaming
		insides
		images
		networks
		daemon
	}
)

// How long the engine may take. Creating and starting have what cri-dockerd
// gives them; removing can take as long, for it may have to kill first; the
// engine itself waits up to 10 s for a killed process.
const (
	longLimit  = 2*time.Minute - time.Second
	shortLimit = 30 * time.Second
	pingLimit  = 10 * time.Second
)

// engine makes the calls: each is bounded, timed, counted and its error
// classified here, and nowhere else.
type engine struct {
	endpoint string
	dial     func() (api, error)
	slots    *slots
	metrics  *metrics

	mu  sync.RWMutex
	api api
}

func newEngine(cfg Config) (*engine, error) {
	endpoint := cfg.Endpoint
	if endpoint == "" {
		endpoint = os.Getenv("DOCKER_HOST")
	}
	if endpoint == "" {
		endpoint = client.DefaultDockerHost
	}
	dial := func() (api, error) {
		return client.NewClientWithOpts(
			client.WithTLSClientConfigFromEnv(),
			client.WithHost(endpoint),
			client.WithVersionFromEnv(),
			client.WithAPIVersionNegotiation(),
		)
	}
	first, err := dial()
	if err != nil {
		return nil, fmt.Errorf("engine endpoint %q: %w", endpoint, err)
	}
	metrics, err := newMetrics(cfg.Registerer)
	if err != nil {
		return nil, err
	}
	return &engine{
		endpoint: endpoint,
		dial:     dial,
		slots:    newSlots(cfg.Slots),
		metrics:  metrics,
		api:      first,
	}, nil
}

func (e *engine) current() api {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.api
}

// renew negotiates the API version anew with the next call: the engine that
// answers after an interruption may be an older one.
func (e *engine) renew() error {
	next, err := e.dial()
	if err != nil {
		return err
	}
	e.mu.Lock()
	old := e.api
	e.api = next
	e.mu.Unlock()
	return old.Close()
}

func (e *engine) close() error { return e.current().Close() }

// call describes one engine call.
type call struct {
	name  string        // the metric's label
	id    string        // of the container it concerns, for the error's sake
	limit time.Duration // 0 for a stream: it ends with its context
	slot  bool          // takes one of the bounded number of slots
	rank  rank          // among those who wait for one
	joins bool          // can be refused for another object's sake: a sandbox, a network
}

// ask makes a call. The limit begins when the slot is had: a long queue is no
// fault of the engine.
func ask[T any](ctx context.Context, e *engine, c call, do func(context.Context, api) (T, error)) (T, error) {
	var none T
	if c.slot {
		err := e.slots.take(ctx, c.rank)
		switch {
		case errors.Is(err, runtime.ErrBusy):
			return none, err // of our own making
		case err != nil:
			return none, e.classify(ctx, c, err)
		}
		defer e.slots.give()
	}
	limited := ctx
	if c.limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, c.limit)
		defer cancel()
	}
	begin := time.Now()
	result, err := do(limited, e.current())
	err = e.classify(ctx, c, err)
	e.metrics.observe(c.name, time.Since(begin), err)
	if err != nil {
		return none, err
	}
	return result, nil
}

// tell is ask for calls without an answer.
func tell(ctx context.Context, e *engine, c call, do func(context.Context, api) error) error {
	_, err := ask(ctx, e, c, func(ctx context.Context, a api) (struct{}, error) { return struct{}{}, do(ctx, a) })
	return err
}

func (e *engine) createContainer(ctx context.Context, s spec) (container.CreateResponse, error) {
	r := rankCreate
	if s.config.Labels[labelContainer] == sandboxContainer {
		r = rankBeginning
	}
	return ask(ctx, e, call{name: "container_create", limit: longLimit, slot: true, rank: r, joins: true}, func(ctx context.Context, a api) (container.CreateResponse, error) {
		return a.ContainerCreate(ctx, s.config, s.host, s.network, nil, s.name)
	})
}

func (e *engine) startContainer(ctx context.Context, id string, r rank) error {
	return tell(ctx, e, call{name: "container_start", id: id, limit: longLimit, slot: true, rank: r, joins: true}, func(ctx context.Context, a api) error {
		return a.ContainerStart(ctx, id, container.StartOptions{})
	})
}

func (e *engine) killContainer(ctx context.Context, id, signal string) error {
	return tell(ctx, e, call{name: "container_kill", id: id, limit: shortLimit, slot: true}, func(ctx context.Context, a api) error {
		return a.ContainerKill(ctx, id, signal)
	})
}

func (e *engine) removeContainer(ctx context.Context, id string) error {
	return tell(ctx, e, call{name: "container_remove", id: id, limit: longLimit, slot: true, rank: rankTidy}, func(ctx context.Context, a api) error {
		return a.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	})
}

func (e *engine) inspectContainer(ctx context.Context, id string) (container.InspectResponse, error) {
	return ask(ctx, e, call{name: "container_inspect", id: id, limit: shortLimit, slot: true}, func(ctx context.Context, a api) (container.InspectResponse, error) {
		return a.ContainerInspect(ctx, id)
	})
}

// listContainers takes no slot, like ping and info: these tell whether the
// engine lives, and must not wait behind a queue of starts to do so.
func (e *engine) listContainers(ctx context.Context, labels ...string) ([]container.Summary, error) {
	return e.listContainersOf(ctx, nil, labels...)
}

// listContainersOf is listContainers for these ids only; none for all.
func (e *engine) listContainersOf(ctx context.Context, ids []string, labels ...string) ([]container.Summary, error) {
	filter := labelFilter(labels...)
	for _, id := range ids {
		filter.Add("id", id)
	}
	return ask(ctx, e, call{name: "container_list", limit: shortLimit}, func(ctx context.Context, a api) ([]container.Summary, error) {
		return a.ContainerList(ctx, container.ListOptions{All: true, Filters: filter})
	})
}

func (e *engine) containerLogs(ctx context.Context, id string, opts container.LogsOptions) (io.ReadCloser, error) {
	return ask(ctx, e, call{name: "container_logs", id: id}, func(ctx context.Context, a api) (io.ReadCloser, error) {
		return a.ContainerLogs(ctx, id, opts)
	})
}

func (e *engine) inspectImage(ctx context.Context, ref string) (image.InspectResponse, error) {
	return ask(ctx, e, call{name: "image_inspect", limit: shortLimit, slot: true}, func(ctx context.Context, a api) (image.InspectResponse, error) {
		return a.ImageInspect(ctx, ref)
	})
}

func (e *engine) pullImage(ctx context.Context, ref, auth string) (io.ReadCloser, error) {
	return ask(ctx, e, call{name: "image_pull"}, func(ctx context.Context, a api) (io.ReadCloser, error) {
		return a.ImagePull(ctx, ref, image.PullOptions{RegistryAuth: auth})
	})
}

// loadImage reads the answer to its end, for the image is there only then.
func (e *engine) loadImage(ctx context.Context, archive io.Reader) error {
	return tell(ctx, e, call{name: "image_load", limit: longLimit, slot: true}, func(ctx context.Context, a api) error {
		answer, err := a.ImageLoad(ctx, archive, client.ImageLoadWithQuiet(true))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		return drain(answer.Body)
	})
}

func (e *engine) listNetworks(ctx context.Context, labels ...string) ([]network.Summary, error) {
	return ask(ctx, e, call{name: "network_list", limit: shortLimit, slot: true}, func(ctx context.Context, a api) ([]network.Summary, error) {
		return a.NetworkList(ctx, network.ListOptions{Filters: labelFilter(labels...)})
	})
}

func (e *engine) createNetwork(ctx context.Context, name string, opts network.CreateOptions) (string, error) {
	return ask(ctx, e, call{name: "network_create", limit: shortLimit, slot: true}, func(ctx context.Context, a api) (string, error) {
		made, err := a.NetworkCreate(ctx, name, opts)
		return made.ID, err
	})
}

func (e *engine) removeNetwork(ctx context.Context, id string) error {
	return tell(ctx, e, call{name: "network_remove", limit: shortLimit, slot: true}, func(ctx context.Context, a api) error {
		return a.NetworkRemove(ctx, id)
	})
}

func (e *engine) ping(ctx context.Context) (types.Ping, error) {
	return ask(ctx, e, call{name: "ping", limit: pingLimit}, func(ctx context.Context, a api) (types.Ping, error) {
		return a.Ping(ctx)
	})
}

func (e *engine) info(ctx context.Context) (system.Info, error) {
	return ask(ctx, e, call{name: "info", limit: pingLimit}, func(ctx context.Context, a api) (system.Info, error) {
		return a.Info(ctx)
	})
}

func labelFilter(labels ...string) filters.Args {
	args := filters.NewArgs()
	for _, label := range labels {
		args.Add("label", label)
	}
	return args
}
