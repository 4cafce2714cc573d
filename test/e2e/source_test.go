//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/podstead/podstead/agent/api"
)

// configure makes this Configuration document the node's only say on sources.
func (n *node) configure(text string) {
	n.Helper()
	file := filepath.Join(n.dir, "podstead.yaml")
	n.must(os.WriteFile(file+".new", []byte(text), 0o600))
	n.must(os.Rename(file+".new", file))
	n.sources = []string{"--config", file}
}

// listed is a Configuration document of these sources.
func listed(sources ...string) string {
	return "apiVersion: podstead/v1alpha1\nkind: Configuration\nsources:\n" + strings.Join(sources, "")
}

// source is what the agent shows of a source.
func (n *node) source(name string) (api.Source, error) {
	all, err := n.client.Sources(context.Background())
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("no source %s is shown", name)
	}
	return api.Source{}, err
}

// awaitSource waits until a source is as it should be.
func (n *node) awaitSource(name, what string, is func(api.Source) bool) api.Source {
	n.Helper()
	var found api.Source
	n.await("source "+name+" "+what, func() error {
		s, err := n.source(name)
		if err == nil && !is(s) {
			err = fmt.Errorf("it is %+v", s)
		}
		found = s
		return err
	})
	return found
}

// at reports that a source has this revision in force, and nothing against it.
func at(revision string) func(api.Source) bool {
	return func(s api.Source) bool { return s.State == api.SourceReady && covers(s.Revision, revision) }
}

// covers reports whether a revision as shown, which may be cut short, is this one.
func covers(shown, revision string) bool {
	return shown != "" && strings.HasPrefix(revision, shown)
}

// faulty reports that a source has a fault with these words, and this revision
// in force.
func faulty(revision string, words ...string) func(api.Source) bool {
	return func(s api.Source) bool {
		if s.State != api.SourceError || !covers(s.Revision, revision) {
			return false
		}
		text := fmt.Sprint(s.Problems())
		for _, w := range words {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	}
}
