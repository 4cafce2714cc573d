package cli

import (
	"context"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/podstead/podstead/agent/api"
)

// awaitEnd returns when the pod has ended or is gone, with the reason.
func (f *forwarder) awaitEnd(ctx context.Context) error {
	return f.client.WatchPods(ctx, func(change api.Change[v1.Pod]) error {
		pod := &change.Object
		switch phase := pod.Status.Phase; {
		case pod.UID != f.pod.UID:
			return nil
		case change.Type == apiwatch.Deleted:
			return f.gone(ctx)
		case phase == v1.PodSucceeded || phase == v1.PodFailed:
			return fmt.Errorf("pod %s has ended (%s%s); see `podstead get events %s`", f.pod.Name, phase, f.reason(ctx), f.pod.Name)
		}
		return nil
	})
}

// gone says why there is no such pod any more, and what to do.
func (f *forwarder) gone(ctx context.Context) error {
	pods, err := f.client.KnownPods(ctx)
	if err != nil {
		return err
	}
	for _, other := range pods {
		if other.Namespace == f.pod.Namespace && other.Name == f.pod.Name && other.UID != f.pod.UID {
			return fmt.Errorf("pod %s has been replaced%s; run the command again to forward to the new one", f.pod.Name, f.reason(ctx))
		}
	}
	return fmt.Errorf("pod %s is gone%s; `podstead get events %s` tells its end, `podstead get pods -A` what runs now", f.pod.Name, f.reason(ctx), f.pod.Name)
}

// reason is that of the newest kill of one of the pod's containers, from a colon on.
func (f *forwarder) reason(ctx context.Context) string {
	events, err := f.client.Events(ctx, api.EventFilter{Kind: "Pod", UID: string(f.pod.UID)})
	if err != nil {
		return "" // it is a word more, and the pod's end is what matters
	}
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Reason == "Killing" {
			return ": " + OneLine(strings.TrimSpace(events[i].Message))
		}
	}
	return ""
}
