package podspec

import (
	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// ContainerInput is a container with all that was looked up for it.
type ContainerInput struct {
	Pod         *v1.Pod
	Container   *v1.Container
	Init        bool
	Attempt     int
	SandboxID   string
	Image       runtime.Image
	Volumes     map[string]string // host path by volume name
	MessagePath string            // host file of the termination message; "" for none
}

// Container returns the configuration of one container. The text of an error is
// the message of the waiting reason CreateContainerConfigError.
func Container(in ContainerInput) (runtime.ContainerConfig, error) {
	return runtime.ContainerConfig{}, nil
}
