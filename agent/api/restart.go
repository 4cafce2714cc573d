package api

import (
	"context"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RestartRequest names a pod whose containers are to run anew.
type RestartRequest struct {
	Namespace string
	Pod       string // full name
	By        string // who asks, for people
}

// Restart is a restart that is durable, and under way.
type Restart struct {
	metav1.TypeMeta `json:",inline"`

	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	UID       string `json:"uid"`
	// RestartCounts are what the containers have at the least once it is done.
	RestartCounts map[string]int `json:"restartCounts"`
}

func (h Handlers) restart(w http.ResponseWriter, r *http.Request) {
	if h.Restart == nil {
		fail(w, errNotServed)
		return
	}
	done, err := h.Restart(r.Context(), RestartRequest{
		Namespace: r.PathValue("namespace"), Pod: r.PathValue("pod"), By: askedBy(r),
	})
	done.TypeMeta = metav1.TypeMeta{Kind: "Restart", APIVersion: APIVersion}
	answer(w, done, err)
}

// Restart has a pod's containers run anew, in place. The answer comes when that is
// durable; the pod's status tells when it is done.
func (c *Client) Restart(ctx context.Context, req RestartRequest) (r Restart, err error) {
	path := "/podstead/v1/pods/" + url.PathEscape(req.Namespace) + "/" + url.PathEscape(req.Pod) + "/restart"
	err = c.do(ctx, http.MethodPost, path, byQuery(req.By), &r)
	return r, err
}
