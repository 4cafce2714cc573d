package status

import (
	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// Reasons of a pod that is kept from running until the node is resumed. Of a
// container that waits for it the reason is ReasonDrained too.
const (
	ReasonDraining = "Draining" // something of it runs still
	ReasonDrained  = "Drained"
)

func drainWord(reason string) bool { return reason == ReasonDraining || reason == ReasonDrained }

// drained is the outcome of a pod that is kept from running. Once nothing of it
// runs it is pending, whatever it was: it is going to run again.
func drained(in Input, s *v1.PodStatus) (v1.PodPhase, string, string) {
	for _, b := range in.Observed.Sandboxes {
		if b.State == runtime.StateRunning || b.State == runtime.StateUnknown {
			return phase(in, s), ReasonDraining, in.Drained
		}
	}
	for _, c := range in.Observed.Containers {
		if c.State == runtime.StateRunning || c.State == runtime.StateUnknown {
			return phase(in, s), ReasonDraining, in.Drained
		}
	}
	return v1.PodPending, ReasonDrained, in.Drained
}
