package volumes

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// makeMountPoints makes the directories of a volume on which containers mount
// other volumes. The engine could not: containers see the volume read-only. None
// may lie in what the volume's own files are in, which is exchanged as a whole.
func makeMountPoints(dir string, points []string, tops map[string]bool) error {
	if len(points) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, point := range points {
		if top, _, _ := strings.Cut(point, "/"); tops[top] {
			return fmt.Errorf("a mount at %q in the volume is in the way of its own %q", point, top)
		}
		if err := makeMountPoint(root, point); err != nil {
			return fmt.Errorf("make mount point %q in the volume: %w", point, err)
		}
	}
	return nil
}

// makeMountPoint lets every user walk there, whatever the umask.
func makeMountPoint(root *os.Root, point string) error {
	if err := root.MkdirAll(point, objectsMode); err != nil {
		return err
	}
	for dir := point; dir != "."; dir = path.Dir(dir) {
		if err := root.Chmod(dir, objectsMode); err != nil {
			return err
		}
	}
	return nil
}

// nestedPoints are the paths in a volume at which containers mount something,
// sorted; what is mounted inside another of them is not the volume's.
func nestedPoints(volume string, pod *v1.Pod) []string {
	var points []string
	for _, containers := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			points = append(points, nestedIn(volume, containers[i].VolumeMounts)...)
		}
	}
	slices.Sort(points)
	return slices.Compact(points)
}

func nestedIn(volume string, mounts []v1.VolumeMount) []string {
	var points []string
	for _, outer := range mounts {
		if outer.Name != volume {
			continue
		}
		base := strings.TrimSuffix(mountPoint(outer), "/") + "/"
		for _, inner := range mounts {
			point, below := strings.CutPrefix(mountPoint(inner), base)
			if below && point != "" && !covered(base, mountPoint(inner), mounts) {
				points = append(points, point)
			}
		}
	}
	return points
}

// covered reports whether another mount lies between a base and a point.
func covered(base, point string, mounts []v1.VolumeMount) bool {
	return slices.ContainsFunc(mounts, func(m v1.VolumeMount) bool {
		between := mountPoint(m)
		return strings.HasPrefix(between, base) && between != base && strings.HasPrefix(point, between+"/")
	})
}

// mountPoint is a clean absolute path, so that nothing leads out of the volume.
func mountPoint(m v1.VolumeMount) string { return path.Clean("/" + m.MountPath) }
