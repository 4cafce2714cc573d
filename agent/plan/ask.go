package plan

import (
	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// AskRestart returns the history, which is as the engine shows the pod, with a
// restart of every regular container, and by name the attempt that each of them
// has at the least once it has been restarted. It must be remembered before the
// first signal. One that has ended is made again without waiting for its crash
// back-off, whatever the restart policy, and so is an init container that failed.
// What is being restarted already is not restarted once more for it.
func (h History) AskRestart(pod *v1.Pod, obs runtime.Pod, message string) (History, map[string]int) {
	attempts := map[string]int{}
	for _, c := range pod.Spec.Containers {
		was := h.Containers[c.Name]
		attempt, ends := was.ending(c.Name, obs)
		if ends {
			h = h.asked(c.Name, attempt, message)
		}
		attempts[c.Name] = was.Attempt
		if ends && attempt >= was.Attempt {
			attempts[c.Name] = attempt + 1
		}
	}
	for _, c := range pod.Spec.InitContainers {
		newest, _ := obs.Newest(c.Name)
		if e := h.Containers[c.Name].Ended; e != nil && e.failed() && newest.State != runtime.StateRunning {
			h = h.asked(c.Name, e.Attempt, message)
		}
	}
	return h, attempts
}

// ending is the attempt of the instance that ends, or has ended, to be restarted;
// false when none ever ran.
func (c ContainerHistory) ending(name string, obs runtime.Pod) (int, bool) {
	newest, _ := obs.Newest(name)
	switch {
	case newest.State == runtime.StateRunning, newest.State == runtime.StateUnknown:
		return newest.Attempt, true
	case c.Ended != nil:
		return c.Ended.Attempt, true
	}
	return 0, false
}

// asked notes a restart, unless one of that instance has been decided already.
func (h History) asked(container string, attempt int, message string) History {
	if r := h.Containers[container].Restart; r != nil && r.Attempt == attempt {
		return h
	}
	return h.WithRestart(container, Restart{Attempt: attempt, Reason: ReasonRestartAsked, Message: message})
}
