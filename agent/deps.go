package agent

import (
	"context"
	"io"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/nodelogs"
	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/agent/status"
	"github.com/podstead/podstead/agent/volumes"
	"github.com/podstead/podstead/runtime"
)

// Runtime is the engine as the agent needs it. Every verb is idempotent: what
// exists is adopted, what is stopped or gone is a success.
type Runtime interface {
	Observer
	Sandboxes
	Containers
	Images
	Insides
	Visits
}

// Observer looks at the engine. List is one call for all pods of this node and
// tells states only; Pod tells all of one pod, and an absent pod is an empty one.
type Observer interface {
	Engine(ctx context.Context) (runtime.Engine, error)
	List(ctx context.Context) ([]runtime.Pod, error)
	Pod(ctx context.Context, uid string) (runtime.Pod, error)
	Namesakes(ctx context.Context) ([]runtime.Namesake, error)
	Logs(ctx context.Context, id string, opts runtime.LogOptions, stdout, stderr io.Writer) error
}

// Sandboxes makes pod sandboxes.
type Sandboxes interface {
	CreateSandbox(ctx context.Context, cfg runtime.SandboxConfig) (id string, notes []runtime.Degraded, err error)
	StartSandbox(ctx context.Context, id string) (runtime.StartedSandbox, error)
}

// Containers makes, signals and removes containers; Signal and Remove take
// sandboxes too.
type Containers interface {
	CreateContainer(ctx context.Context, cfg runtime.ContainerConfig) (id string, notes []runtime.Degraded, err error)
	StartContainer(ctx context.Context, id string) error
	Signal(ctx context.Context, id, signal string) error
	Remove(ctx context.Context, id string) error
}

// Images looks up and pulls images. Image is local only.
type Images interface {
	Image(ctx context.Context, ref string) (runtime.Image, error)
	Pull(ctx context.Context, req runtime.ImageRequest) (runtime.Image, error)
}

// Insides reaches into what runs. Files are those of a container, running or not;
// Dial connects to a port of a sandbox's own loopback address; Usage is of either.
type Insides interface {
	FilePlace(ctx context.Context, id, path string) (runtime.FilePlace, error)
	ReadFiles(ctx context.Context, id, path string, out io.Writer) error
	WriteFiles(ctx context.Context, id, dir string, archive io.Reader) error
	Dial(ctx context.Context, sandboxID string, port int) (net.Conn, error)
	Usage(ctx context.Context, id string) (runtime.Usage, error)
}

// Visits are stays in a running container: beside its process, and at it.
type Visits interface {
	Exec(ctx context.Context, id string, command []string, s runtime.Streams) error
	Attach(ctx context.Context, id string, s runtime.Streams) error
}

// Volumes prepares what a pod mounts and takes it away again.
type Volumes interface {
	SetUp(ctx context.Context, req volumes.Request) (paths map[string]string, notes []volumes.Note, err error)
	TearDown(ctx context.Context, uid string) error
	MessageFile(uid, container string) (string, error)
	Sweep(ctx context.Context, known func(uid string) bool) error
}

// NodeLogs shows the logs of containers where a kubelet does. Show costs nothing
// when nothing has changed; Restore repairs what somebody else did.
type NodeLogs interface {
	Show(pod nodelogs.Pod, logs []nodelogs.Log) error
	Hide(pod nodelogs.Pod) error
	Restore() (missing int, err error)
	Sweep(known func(uid string) bool) error
}

// Deps is what the agent works with. All fields are needed but Registerer.
type Deps struct {
	Runtime    Runtime
	Volumes    Volumes
	NodeLogs   NodeLogs
	Events     *events.Recorder
	Store      *status.Store
	Clock      func() plan.Moment // SystemClock outside tests
	Logger     *slog.Logger
	Registerer prometheus.Registerer // nil: no metrics
}
