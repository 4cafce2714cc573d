package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (h Handlers) healthz(w http.ResponseWriter, r *http.Request) {
	if h.Healthy != nil {
		if err := h.Healthy(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	_, _ = io.WriteString(w, "ok")
}

func (h Handlers) pods(w http.ResponseWriter, r *http.Request) {
	if h.Pods == nil {
		fail(w, errNotServed)
		return
	}
	if r.URL.Query().Get("known") != "true" { // what the agent knows already is asked for
		h.freshen(w, r)
	}
	if watching(r) {
		watch(w, r, h.PodsChanged, h.Pods, podSight)
		return
	}
	pods, err := h.Pods(r.Context())
	answer(w, podList(pods), err)
}

func (h Handlers) runningPods(w http.ResponseWriter, r *http.Request) {
	if h.RunningPods == nil {
		fail(w, errNotServed)
		return
	}
	pods, err := h.RunningPods(r.Context())
	answer(w, podList(pods), err)
}

func (h Handlers) events(w http.ResponseWriter, r *http.Request) {
	if h.Events == nil {
		fail(w, errNotServed)
		return
	}
	q := r.URL.Query()
	filter := EventFilter{Kind: q.Get("kind"), Namespace: q.Get("namespace"), Name: q.Get("name"), UID: q.Get("uid")}
	list := func(context.Context) ([]*v1.Event, error) { return pointers(h.Events(filter)), nil }
	if watching(r) {
		watch(w, r, h.EventsChanged, list, eventSight)
		return
	}
	out := v1.EventList{TypeMeta: metav1.TypeMeta{Kind: "EventList", APIVersion: "v1"}, Items: h.Events(filter)}
	answer(w, out, nil)
}

func (h Handlers) sources(w http.ResponseWriter, r *http.Request) {
	if h.Sources == nil {
		fail(w, errNotServed)
		return
	}
	typed := func(ctx context.Context) ([]Source, error) {
		items, err := h.Sources(ctx)
		for i := range items {
			items[i].TypeMeta = metav1.TypeMeta{Kind: "Source", APIVersion: APIVersion}
		}
		return items, err
	}
	if watching(r) {
		watch(w, r, h.SourcesChanged, func(ctx context.Context) ([]*Source, error) {
			items, err := typed(ctx)
			return pointers(items), err
		}, sourceSight)
		return
	}
	items, err := typed(r.Context())
	list := SourceList{TypeMeta: metav1.TypeMeta{Kind: "SourceList", APIVersion: APIVersion}, Items: items}
	answer(w, list, err)
}

func (h Handlers) status(w http.ResponseWriter, r *http.Request) {
	if h.Status == nil {
		fail(w, errNotServed)
		return
	}
	h.freshen(w, r)
	status, err := h.Status(r.Context())
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: APIVersion}
	answer(w, status, err)
}

func (h Handlers) version(w http.ResponseWriter, _ *http.Request) {
	if h.Version == nil {
		fail(w, errNotServed)
		return
	}
	answer(w, h.Version(), nil)
}

func (h Handlers) metrics(w http.ResponseWriter, r *http.Request) {
	if h.Metrics == nil {
		fail(w, errNotServed)
		return
	}
	h.Metrics.ServeHTTP(w, r)
}

// freshen lets the agent look at the engine. What it cannot see is told as a
// warning beside the answer, the way the API server of Kubernetes tells its own.
func (h Handlers) freshen(w http.ResponseWriter, r *http.Request) {
	if h.Fresh == nil {
		return
	}
	if err := h.Fresh(r.Context()); err != nil {
		warn(w, fmt.Sprintf("the engine cannot be seen, this is what was known before: %v", err))
	}
}

// warn adds a warning header; the client prints it beside the answer.
func warn(w http.ResponseWriter, text string) {
	w.Header().Add("Warning", "299 - "+strconv.QuoteToASCII(text))
}

// answer writes the value as JSON, or the error.
func answer(w http.ResponseWriter, value any, err error) {
	if err != nil {
		fail(w, err)
		return
	}
	// Not every writer has deadlines (a recorder in tests); the client's own limit remains.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the client is gone; there is nobody to tell
}

func podList(pods []*v1.Pod) v1.PodList {
	list := v1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: make([]v1.Pod, 0, len(pods))}
	for _, p := range pods {
		list.Items = append(list.Items, *p)
	}
	return list
}

func pointers[T any](items []T) []*T {
	out := make([]*T, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}
