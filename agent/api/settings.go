package api

import (
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Setting is one value of the configuration in force and who set it. Secrets are
// hidden by whoever fills it.
type Setting struct {
	Name   string `json:"name"`            // --max-pods, podLogsDir, sources[0].git.url
	Field  string `json:"field,omitempty"` // of a KubeletConfiguration, that is the same
	Value  string `json:"value"`
	Origin string `json:"origin"`          // flag, environment, file, default
	Place  string `json:"place,omitempty"` // --max-pods, PODSTEAD_MAX_PODS, FILE:4:1
}

// SettingList is all settings.
type SettingList struct {
	metav1.TypeMeta `json:",inline"`
	Items           []Setting `json:"items"`
}

// NewSettingList is a list with its kind.
func NewSettingList(items []Setting) SettingList {
	return SettingList{TypeMeta: metav1.TypeMeta{Kind: "SettingList", APIVersion: APIVersion}, Items: items}
}

// settings answers what is in force.
func (h Handlers) settings(w http.ResponseWriter, r *http.Request) {
	if h.Settings == nil {
		fail(w, errNotServed)
		return
	}
	items, err := h.Settings(r.Context())
	answer(w, NewSettingList(items), err)
}

// Settings returns the configuration in force in the agent.
func (c *Client) Settings(ctx context.Context) ([]Setting, error) {
	var list SettingList
	err := c.get(ctx, "/podstead/v1/configuration", nil, &list)
	return list.Items, err
}
