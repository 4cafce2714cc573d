package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podstead/podstead/agent"
	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/config"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/sources"
)

// handlers are the views that this node serves on its socket.
func (n *node) handlers() api.Handlers {
	return api.Handlers{
		Fresh:         n.agent.Fresh,
		Pods:          func(context.Context) ([]*v1.Pod, error) { return n.agent.Pods(), nil },
		PodsChanged:   n.store.Changed,
		RunningPods:   n.runningPods,
		Logs:          n.logs,
		Exec:          n.exec,
		Attach:        n.attach,
		StreamIdle:    n.cfg.StreamIdleTimeout,
		PortForward:   n.portForward,
		FilePlace:     n.filePlace,
		ReadFiles:     n.readFiles,
		WriteFiles:    n.writeFiles,
		Stats:         n.agent.Stats,
		Events:        func(f api.EventFilter) []v1.Event { return n.recorder.List(events.Filter(f)) },
		EventsChanged: n.recorder.Changed,
		Sources:       n.sourceViews, SourcesChanged: n.sourcesChanged.next,
		Restart: n.restart, Draining: n.draining(), Suspending: n.suspending(),
		Sync:     n.sync,
		Status:   n.statusView,
		Settings: func(context.Context) ([]api.Setting, error) { return cli.SettingsOf(n.setup.config()), nil },
		Version:  thisVersion,
		Metrics:  promhttp.HandlerFor(n.registry, promhttp.HandlerOpts{}),
	}
}

func (n *node) logs(ctx context.Context, req api.LogRequest, out io.Writer) error {
	err := n.agent.Logs(ctx, agent.LogRequest{
		Namespace: req.Namespace, Pod: req.Pod, Container: req.Container, Previous: req.Previous, Options: req.LogOptions,
	}, out)
	if errors.Is(err, agent.ErrBadRequest) {
		return apierrors.NewBadRequest(err.Error())
	}
	return err
}

func (n *node) statusView(context.Context) (api.Status, error) {
	about, err := n.agent.Engine()
	view := api.Engine{Endpoint: n.cfg.EngineEndpoint(), Name: about.Name, Version: about.Version, APIVersion: about.APIVersion}
	switch {
	case err != nil:
		view.Error = engineHint(err)
	case about.Name == "":
		view.Error = "it has not answered yet"
	}
	configuration, hook := n.setup.configuration()
	return api.Status{
		Configuration: configuration, Webhook: n.webhookView(hook),
		Node: n.id.Name, NodeID: n.id.NodeID, Version: thisVersion().Version, PID: os.Getpid(),
		Started: n.started, RootDir: n.cfg.RootDir, Engine: view, Drained: n.drainedView(),
	}, nil
}

// runningPods shows what the engine runs as the kubelet does: name, namespace,
// UID and containers.
func (n *node) runningPods(ctx context.Context) ([]*v1.Pod, error) {
	seen, err := n.engine.List(ctx)
	if err != nil {
		return nil, err
	}
	var pods []*v1.Pod
	for _, p := range seen {
		if !p.Running() {
			continue
		}
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, UID: types.UID(p.UID)}}
		for _, c := range p.Containers {
			if c.State == runtime.StateRunning {
				pod.Spec.Containers = append(pod.Spec.Containers, v1.Container{Name: c.Name, Image: c.Image})
			}
		}
		pods = append(pods, pod)
	}
	return pods, nil
}

func (n *node) sourceViews(ctx context.Context) ([]api.Source, error) {
	all, err := n.merger.Statuses(ctx)
	if err != nil {
		return nil, err
	}
	specs := map[string]config.Source{}
	for _, s := range n.setup.sources() {
		specs[s.Name] = s
	}
	views := make([]api.Source, len(all))
	for i, s := range all {
		views[i] = sourceViewOf(s)
		if spec, ok := specs[s.Source]; ok { // it may not have spoken yet
			views[i].Place = cmp.Or(views[i].Place, spec.Place())
			views[i].Kind = cmp.Or(views[i].Kind, spec.Kind())
		}
	}
	return views, nil
}

// sourceViewOf turns what the merger knows of a source into what is shown of it.
func sourceViewOf(s sources.Status) api.Source {
	v := api.Source{
		Name: s.Source, Kind: string(s.Kind), Place: s.Place, Revision: s.Revision, Pods: len(s.Pods) - len(s.Losers),
		Live: s.Live, Attempted: s.Attempted, Taken: s.Taken, LastSuccess: s.LastSuccess, NextPoll: s.NextPoll,
		Faults: faultViews(s.Faults), Held: s.Held, Retired: s.Retired, WaitsFor: s.WaitsFor, LastGood: !s.Live && s.Revision != "",
	}
	for _, o := range s.Objects {
		ref := o.Ref()
		v.Objects = append(v.Objects, api.Object{Kind: ref.Kind, Name: ref.Namespace + "/" + ref.Name, Place: o.Place.String()})
	}
	for _, u := range s.Units {
		unit := api.Unit{Name: u.Name, Revision: u.Revision, Faults: faultViews(u.Problems()), Warnings: faultViews(u.Warnings)}
		for _, k := range u.Skipped {
			unit.Skipped = append(unit.Skipped, api.Skipped{Place: k.Place.String(), Kind: k.Kind, Name: k.Name, Reason: k.Reason})
		}
		v.Units = append(v.Units, unit)
	}
	for _, l := range s.Losers {
		v.Losers = append(v.Losers, api.Loser{Name: l.Name, Place: originPlace(l.Pod), Winner: "source " + l.Winner.Source + ", " + originPlace(l.Winner)})
	}
	if s.Suspended != nil {
		v.Suspended = &api.Suspension{Source: s.Source, Suspended: true, Since: s.Suspended.Since, By: s.Suspended.By}
	}
	v.State = stateOf(v)
	return v
}

// stateOf is the one word for a source: what is wrong comes before what is missing.
func stateOf(v api.Source) api.SourceState {
	switch {
	case v.Retired:
		return api.SourceRetired
	case v.Suspended != nil:
		return api.SourceSuspended
	case len(v.Problems()) > 0:
		return api.SourceError
	case v.Held != "":
		return api.SourceHeld
	case v.Live:
		return api.SourceReady
	case v.Revision != "":
		return api.SourceLastGood
	}
	return api.SourceWaiting
}

func faultViews(faults []manifests.Fault) []api.Fault {
	var views []api.Fault
	for _, f := range faults {
		views = append(views, api.Fault{Place: f.Place.String(), Field: f.Place.Field, Message: f.Message})
	}
	return views
}

// originPlace is where a pod is written: in a repository by file and commit.
func originPlace(o sources.Origin) string {
	if o.File != "" {
		return manifests.Place{Unit: o.File, Line: o.Line}.String() + " at " + cli.ShortRevision(o.Revision)
	}
	if o.Line > 0 {
		return fmt.Sprintf("%s:%d", o.Unit, o.Line)
	}
	return o.Unit
}
