package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// Change is one line of a watch: what happened, and the object as it is now
// (as it was last, when it is deleted).
type Change[T any] struct {
	Type   apiwatch.EventType `json:"type"` // ADDED, MODIFIED, DELETED
	Object T                  `json:"object"`
}

// sight is by what a watch tells objects apart, and by what it sees that one
// has changed.
type sight[T any] func(T) (id, version string)

func podSight(p *v1.Pod) (id, version string) { return string(p.UID), p.ResourceVersion }

// eventSight: an event that happens again is the same with a higher count.
func eventSight(e *v1.Event) (id, version string) {
	return e.Namespace + "/" + e.Name, strconv.Itoa(int(e.Count))
}

func watching(r *http.Request) bool {
	v := r.URL.Query().Get("watch")
	return v == "1" || v == "true"
}

// sourceSight: what changes by time alone is no change.
func sourceSight(s *Source) (id, version string) {
	seen := *s
	seen.Taken, seen.LastSuccess, seen.NextPoll = time.Time{}, time.Time{}, time.Time{}
	data, _ := json.Marshal(seen) // plain data
	return s.Name, string(data)
}

// watch writes the list as it is and then each change to it, one JSON object a
// line, until the client leaves or the server ends. A slow client skips states
// in between: it is told the newest. One that asks for bookmarks, as Kubernetes
// has them, gets one after the list and after the changes of each moment: what it
// knows then is the whole state.
func watch[T any](w http.ResponseWriter, r *http.Request, changed func() <-chan struct{}, list func(context.Context) ([]T, error), see sight[T]) {
	if changed == nil {
		fail(w, errNotServed)
		return
	}
	w.Header().Set("Content-Type", "application/json;stream=watch")
	flush, enc := http.NewResponseController(w), json.NewEncoder(w)
	bookmarks := r.URL.Query().Get("allowWatchBookmarks") == "true"
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
		for _, c := range diff(seen, now, see) {
			if enc.Encode(c) != nil {
				return // the client is gone
			}
		}
		if bookmarks && enc.Encode(Change[*T]{Type: apiwatch.Bookmark}) != nil || flush.Flush() != nil {
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
func diff[T any](before, after []T, see sight[T]) []Change[T] {
	old := make(map[string]string, len(before))
	for _, o := range before {
		id, version := see(o)
		old[id] = version
	}
	kept := make(map[string]bool, len(after))
	var told []Change[T]
	for _, o := range after {
		id, version := see(o)
		was, known := old[id]
		kept[id] = true
		switch {
		case !known:
			told = append(told, Change[T]{Type: apiwatch.Added, Object: o})
		case was != version:
			told = append(told, Change[T]{Type: apiwatch.Modified, Object: o})
		}
	}
	var gone []Change[T]
	for _, o := range before {
		if id, _ := see(o); !kept[id] {
			gone = append(gone, Change[T]{Type: apiwatch.Deleted, Object: o})
		}
	}
	return append(gone, told...)
}
