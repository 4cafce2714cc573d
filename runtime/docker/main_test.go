package docker

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"go.uber.org/goleak"
)

// update makes the golden tests write what they would compare.
var update = flag.Bool("update", false, "rewrite testdata")

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

// script of an engine: a test sets what it expects to be called, and what is
// not set is a nil call and fails the test by itself.
type fakeAPI struct {
	api
	createFn       func(name string, config *container.Config, host *container.HostConfig, net *network.NetworkingConfig) (container.CreateResponse, error)
	startFn        func(id string) error
	killFn         func(id, signal string) error
	removeFn       func(id string) error
	inspectFn      func(id string) (container.InspectResponse, error)
	listFn         func() ([]container.Summary, error)
	inspectImageFn func(ref string) (image.InspectResponse, error)
	pullFn         func(ctx context.Context, ref, auth string) (io.ReadCloser, error)
	loadFn         func(archive io.Reader) error
	listNetworksFn func(labelled bool) ([]network.Summary, error)
	makeNetworkFn  func(opts network.CreateOptions) (string, error)
	dropNetworkFn  func(id string) error
	pingFn         func(ctx context.Context) error
	eventsFn       func(ctx context.Context, opts events.ListOptions) (<-chan events.Message, <-chan error)
}

func (f *fakeAPI) ContainerCreate(_ context.Context, config *container.Config, host *container.HostConfig, net *network.NetworkingConfig, _ *ocispec.Platform, name string) (container.CreateResponse, error) {
	return f.createFn(name, config, host, net)
}

func (f *fakeAPI) ContainerStart(_ context.Context, id string, _ container.StartOptions) error {
	return f.startFn(id)
}

func (f *fakeAPI) ContainerKill(_ context.Context, id, signal string) error {
	return f.killFn(id, signal)
}

func (f *fakeAPI) ContainerRemove(_ context.Context, id string, _ container.RemoveOptions) error {
	return f.removeFn(id)
}

func (f *fakeAPI) ContainerInspect(_ context.Context, id string) (container.InspectResponse, error) {
	return f.inspectFn(id)
}

func (f *fakeAPI) ContainerList(context.Context, container.ListOptions) ([]container.Summary, error) {
	return f.listFn()
}

func (f *fakeAPI) ImageInspect(_ context.Context, ref string, _ ...client.ImageInspectOption) (image.InspectResponse, error) {
	return f.inspectImageFn(ref)
}

func (f *fakeAPI) ImagePull(ctx context.Context, ref string, opts image.PullOptions) (io.ReadCloser, error) {
	return f.pullFn(ctx, ref, opts.RegistryAuth)
}

func (f *fakeAPI) ImageLoad(_ context.Context, archive io.Reader, _ ...client.ImageLoadOption) (image.LoadResponse, error) {
	return image.LoadResponse{Body: io.NopCloser(emptyReader{})}, f.loadFn(archive)
}

func (f *fakeAPI) NetworkList(_ context.Context, opts network.ListOptions) ([]network.Summary, error) {
	return f.listNetworksFn(opts.Filters.Contains("label"))
}

func (f *fakeAPI) NetworkCreate(_ context.Context, _ string, opts network.CreateOptions) (network.CreateResponse, error) {
	id, err := f.makeNetworkFn(opts)
	return network.CreateResponse{ID: id}, err
}

func (f *fakeAPI) NetworkRemove(_ context.Context, id string) error { return f.dropNetworkFn(id) }

func (f *fakeAPI) Ping(ctx context.Context) (types.Ping, error) {
	return types.Ping{APIVersion: "1.41"}, f.pingFn(ctx)
}

func (f *fakeAPI) Info(context.Context) (system.Info, error) {
	return system.Info{Architecture: "aarch64", CgroupDriver: "systemd", OSType: "linux"}, nil
}

func (f *fakeAPI) Events(ctx context.Context, opts events.ListOptions) (<-chan events.Message, <-chan error) {
	return f.eventsFn(ctx, opts)
}

func (f *fakeAPI) Close() error { return nil }

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, io.EOF }

// refusal is an error of the engine: its words and its status.
type refusal struct {
	text   string
	status error
}

func (r refusal) Error() string { return "Error response from daemon: " + r.text }

func (r refusal) Unwrap() error { return r.status }

func newTestManager(t *testing.T, a api) *Manager {
	t.Helper()
	m, err := New(Config{
		Endpoint:    "unix:///nowhere/docker.sock",
		NodeName:    "n1",
		NodeID:      "node-1",
		NetworkLock: t.TempDir() + "/network.lock",
		Logger:      slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	m.engine.api = a
	m.engine.dial = func() (api, error) { return a, nil }
	return m
}

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("differs from %s (go test -update rewrites it):\n%s", path, got)
	}
}
