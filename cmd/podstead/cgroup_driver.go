package main

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
)

// tellCgroupDriver says when the configuration names another cgroup driver than the
// engine has. Pods run all the same: where their cgroups are is the engine's.
func (n *node) tellCgroupDriver(ctx context.Context) {
	if n.cfg.CgroupDriver == "" {
		return
	}
	about, err := n.engine.Engine(ctx)
	if err != nil || about.CgroupDriver == "" || about.CgroupDriver == n.cfg.CgroupDriver {
		return // an engine that is away is told of by others
	}
	text := fmt.Sprintf("The configuration says cgroup driver %s, and the engine has %s, which counts.", n.cfg.CgroupDriver, about.CgroupDriver)
	n.log.Warn("cgroup driver", "err", text)
	n.recorder.Event(events.Node(n.id.Name), v1.EventTypeWarning, "CgroupDriverDiffers", text)
}
