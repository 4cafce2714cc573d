package podspec

import (
	"fmt"
	"time"

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
	Volumes     map[string]string        // host path by volume name
	ConfigMaps  map[string]*v1.ConfigMap // by name; those that the pod refers to and that are there
	Secrets     map[string]*v1.Secret
	MessagePath string // host file of the termination message; "" for none
}

// Container returns the configuration of one container. The text of an error is
// the message of the waiting reason CreateContainerConfigError.
func Container(in ContainerInput) (runtime.ContainerConfig, error) {
	pod, c := in.Pod, in.Container
	env, err := environment(c)
	if err != nil {
		return runtime.ContainerConfig{}, err
	}
	mounts, err := mounts(in)
	if err != nil {
		return runtime.ContainerConfig{}, err
	}
	security, err := security(pod, c, in.Image)
	if err != nil {
		return runtime.ContainerConfig{}, err
	}
	config := runtime.ContainerConfig{
		Pod:         ref(pod),
		Name:        c.Name,
		Attempt:     in.Attempt,
		SandboxID:   in.SandboxID,
		Image:       c.Image,
		Command:     env.expandAll(c.Command),
		Args:        env.expandAll(c.Args),
		WorkingDir:  c.WorkingDir,
		Env:         env.list(),
		Mounts:      mounts,
		Resources:   resources(c),
		Security:    security,
		HostNetwork: pod.Spec.HostNetwork,
		HostPID:     pod.Spec.HostPID,
		SharePID:    sharePID(pod),
		StopTimeout: grace(pod),
	}
	if c.TerminationMessagePath != "" {
		config.MessagePath = in.MessagePath
	}
	return config, nil
}

// grace is how long the pod may take to stop, 30 s when it does not say.
func grace(pod *v1.Pod) time.Duration {
	seconds := int64(v1.DefaultTerminationGracePeriodSeconds)
	if s := pod.Spec.TerminationGracePeriodSeconds; s != nil {
		seconds = *s
	}
	return time.Duration(seconds) * time.Second
}

// mounts binds the container's volumes in the order written, then the file of
// its termination message.
func mounts(in ContainerInput) ([]runtime.Mount, error) {
	c := in.Container
	var all []runtime.Mount
	for _, m := range c.VolumeMounts {
		path, ok := in.Volumes[m.Name]
		if !ok {
			return nil, fmt.Errorf("cannot find volume %q to mount into container %q", m.Name, c.Name)
		}
		if m.SubPath != "" || m.SubPathExpr != "" {
			return nil, fmt.Errorf("subPath of volumeMount %q of container %q is not supported", m.Name, c.Name)
		}
		all = append(all, runtime.Mount{HostPath: path, ContainerPath: absolute(m.MountPath), ReadOnly: m.ReadOnly})
	}
	if in.MessagePath != "" && c.TerminationMessagePath != "" {
		all = append(all, runtime.Mount{HostPath: in.MessagePath, ContainerPath: absolute(c.TerminationMessagePath)})
	}
	return all, nil
}

// absolute takes a relative path as one below the container's root.
func absolute(path string) string {
	if path == "" || path[0] != '/' {
		return "/" + path
	}
	return path
}
