package podspec

import (
	"fmt"
	"slices"
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

// Container returns the configuration of one container, and notes on what works
// but may be a mistake. The text of an error is the message of the waiting reason
// CreateContainerConfigError. Neither holds a value out of an object.
func Container(in ContainerInput) (runtime.ContainerConfig, []Note, error) {
	var none runtime.ContainerConfig
	pod, c := in.Pod, in.Container
	env, err := environment(c, objects{pod.Namespace, in.ConfigMaps, in.Secrets})
	if err != nil {
		return none, nil, err
	}
	command, err := env.expandAll(c.Command)
	if err != nil {
		return none, nil, fmt.Errorf("command of container %q: %w", c.Name, err)
	}
	args, err := env.expandAll(c.Args)
	if err != nil {
		return none, nil, fmt.Errorf("args of container %q: %w", c.Name, err)
	}
	mounts, err := mounts(in)
	if err != nil {
		return none, nil, err
	}
	security, err := security(pod, c, in.Image)
	if err != nil {
		return none, nil, err
	}
	config := runtime.ContainerConfig{
		Pod:         ref(pod),
		Name:        c.Name,
		Attempt:     in.Attempt,
		SandboxID:   in.SandboxID,
		Image:       c.Image,
		Disowned:    in.Image.Claims,
		Command:     command,
		Args:        args,
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
	return config, env.notes, nil
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
		readOnly := m.ReadOnly || holdsObjects(in.Pod, m.Name)
		all = append(all, runtime.Mount{HostPath: path, ContainerPath: absolute(m.MountPath), ReadOnly: readOnly})
	}
	if in.MessagePath != "" && c.TerminationMessagePath != "" {
		all = append(all, runtime.Mount{HostPath: in.MessagePath, ContainerPath: absolute(c.TerminationMessagePath)})
	}
	return all, nil
}

// holdsObjects reports a volume whose files come from objects. Containers cannot
// write to it, whatever their mounts say.
func holdsObjects(pod *v1.Pod, volume string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v v1.Volume) bool {
		return v.Name == volume && (v.ConfigMap != nil || v.Secret != nil || v.Projected != nil)
	})
}

// absolute takes a relative path as one below the container's root.
func absolute(path string) string {
	if path == "" || path[0] != '/' {
		return "/" + path
	}
	return path
}
