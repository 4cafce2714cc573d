package main

import (
	"context"
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podstead/podstead/agent"
	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/sources"
)

// restart has a pod's containers run anew.
func (n *node) restart(ctx context.Context, req api.RestartRequest) (api.Restart, error) {
	r, err := n.agent.Restart(ctx, req.Namespace, req.Pod, req.By)
	if errors.Is(err, agent.ErrBadRequest) {
		err = apierrors.NewBadRequest(err.Error())
	}
	return api.Restart{Namespace: req.Namespace, Pod: req.Pod, UID: r.UID, RestartCounts: r.Attempts}, err
}

// draining is what the local API is told of drains.
func (n *node) draining() *api.Draining {
	return &api.Draining{
		Is: func() api.Drain {
			if d := n.drainedView(); d != nil {
				return *d
			}
			return api.Drain{}
		},
		Drain: func(by string) (api.Drain, error) {
			was := n.agent.Drained()
			d, err := n.agent.Drain(by)
			return api.Drain{Drained: err == nil, Since: d.Since, By: d.By, Changed: err == nil && was == nil}, err
		},
		Resume: func(by string) (api.Drain, error) {
			was, err := n.agent.Resume(by)
			if err != nil || was == nil {
				return api.Drain{}, err
			}
			return api.Drain{Since: was.Since, By: was.By, Changed: true}, nil
		},
	}
}

// drainedView is how the node is drained, nil if it is not.
func (n *node) drainedView() *api.Drain {
	d := n.agent.Drained()
	if d == nil {
		return nil
	}
	return &api.Drain{Drained: true, Since: d.Since, By: d.By}
}

// suspending is what the local API is told of suspensions.
func (n *node) suspending() *api.Suspending {
	return &api.Suspending{Suspend: n.suspend, Resume: n.resumeSource}
}

func (n *node) suspend(ctx context.Context, name, by string) (api.Suspension, error) {
	asked := sources.Suspension{Since: time.Now().UTC().Truncate(time.Second), By: by}
	is, changed, err := n.gatherer.Suspend(ctx, name, asked)
	if err != nil {
		return api.Suspension{}, n.sourceError(name, err)
	}
	s := api.Suspension{Source: name, Suspended: true, Since: is.Since, By: is.By, Changed: changed, Nothing: n.knowsNothing(ctx, name)}
	if s.Changed {
		text := "It is not looked at any more, what is in force of it stays: asked for by " + by
		if s.Nothing {
			text = "It is not looked at any more, and nothing of it is in force, for it has never answered: asked for by " + by
		}
		n.recorder.Event(events.Source(name), v1.EventTypeNormal, events.SourceSuspended, text)
	}
	n.sourcesChanged.turn()
	return s, nil
}

func (n *node) resumeSource(ctx context.Context, name, by string) (api.Suspension, error) {
	was, err := n.gatherer.Resume(ctx, name)
	if err != nil {
		return api.Suspension{}, n.sourceError(name, err)
	}
	s := api.Suspension{Source: name}
	if was != nil {
		s.Since, s.By, s.Changed = was.Since, was.By, true
		n.recorder.Event(events.Source(name), v1.EventTypeNormal, events.SourceResumed, "It is looked at again: asked for by "+by)
	}
	n.sourcesChanged.turn()
	return s, nil
}

// knowsNothing reports that nothing of a source is in force.
func (n *node) knowsNothing(ctx context.Context, name string) bool {
	all, err := n.merger.Statuses(ctx)
	if err != nil {
		return false
	}
	for _, s := range all {
		if s.Source == name {
			return s.Revision == ""
		}
	}
	return true
}

func (n *node) sourceError(name string, err error) error {
	if errors.Is(err, sources.ErrUnknownSource) {
		return &unknownSource{name: name, have: n.gatherer.Names()}
	}
	return err
}
