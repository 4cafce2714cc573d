// Package events keeps what happened on this node for people to read: the
// newest events of the last hour, in memory. An event is about a pod, one of
// its containers, the node or a source; repeats are counted, not kept. Nothing
// here runs by itself.
package events

import (
	"container/list"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What is kept at most. The longest message is that of the Kubernetes API.
const (
	keepEvents   = 10_000
	keepFor      = time.Hour
	messageBytes = 1024
)

const component = "podstead"

// Config is what a Recorder needs.
type Config struct {
	Node   string           // the reporting host
	Logger *slog.Logger     // nil for none
	Clock  func() time.Time // nil for time.Now
}

// Recorder keeps events. Safe for concurrent use.
type Recorder struct {
	cfg Config

	mu      sync.Mutex
	order   *list.List            // of *v1.Event, by the time they last happened
	kept    map[key]*list.Element // the same events
	made    uint64                // events ever made, for their names
	changed chan struct{}         // closed at the next event; nil while nobody waits
}

// key is what makes two events one.
type key struct {
	about                      v1.ObjectReference
	eventType, reason, message string
}

// New returns an empty recorder.
func New(cfg Config) *Recorder {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Recorder{cfg: cfg, order: list.New(), kept: map[key]*list.Element{}}
}

// Event tells what happened to the object. eventType is v1.EventTypeNormal or
// v1.EventTypeWarning; message is for people and holds no secret; what is over
// 1 KiB of it is cut. An event equal in object, type, reason and message to a
// kept one raises its count; a new one is logged too.
func (r *Recorder) Event(about v1.ObjectReference, eventType, reason, message string) {
	k := key{about: about, eventType: eventType, reason: reason, message: cut(message)}
	if r.record(k) {
		r.log(k)
	}
}

// Note is Event for what whoever tells it has logged already.
func (r *Recorder) Note(about v1.ObjectReference, eventType, reason, message string) {
	r.record(key{about: about, eventType: eventType, reason: reason, message: cut(message)})
}

// record counts the event and reports whether it is new.
func (r *Recorder) record(k key) bool {
	now := metav1.NewTime(r.cfg.Clock())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wake()
	r.expire(now.Time)
	if e, ok := r.kept[k]; ok {
		event := e.Value.(*v1.Event)
		event.Count++
		event.LastTimestamp = now
		r.order.MoveToBack(e)
		return false
	}
	r.made++
	r.kept[k] = r.order.PushBack(r.event(k, now))
	if r.order.Len() > keepEvents {
		r.drop(r.order.Front())
	}
	return true
}

// event is a new event, named after its object as the API server wants it.
func (r *Recorder) event(k key, now metav1.Time) *v1.Event {
	namespace := k.about.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return &v1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:              fmt.Sprintf("%s.%x", k.about.Name, uint64(now.UnixNano())+r.made),
			Namespace:         namespace,
			CreationTimestamp: now,
		},
		InvolvedObject:      k.about,
		Type:                k.eventType,
		Reason:              k.reason,
		Message:             k.message,
		Source:              v1.EventSource{Component: component, Host: r.cfg.Node},
		ReportingController: component,
		ReportingInstance:   r.cfg.Node,
		FirstTimestamp:      now,
		LastTimestamp:       now,
		Count:               1,
	}
}

// expire drops what last happened too long ago. The lock is held.
func (r *Recorder) expire(now time.Time) {
	for e := r.order.Front(); e != nil && now.Sub(e.Value.(*v1.Event).LastTimestamp.Time) > keepFor; e = r.order.Front() {
		r.drop(e)
	}
}

// drop forgets one event. The lock is held.
func (r *Recorder) drop(e *list.Element) {
	event := r.order.Remove(e).(*v1.Event)
	delete(r.kept, key{about: event.InvolvedObject, eventType: event.Type, reason: event.Reason, message: event.Message})
}

// wake tells those who wait that something happened. The lock is held.
func (r *Recorder) wake() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// log writes a new event with the keys of every log line about its object.
func (r *Recorder) log(k key) {
	args := append(logKeys(k.about), "reason", k.reason, "message", k.message)
	if k.eventType == v1.EventTypeWarning {
		r.cfg.Logger.Warn("event", args...)
		return
	}
	r.cfg.Logger.Info("event", args...)
}

func cut(message string) string {
	if len(message) <= messageBytes {
		return message
	}
	return strings.ToValidUTF8(message[:messageBytes-3], "") + "..."
}
