package api

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Drain is whether the node is drained.
type Drain struct {
	metav1.TypeMeta `json:",inline"`

	Drained bool `json:"drained"`
	// Since and By are of the drain; in the answer to its end, of the one that ended.
	Since time.Time `json:"since,omitzero"`
	By    string    `json:"by,omitempty"` // who asked
	// Changed is true when the request made it so, and false when it was so before.
	Changed bool `json:"changed,omitempty"`
}

// Draining is what the server asks about drains. by says who asks.
type Draining struct {
	Is     func() Drain
	Drain  func(by string) (Drain, error)
	Resume func(by string) (Drain, error)
}

func (h Handlers) drained(w http.ResponseWriter, _ *http.Request) {
	h.answerDrain(w, func() (Drain, error) { return h.Draining.Is(), nil })
}

func (h Handlers) drain(w http.ResponseWriter, r *http.Request) {
	h.answerDrain(w, func() (Drain, error) { return h.Draining.Drain(askedBy(r)) })
}

func (h Handlers) resume(w http.ResponseWriter, r *http.Request) {
	h.answerDrain(w, func() (Drain, error) { return h.Draining.Resume(askedBy(r)) })
}

func (h Handlers) answerDrain(w http.ResponseWriter, ask func() (Drain, error)) {
	if h.Draining == nil {
		fail(w, errNotServed)
		return
	}
	d, err := ask()
	d.TypeMeta = metav1.TypeMeta{Kind: "Drain", APIVersion: APIVersion}
	answer(w, d, err)
}

// Drained asks whether the node is drained.
func (c *Client) Drained(ctx context.Context) (d Drain, err error) {
	err = c.get(ctx, drainPath, nil, &d)
	return d, err
}

// Drain has every pod end and none started, until Resume. The answer comes when
// that is durable; the pods' statuses tell how far it is.
func (c *Client) Drain(ctx context.Context, by string) (d Drain, err error) {
	err = c.do(ctx, http.MethodPost, drainPath, byQuery(by), &d)
	return d, err
}

// Resume has pods started again.
func (c *Client) Resume(ctx context.Context, by string) (d Drain, err error) {
	err = c.do(ctx, http.MethodDelete, drainPath, byQuery(by), &d)
	return d, err
}

const drainPath = "/podstead/v1/drain"
