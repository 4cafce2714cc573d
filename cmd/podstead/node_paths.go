package main

import (
	"net/url"
	"strings"

	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/sources"
)

// nodePaths are what rules the node: no pod of a URL or a repository may mount
// them, unless its source has allowNodeControl.
func (c Config) nodePaths() []sources.NodePath {
	all := []sources.NodePath{
		{Path: c.RootDir, Use: "podstead's root-dir"},
		{Path: cli.DefaultRunDir, Use: "podstead's run folder"},
		{Path: c.Socket, Use: "podstead's socket"},
		{Path: defaultEtcDir, Use: "podstead's configuration"},
	}
	if c.File != "" {
		all = append(all, sources.NodePath{Path: c.File, Use: "podstead's configuration"})
	}
	if path, ok := strings.CutPrefix(c.engineEndpoint(), "unix://"); ok {
		all = append(all, sources.NodePath{Path: path, Use: "the engine's socket"})
	}
	for _, s := range c.sources() {
		if path := s.folder(); path != "" {
			all = append(all, sources.NodePath{Path: path, Use: "the place of source " + s.Name})
		}
	}
	return all
}

// folder is where on this machine the source reads; "" for elsewhere.
func (s sourceSpec) folder() string {
	switch {
	case s.File != nil:
		return s.File.Path
	case s.Git == nil:
		return ""
	case strings.HasPrefix(s.Git.URL, "/"):
		return s.Git.URL
	}
	u, err := url.Parse(s.Git.URL)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return u.Path
}

// guarded are the paths that no pod of the source may mount; nil for none.
func (c Config) guarded(s sourceSpec) *sources.NodePaths {
	if s.File != nil || s.AllowNodeControl { // a folder is root's
		return nil
	}
	return sources.NewNodePaths(c.nodePaths()...)
}

// forbids says why a host path must not be mounted by a pod of a guarded source,
// as the configuration and the links on the disk are now.
func (n *node) forbids(path string) string {
	return sources.NewNodePaths(n.setup.config().nodePaths()...).Forbids(path)
}
