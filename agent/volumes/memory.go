package volumes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
)

// setUpMemory mounts a tmpfs of at most size bytes (0 for the kernel's default,
// half of the memory) unless one is mounted already: it outlives containers,
// sandboxes and agents, but not a reboot.
func (v *Volumes) setUpMemory(ctx context.Context, path string, size int64) error {
	if can, whyNot := v.cfg.CanMount(ctx); !can {
		return fmt.Errorf("emptyDir of medium Memory cannot be mounted: %s", whyNot)
	}
	if err := os.MkdirAll(path, dirMode); err != nil {
		return err
	}
	at, err := v.mountAt(path)
	if err != nil {
		return err
	}
	switch {
	case at == nil:
		return v.mountMemory(path, size)
	case at.Type != tmpfs:
		return fmt.Errorf("%s is a mount of type %s, not ours", path, at.Type)
	}
	return nil
}

// mountMemory keeps the pages out of swap where the kernel can (6.4 and later).
func (v *Volumes) mountMemory(path string, size int64) error {
	options := fmt.Sprintf("mode=%o", openMode)
	if size > 0 {
		options += fmt.Sprintf(",size=%d", size)
	}
	err := v.cfg.Mounter.Mount(path, options+",noswap")
	if errors.Is(err, unix.EINVAL) {
		err = v.cfg.Mounter.Mount(path, options)
	}
	if err != nil {
		return fmt.Errorf("mount tmpfs on %s: %w", path, err)
	}
	return nil
}

// mountAt returns the topmost mount on path, nil if there is none.
func (v *Volumes) mountAt(path string) (*Mount, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	mounts, err := v.cfg.Mounter.Mounts()
	if err != nil {
		return nil, err
	}
	var found *Mount
	for i := range mounts {
		if mounts[i].Path == real {
			found = &mounts[i]
		}
	}
	return found, nil
}

// memorySize is the volume's sizeLimit or the pod's memory limit, the smaller
// that is given; 0 for none.
func memorySize(pod *v1.Pod, source *v1.EmptyDirVolumeSource) int64 {
	size := podMemoryLimit(pod)
	if limit := source.SizeLimit; limit != nil && limit.Value() > 0 && (size == 0 || limit.Value() < size) {
		size = limit.Value()
	}
	return size
}

// podMemoryLimit is what a pod's containers may use together: the sum of the
// regular ones and sidecars, or the largest init container; 0 as soon as one of
// them has no limit.
func podMemoryLimit(pod *v1.Pod) int64 {
	var together, init int64
	for i := range pod.Spec.Containers {
		limit := pod.Spec.Containers[i].Resources.Limits.Memory().Value()
		if limit == 0 {
			return 0
		}
		together += limit
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		limit := c.Resources.Limits.Memory().Value()
		switch {
		case limit == 0:
			return 0
		case c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways:
			together += limit
		default:
			init = max(init, limit)
		}
	}
	return max(together, init)
}
