package events

import (
	v1 "k8s.io/api/core/v1"
)

// Filter selects events; an empty field selects all.
type Filter struct {
	Kind      string // Pod, Node, Source
	Namespace string
	Name      string
	UID       string
}

func (f Filter) match(about v1.ObjectReference) bool {
	return (f.Kind == "" || f.Kind == about.Kind) &&
		(f.Namespace == "" || f.Namespace == about.Namespace) &&
		(f.Name == "" || f.Name == about.Name) &&
		(f.UID == "" || f.UID == string(about.UID))
}

// List returns the selected events by the time they last happened, oldest first.
func (r *Recorder) List(f Filter) []v1.Event {
	now := r.cfg.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(now)
	var all []v1.Event
	for e := r.order.Front(); e != nil; e = e.Next() {
		if event := e.Value.(*v1.Event); f.match(event.InvolvedObject) {
			all = append(all, *event)
		}
	}
	return all
}

// Changed returns a channel that is closed at the next event, repeats included.
// Take it before List, and no event is missed.
func (r *Recorder) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.changed
}
