package main

import (
	"context"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/volumes"
)

// hostVolumes are the volumes of this machine. Whether a mount made here is seen
// by the engine is asked when a pod is set up: at start the engine may be away.
type hostVolumes struct {
	*volumes.Volumes
	cfg    volumes.Config
	engine engine
}

func (n *node) newVolumes(runDir string) hostVolumes {
	cfg := volumes.Config{Root: n.cfg.RootDir, Run: runDir, Logger: n.log}
	return hostVolumes{Volumes: volumes.New(cfg), cfg: cfg, engine: n.engine}
}

// SetUp makes the pod's volumes, with what the engine allows now.
func (v hostVolumes) SetUp(ctx context.Context, pod *v1.Pod) (map[string]string, []volumes.Note, error) {
	cfg := v.cfg
	cfg.CanMount, cfg.WhyNot = v.engine.CanMount(ctx)
	return volumes.New(cfg).SetUp(ctx, pod)
}
