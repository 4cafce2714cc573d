package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/podstead/podstead/runtime"
)

func TestASyncAsksForWhatItWasAskedFor(t *testing.T) {
	var asked SyncRequest
	var left time.Duration
	c := serve(t, Handlers{Sync: func(ctx context.Context, req SyncRequest) ([]SyncResult, error) {
		deadline, _ := ctx.Deadline()
		asked, left = req, time.Until(deadline)
		if req.Source == "nope" {
			return nil, runtime.ErrNotFound
		}
		return []SyncResult{{Source: "git", Revision: "abc", State: SourceReady}, {Source: "http", Error: "refused"}}, nil
	}})
	for _, want := range []SyncRequest{{}, {Source: "git", AllowRemoval: true}, {Source: "sync"}} {
		got, err := c.Sync(t.Context(), want, time.Hour)
		if err != nil || len(got) != 2 || got[0].Revision != "abc" || got[1].Error != "refused" {
			t.Errorf("answered %+v, %v", got, err)
		}
		if asked != want || left > time.Hour || left < 50*time.Minute {
			t.Errorf("asked for %+v within %s, want %+v", asked, left, want)
		}
	}
	var bad *AnswerError
	if _, err := c.Sync(t.Context(), SyncRequest{Source: "nope"}, time.Minute); !errors.As(err, &bad) || bad.Code != http.StatusNotFound {
		t.Errorf("unknown source: %v", err)
	}
}

func TestWrongSyncsAreRefused(t *testing.T) {
	c := serve(t, Handlers{Sync: func(context.Context, SyncRequest) ([]SyncResult, error) {
		t.Error("runs")
		return nil, nil
	}})
	const all, one = "/podstead/v1/sources/sync", "/podstead/v1/sources/git/sync"
	cases := []struct {
		name, method, path string
		query              url.Values
		code               int
	}{
		{"removal of everything", http.MethodPost, all, url.Values{"allowRemoval": {"true"}}, 400},
		{"no truth", http.MethodPost, one, url.Values{"allowRemoval": {"perhaps"}}, 400},
		{"no time", http.MethodPost, one, url.Values{"timeout": {"-1s"}}, 400},
		{"too long", http.MethodPost, one, url.Values{"timeout": {"48h"}}, 400},
		{"a look that should do nothing", http.MethodGet, one, nil, 405},
		{"the same of all", http.MethodGet, all, nil, 405},
	}
	for _, c2 := range cases {
		t.Run(c2.name, func(t *testing.T) {
			var bad *AnswerError
			if _, _, err := c.open(t.Context(), c2.method, c2.path, c2.query); !errors.As(err, &bad) || bad.Code != c2.code {
				t.Errorf("answered %v, want %d", err, c2.code)
			}
		})
	}
}
