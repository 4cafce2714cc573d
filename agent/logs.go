package agent

import (
	"errors"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// ErrBadRequest is wrapped by errors that the asker can mend.
var ErrBadRequest = errors.New("bad request")

// LogRequest names a container's log.
type LogRequest struct {
	Namespace string
	Pod       string // full name
	Container string // "" for the only one
	Previous  bool
	Options   runtime.LogOptions
}

// find returns the pod of a full name; of two (a replacement is being prepared)
// the one that runs.
func (a *Agent) find(namespace, name string) (*v1.Pod, error) {
	var found *v1.Pod
	for _, pod := range a.deps.Store.List() {
		if pod.Namespace != namespace || pod.Name != name {
			continue
		}
		if found == nil || pod.Status.Phase == v1.PodRunning {
			found = pod
		}
	}
	if found == nil {
		return nil, fmt.Errorf("pod %q in namespace %q: %w", name, namespace, runtime.ErrNotFound)
	}
	return found, nil
}

func containerFor(pod *v1.Pod, asked string) (string, error) {
	var names []string
	for _, c := range append(append([]v1.Container{}, pod.Spec.InitContainers...), pod.Spec.Containers...) {
		if c.Name == asked {
			return asked, nil
		}
		names = append(names, c.Name)
	}
	switch {
	case asked == "" && len(pod.Spec.Containers) == 1:
		return pod.Spec.Containers[0].Name, nil
	case asked == "":
		return "", fmt.Errorf("a container name must be specified for pod %s, choose one of: [%s]: %w",
			pod.Name, strings.Join(names, " "), ErrBadRequest)
	}
	return "", fmt.Errorf("container %s is not valid for pod %s, choose one of: [%s]: %w",
		asked, pod.Name, strings.Join(names, " "), ErrBadRequest)
}

// logInstance chooses as the kubelet's validateContainerLogStatus: an instance
// that runs or has run; previous means the one before the newest such.
func logInstance(pod *v1.Pod, observed runtime.Pod, name string, previous bool) (runtime.Container, error) {
	var ran []runtime.Container
	for _, c := range observed.Containers {
		if c.Name == name && c.State != runtime.StateCreated {
			ran = append(ran, c)
		}
	}
	switch {
	case previous && len(ran) < 2:
		return runtime.Container{}, fmt.Errorf("previous terminated container %q in pod %q: %w", name, pod.Name, runtime.ErrNotFound)
	case previous:
		return ran[1], nil
	case len(ran) == 0:
		return runtime.Container{}, fmt.Errorf("container %q in pod %q is waiting to start: %s: %w",
			name, pod.Name, waitingReason(pod, name), ErrBadRequest)
	}
	return ran[0], nil
}

func waitingReason(pod *v1.Pod, name string) string {
	for _, s := range append(append([]v1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...) {
		if s.Name == name && s.State.Waiting != nil {
			return s.State.Waiting.Reason
		}
	}
	return "ContainerCreating"
}
