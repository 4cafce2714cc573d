package api

import (
	"context"
	"io"
	"net/http"
	"time"

	v1 "k8s.io/api/core/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/podstead/podstead/runtime"
)

// Handlers is what the server asks. A nil function means that this agent does
// not have the view; its path answers 501. All must be safe for concurrent use
// and return when their context ends.
type Handlers struct {
	// Fresh lets the agent look at the engine before a view of it is answered.
	// Its error becomes a warning of the answer, which then shows what was
	// known before. It bounds itself.
	Fresh func(ctx context.Context) error
	// Healthy says what keeps the agent from working; nil for nothing.
	Healthy func(ctx context.Context) error
	// Pods are all pods with their status, refused and finished ones included.
	Pods func(ctx context.Context) ([]*v1.Pod, error)
	// PodsChanged returns a channel that is closed at the next change of Pods.
	PodsChanged func() <-chan struct{}
	// RunningPods are the pods that the engine runs, as the engine tells them.
	RunningPods func(ctx context.Context) ([]*v1.Pod, error)
	// Logs writes the log of one container.
	Logs func(ctx context.Context, req LogRequest, out io.Writer) error
	// Exec and Attach find a container that runs, and return what serves a client.
	Exec   func(ctx context.Context, req ExecRequest) (Session, error)
	Attach func(ctx context.Context, target Target) (Session, error)
	// StreamIdle is how long an exec, attach or port-forward may carry nothing; 0 for
	// the kubelet's 4 h.
	StreamIdle time.Duration
	// PortForward returns what connects to ports of a pod.
	PortForward func(ctx context.Context, namespace, pod string) (PortDialer, error)
	// FilePlace, ReadFiles and WriteFiles are about files in a container. The two
	// are given what does not dawdle.
	FilePlace  func(ctx context.Context, req FileRequest) (FilePlace, error)
	ReadFiles  func(ctx context.Context, req FileRequest, out io.Writer) error
	WriteFiles func(ctx context.Context, req FileRequest, archive io.Reader) error
	// Stats measures what the node and its pods use.
	Stats func(ctx context.Context) (*statsapi.Summary, error)
	// Events are the kept events that the filter selects, oldest first.
	Events func(filter EventFilter) []v1.Event
	// EventsChanged returns a channel that is closed at the next event.
	EventsChanged func() <-chan struct{}
	Sources       func(ctx context.Context) ([]Source, error)
	// SourcesChanged returns a channel that is closed when Sources may differ.
	SourcesChanged func() <-chan struct{}
	// Restart has a pod's containers run anew, and returns when that is durable.
	Restart    func(ctx context.Context, req RestartRequest) (Restart, error)
	Draining   *Draining
	Suspending *Suspending
	// Sync makes sources look now, and returns when they have, or at ctx's end
	// with that as the error of those that have not. An error of its own is one of
	// the question.
	Sync   func(ctx context.Context, req SyncRequest) ([]SyncResult, error)
	Status func(ctx context.Context) (Status, error)
	// Settings are the configuration in force, secrets hidden.
	Settings func(ctx context.Context) ([]Setting, error)
	Version  func() Version
	Metrics  http.Handler
}

// EventFilter selects events by the object they are about; empty fields select all.
type EventFilter struct {
	Kind      string
	Namespace string
	Name      string
	UID       string
}

// LogRequest is one request for a container's log.
type LogRequest struct {
	Namespace string
	Pod       string // full name
	Container string
	Previous  bool
	runtime.LogOptions
}
