package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Suspension is whether a source is looked at.
type Suspension struct {
	metav1.TypeMeta `json:",inline"`

	Source    string `json:"source"`
	Suspended bool   `json:"suspended"`
	// Since and By are of the suspension; in the answer to its end, of the one that ended.
	Since time.Time `json:"since,omitzero"`
	By    string    `json:"by,omitempty"` // who asked
	// Changed is true when the request made it so, and false when it was so before.
	Changed bool `json:"changed,omitempty"`
	// Nothing is true when nothing of the source is in force: it has never answered.
	Nothing bool `json:"nothing,omitempty"`
}

// Suspending is what the server asks about suspensions. by says who asks.
type Suspending struct {
	Suspend func(ctx context.Context, source, by string) (Suspension, error)
	Resume  func(ctx context.Context, source, by string) (Suspension, error)
}

func (h Handlers) suspend(w http.ResponseWriter, r *http.Request) {
	if h.Suspending == nil {
		fail(w, errNotServed)
		return
	}
	ask := h.Suspending.Suspend
	if r.Method == http.MethodDelete {
		ask = h.Suspending.Resume
	}
	s, err := ask(r.Context(), r.PathValue("name"), askedBy(r))
	s.TypeMeta = metav1.TypeMeta{Kind: "Suspension", APIVersion: APIVersion}
	answer(w, s, err)
}

// Suspend has a source not looked at any more, until ResumeSource.
func (c *Client) Suspend(ctx context.Context, source, by string) (s Suspension, err error) {
	err = c.do(ctx, http.MethodPost, suspendPath(source), byQuery(by), &s)
	return s, err
}

// ResumeSource has a source looked at again.
func (c *Client) ResumeSource(ctx context.Context, source, by string) (s Suspension, err error) {
	err = c.do(ctx, http.MethodDelete, suspendPath(source), byQuery(by), &s)
	return s, err
}

func suspendPath(source string) string {
	return "/podstead/v1/sources/" + url.PathEscape(source) + "/suspend"
}
