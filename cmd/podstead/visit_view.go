package main

import (
	"context"

	"github.com/podstead/podstead/agent"
	"github.com/podstead/podstead/agent/api"
)

func (n *node) exec(ctx context.Context, req api.ExecRequest) (api.Session, error) {
	visit, err := n.agent.Exec(ctx, agent.Target(req.Target), req.Command)
	return api.Session(visit), asked(err)
}

func (n *node) attach(ctx context.Context, target api.Target) (api.Session, error) {
	visit, err := n.agent.Attach(ctx, agent.Target(target))
	return api.Session(visit), asked(err)
}
