package plan

import (
	"cmp"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// NewHistory is the history of a pod of which nothing was ever made. (The zero
// value remembers a first sandbox.)
func NewHistory() History { return History{SandboxAttempt: -1} }

// Observe returns the history with what the engine shows taken in, the
// instances whose end was not known before (oldest first), and whether anything
// differs, that is, whether it must be written. The receiver stays as it is.
//
// The pod may be nil. Of a container that was seen running and whose record
// vanished, the end is made up as the kubelet's.
func (h History) Observe(pod *v1.Pod, obs runtime.Pod, now Moment) (History, []Ended, bool) {
	seen := History{SandboxAttempt: h.SandboxAttempt, Containers: maps.Clone(h.Containers)}
	for _, s := range obs.Sandboxes {
		seen.SandboxAttempt = max(seen.SandboxAttempt, s.Attempt)
	}
	if len(obs.Containers) > 0 {
		seen.SandboxAttempt = max(seen.SandboxAttempt, 0) // they had one, gone since
	}
	changed := seen.SandboxAttempt != h.SandboxAttempt
	var ended []Ended
	for _, name := range names(pod, obs, h) {
		before, known := h.Containers[name]
		after, ends := before.observe(name, obs, now)
		if known && after == before {
			continue
		}
		if seen.Containers == nil {
			seen.Containers = map[string]ContainerHistory{}
		}
		seen.Containers[name] = after
		ended = append(ended, ends...)
		changed = true
	}
	slices.SortStableFunc(ended, func(a, b Ended) int { return a.FinishedAt.Compare(b.FinishedAt) })
	return seen, ended, changed
}

// WithMessage returns the history with the termination message of one ended
// instance filled in; unchanged when that instance is not remembered.
func (h History) WithMessage(container, id, message string) History {
	c, ok := h.Containers[container]
	if !ok {
		return h
	}
	c.Ended, c.Previous = c.Ended.withMessage(id, message), c.Previous.withMessage(id, message)
	told := History{SandboxAttempt: h.SandboxAttempt, Containers: maps.Clone(h.Containers)}
	told.Containers[container] = c
	return told
}

func (e *Ended) withMessage(id, message string) *Ended {
	if e == nil || e.ID != id {
		return e
	}
	told := *e
	told.Message = message
	return &told
}

// names are those of which anything is known, in the pod's order, strangers last.
func names(pod *v1.Pod, obs runtime.Pod, h History) []string {
	known := map[string]bool{}
	for _, c := range obs.Containers {
		known[c.Name] = true
	}
	for name := range h.Containers {
		known[name] = true
	}
	order := map[string]int{}
	if pod != nil {
		for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			order[c.Name] = len(order) + 1
		}
	}
	last := len(order) + 1
	place := func(name string) int { return cmp.Or(order[name], last) }
	return slices.SortedFunc(maps.Keys(known), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
}
