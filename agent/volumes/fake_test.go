package volumes

import (
	"slices"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// table is a Mounter that keeps a mount table and mounts nothing.
type table struct {
	mounts    []Mount
	options   []string        // of each Mount call
	busy      map[string]bool // not to be unmounted but lazily
	oldKernel bool            // knows no noswap
	lazy      []string
}

func (t *table) Mount(target, options string) error {
	t.options = append(t.options, options)
	if t.oldKernel && len(t.options) == 1 {
		return unix.EINVAL
	}
	t.mounts = append(t.mounts, Mount{Path: target, Type: tmpfs})
	return nil
}

func (t *table) Unmount(target string, lazy bool) error {
	if t.busy[target] && !lazy {
		return unix.EBUSY
	}
	if lazy {
		t.lazy = append(t.lazy, target)
	}
	for i := len(t.mounts) - 1; i >= 0; i-- {
		if t.mounts[i].Path == target {
			t.mounts = slices.Delete(t.mounts, i, i+1)
			return nil
		}
	}
	return unix.EINVAL
}

func (t *table) Mounts() ([]Mount, error) { return slices.Clone(t.mounts), nil }

// onPod is a pod whose one container mounts all the volumes.
func onPod(volumes ...v1.Volume) *v1.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u1", Name: "lamp-n1", Namespace: "default"}}
	c := v1.Container{Name: "main"}
	for _, v := range volumes {
		c.VolumeMounts = append(c.VolumeMounts, v1.VolumeMount{Name: v.Name, MountPath: "/" + v.Name})
	}
	pod.Spec.Volumes, pod.Spec.Containers = volumes, []v1.Container{c}
	return pod
}

func emptyDir(name string, medium v1.StorageMedium) v1.Volume {
	return v1.Volume{Name: name, VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{Medium: medium}}}
}

func hostPath(name, path string, kind v1.HostPathType) v1.Volume {
	return v1.Volume{Name: name, VolumeSource: v1.VolumeSource{HostPath: &v1.HostPathVolumeSource{Path: path, Type: &kind}}}
}
