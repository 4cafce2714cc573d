package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/config"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/sources"
)

// sync lets one source look now, or all side by side, and returns what became of
// each when all have looked or ctx has ended.
func (n *node) sync(ctx context.Context, req api.SyncRequest) ([]api.SyncResult, error) {
	names := n.gatherer.Names()
	if req.Source != "" {
		if !slices.Contains(names, req.Source) {
			return nil, &unknownSource{name: req.Source, have: names}
		}
		if req.AllowRemoval && n.isFile(req.Source) {
			return nil, apierrors.NewBadRequest("source " + req.Source + " holds nothing back, so --allow-removal has no effect on it: it reads files, and deleting a file removes its pods")
		}
		names = []string{req.Source}
	}
	results := make([]api.SyncResult, len(names))
	var looks sync.WaitGroup
	for i, name := range names {
		looks.Go(func() { results[i] = n.syncOne(ctx, name, req.AllowRemoval) })
	}
	looks.Wait()
	views, err := n.sourceViews(context.WithoutCancel(ctx)) // ctx may have ended on a source that hangs
	if err != nil {
		return nil, err
	}
	for i := range results {
		for _, v := range views {
			if v.Name == results[i].Source {
				results[i].Revision, results[i].State = v.Revision, v.State
			}
		}
	}
	return results, nil
}

// isFile reports whether a configured source reads files.
func (n *node) isFile(name string) bool {
	return slices.ContainsFunc(n.setup.sources(), func(s config.Source) bool { return s.Name == name && s.File != nil })
}

func (n *node) syncOne(ctx context.Context, name string, allowRemoval bool) api.SyncResult {
	result := api.SyncResult{Source: name}
	err := n.gatherer.Sync(ctx, name, sources.SyncRequest{AllowRemoval: allowRemoval})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		result.Error = "has not answered in time; it goes on trying"
	case err != nil:
		result.Error = strings.TrimPrefix(err.Error(), "sync source "+name+": ")
	}
	return result
}

// unknownSource is a name that no source has.
type unknownSource struct {
	name string
	have []string
}

// Error says which there are.
func (e *unknownSource) Error() string {
	return fmt.Sprintf("no source %q; there are: %s", e.name, strings.Join(e.have, ", "))
}

// Unwrap makes it the answer 404.
func (e *unknownSource) Unwrap() error { return runtime.ErrNotFound }
