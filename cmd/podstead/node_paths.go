package main

import (
	"strings"

	"github.com/podstead/podstead/config"
	"github.com/podstead/podstead/sources"
)

// nodePaths are what rules the node: no pod of a URL or a repository may mount
// them, unless its source has allowNodeControl.
func nodePaths(c config.Config) []sources.NodePath {
	all := []sources.NodePath{
		{Path: c.RootDir, Use: "podstead's root-dir"},
		{Path: config.DefaultRunDir, Use: "podstead's run folder"},
		{Path: c.Socket, Use: "podstead's socket"},
		{Path: config.DefaultEtcDir, Use: "podstead's configuration"},
	}
	if c.File != "" {
		all = append(all, sources.NodePath{Path: c.File, Use: "podstead's configuration"})
	}
	if path, ok := strings.CutPrefix(c.EngineEndpoint(), "unix://"); ok {
		all = append(all, sources.NodePath{Path: path, Use: "the engine's socket"})
	}
	for _, s := range c.Sources() {
		if path := s.Folder(); path != "" {
			all = append(all, sources.NodePath{Path: path, Use: "the place of source " + s.Name})
		}
	}
	return all
}

// guarded are the paths that no pod of the source may mount; nil for none.
func guarded(c config.Config, s config.Source) *sources.NodePaths {
	if s.File != nil || s.AllowNodeControl { // a folder is root's
		return nil
	}
	return sources.NewNodePaths(nodePaths(c)...)
}

// forbids says why a host path must not be mounted by a pod of a guarded source,
// as the configuration and the links on the disk are now.
func (n *node) forbids(path string) string {
	return sources.NewNodePaths(nodePaths(n.setup.config())...).Forbids(path)
}
