package cli

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/agent/status"
)

// podHue is the colour of the STATUS column: what runs or is done is green once it
// is ready, what is on its way yellow, all else red.
func podHue(p *v1.Pod) hue {
	word, ready, total, _, _ := status.Reason(p)
	waits := []string{"Pending", "ContainerCreating", "PodInitializing", "Terminating", "Running", "NotReady", status.ReasonDraining, status.ReasonDrained}
	steps, initializing := strings.CutPrefix(word, "Init:")
	switch {
	case word == "Running" && ready == total, word == "Completed", word == "Succeeded":
		return green
	case slices.Contains(waits, word), initializing && strings.Contains(steps, "/"):
		return yellow
	}
	return red
}

// eventHue is the colour of an event's type.
func eventHue(e *v1.Event) hue {
	if e.Type == v1.EventTypeWarning {
		return yellow
	}
	return plain
}

// sourceHue is the colour of a source's state.
func sourceHue(s *api.Source) hue {
	switch s.State {
	case api.SourceReady:
		return green
	case api.SourceError:
		return red
	}
	return yellow
}
