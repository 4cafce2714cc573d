package agent

import (
	"cmp"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/agent/status"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/sources"
)

// publish generates the pod's status from the newest observation and gives it to
// everything that shows pods.
func (w *worker) publish() {
	w.status = status.Generate(status.Input{
		Pod: w.record.Pod, Observed: w.observed, History: w.record.History, Waiting: w.waiting,
		Finished: w.record.Finished, Started: w.record.Started, HostIPs: w.agent.cfg.HostIPs,
		Previous: w.status, Now: w.now().Wall, Terminating: w.phase >= Terminating, Drained: w.order.drained.String(),
	})
	pod := w.record.pod()
	out := shown(pod, w.status)
	if w.record.Act != nil {
		metav1.SetMetaDataAnnotation(&out.ObjectMeta, manifests.AnnotationLastAct, w.record.Act.String())
	}
	if stopping := w.record.Stopping; stopping != nil {
		// As the API server does: the moment by which the pod is to be gone.
		seconds := int64(stopping.Grace / time.Second)
		out.DeletionTimestamp = &metav1.Time{Time: stopping.Since.Wall.Add(stopping.Grace).Truncate(time.Second)}
		out.DeletionGracePeriodSeconds = &seconds
	}
	w.agent.deps.Store.Set(out)
	w.answer()
}

// shown is a pod as users see it: with its status and where it comes from.
func shown(pod sources.Pod, s v1.PodStatus) *v1.Pod {
	out := pod.Pod.Pod.DeepCopy()
	out.Status = s
	if pod.Origin.Source == "" {
		return out
	}
	if out.Annotations == nil {
		out.Annotations = map[string]string{}
	}
	out.Annotations[manifests.AnnotationSource] = pod.Origin.Source
	place := manifests.Place{Unit: cmp.Or(pod.Origin.File, pod.Origin.Unit), Line: pod.Origin.Line}
	out.Annotations[manifests.AnnotationManifest] = place.String()
	out.Annotations[manifests.AnnotationRevision] = pod.Origin.Revision
	return out
}
