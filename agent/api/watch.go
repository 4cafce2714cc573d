package api

import (
	"context"
	"encoding/json"
	"net/http"

	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// Change is one line of a watch: what happened, and the object as it is now
// (as it was last, when it is deleted).
type Change[T any] struct {
	Type   apiwatch.EventType `json:"type"` // ADDED, MODIFIED, DELETED
	Object T                  `json:"object"`
}

// object is what a watch can tell apart: by UID, and by resourceVersion whether
// it is still the same.
type object interface {
	GetUID() types.UID
	GetResourceVersion() string
}

func watching(r *http.Request) bool {
	v := r.URL.Query().Get("watch")
	return v == "1" || v == "true"
}

// watch writes the list as it is and then each change to it, one JSON object a
// line, until the client leaves or the server ends. A slow client skips states
// in between: it is told the newest.
func watch[T object](w http.ResponseWriter, r *http.Request, changed func() <-chan struct{}, list func(context.Context) ([]T, error)) {
	if changed == nil {
		fail(w, errNotServed)
		return
	}
	w.Header().Set("Content-Type", "application/json;stream=watch")
	flush, enc := http.NewResponseController(w), json.NewEncoder(w)
	var seen []T
	for {
		next := changed() // before the list, so that no change is missed
		now, err := list(r.Context())
		if err != nil {
			if seen == nil {
				fail(w, err)
			}
			return
		}
		for _, c := range diff(seen, now) {
			if enc.Encode(c) != nil {
				return // the client is gone
			}
		}
		if flush.Flush() != nil {
			return
		}
		seen = now
		select {
		case <-next:
		case <-r.Context().Done():
			return
		}
	}
}

// diff says what lies between two lists: the deleted in the old order, then the
// new and changed in the new order.
func diff[T object](before, after []T) []Change[T] {
	old := make(map[types.UID]T, len(before))
	for _, o := range before {
		old[o.GetUID()] = o
	}
	kept := make(map[types.UID]bool, len(after))
	var told []Change[T]
	for _, o := range after {
		was, known := old[o.GetUID()]
		kept[o.GetUID()] = true
		switch {
		case !known:
			told = append(told, Change[T]{Type: apiwatch.Added, Object: o})
		case was.GetResourceVersion() != o.GetResourceVersion():
			told = append(told, Change[T]{Type: apiwatch.Modified, Object: o})
		}
	}
	var gone []Change[T]
	for _, o := range before {
		if !kept[o.GetUID()] {
			gone = append(gone, Change[T]{Type: apiwatch.Deleted, Object: o})
		}
	}
	return append(gone, told...)
}
