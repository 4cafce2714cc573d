package plan

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// deadInstances removes what has ended and is of no more use, by the rules of
// the kubelet's container garbage collection: of each container the newest dead
// instance stays, for its state and its log; a sandbox that does not run stays
// if it is the newest one or has containers.
func deadInstances(pod *v1.Pod, obs runtime.Pod) []Action {
	var all []Action
	kept := map[string]bool{}
	for _, c := range obs.Containers {
		if c.State != runtime.StateExited {
			continue
		}
		if kept[c.Name] {
			all = append(all, Action{
				Verb: Remove, Container: c.Name, Init: isInit(pod, c.Name), ID: c.ID,
				Reason: ReasonDeadInstance, Message: "older than the dead instance that is kept",
			})
		}
		kept[c.Name] = true
	}
	for i, s := range obs.Sandboxes {
		if i == 0 || s.State == runtime.StateRunning || hasContainers(obs, s.ID) {
			continue
		}
		all = append(all, Action{
			Verb: Remove, ID: s.ID,
			Reason: ReasonSandboxStale, Message: "a newer sandbox has taken its place",
		})
	}
	return all
}

func hasContainers(obs runtime.Pod, sandbox string) bool {
	return slices.ContainsFunc(obs.Containers, func(c runtime.Container) bool { return c.SandboxID == sandbox })
}

func isInit(pod *v1.Pod, name string) bool {
	return pod != nil && slices.ContainsFunc(pod.Spec.InitContainers, func(c v1.Container) bool { return c.Name == name })
}
