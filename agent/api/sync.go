package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limits of one sync. Its body is empty; nothing is read of it.
const (
	syncTimeout    = 2 * time.Minute
	maxSyncTimeout = time.Hour
)

// sync makes one source look, or all, and answers what became of each.
func (h Handlers) sync(w http.ResponseWriter, r *http.Request) {
	if h.Sync == nil {
		fail(w, errNotServed)
		return
	}
	q := query{values: r.URL.Query()}
	req := SyncRequest{Source: r.PathValue("name"), AllowRemoval: q.boolean("allowRemoval")}
	limit := q.span("timeout", syncTimeout, maxSyncTimeout)
	if req.AllowRemoval && req.Source == "" {
		q.fault("allowRemoval", "needs the name of a source")
	}
	if q.err != nil {
		fail(w, q.err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	items, err := h.Sync(ctx, req)
	answer(w, SyncList{TypeMeta: metav1.TypeMeta{Kind: "SyncList", APIVersion: APIVersion}, Items: items}, err)
}

// span is a duration above 0.
func (p *query) span(name string, byDefault, most time.Duration) time.Duration {
	text := p.values.Get(name)
	if text == "" {
		return byDefault
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > most {
		p.fault(name, fmt.Sprintf("must be a duration above 0 and up to %s", most))
	}
	return d
}
