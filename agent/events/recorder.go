// Package events keeps what happened on this node for people to read: the
// newest events of the last hour, in memory. An event is about a pod, one of
// its containers, the node or a source; repeats are counted, not kept. Nothing
// here runs by itself.
package events

import (
	"log/slog"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Config is what a Recorder needs.
type Config struct {
	Node   string // the reporting host
	Logger *slog.Logger
	Clock  func() time.Time // nil for time.Now
}

// Recorder keeps events. Safe for concurrent use.
type Recorder struct {
	cfg Config
	mu  sync.Mutex
}

// New returns an empty recorder.
func New(cfg Config) *Recorder { return &Recorder{cfg: cfg} }

// Event tells what happened to the object. eventType is v1.EventTypeNormal or
// v1.EventTypeWarning; message is for people and holds no secret. An event
// equal in object, type, reason and message to a kept one raises its count.
func (r *Recorder) Event(about v1.ObjectReference, eventType, reason, message string) {}

// Filter selects events; an empty field selects all.
type Filter struct {
	Kind      string // Pod, Node, Source
	Namespace string
	Name      string
	UID       string
}

// List returns the selected events by the time they last happened, oldest first.
func (r *Recorder) List(f Filter) []v1.Event { return nil }

// Changed returns a channel that is closed at the next event. Take it before
// List, and no event is missed.
func (r *Recorder) Changed() <-chan struct{} { return nil }
