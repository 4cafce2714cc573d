package main

import (
	"cmp"
	"path/filepath"

	"github.com/podstead/podstead/agent/nodelogs"
	"github.com/podstead/podstead/config"
)

// nodeLogs are the links to the containers' logs: where a kubelet has them, or
// below a root-dir of one's own, so that several agents of one machine have theirs
// apart.
func (n *node) nodeLogs() *nodelogs.NodeLogs {
	containers := nodelogs.DefaultContainers
	if filepath.Clean(n.cfg.RootDir) != config.DefaultRootDir {
		containers = filepath.Join(n.cfg.RootDir, "log", "containers")
	}
	return nodelogs.New(nodelogs.Config{
		Pods:       cmp.Or(n.cfg.PodLogsDir, config.PodLogsDir(n.cfg.RootDir)),
		Containers: containers, Owner: n.id.NodeID,
	})
}
