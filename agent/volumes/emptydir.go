package volumes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
)

// openMode lets every user of a pod's containers use an emptyDir, as the
// kubelet's does.
const openMode = 0o777

// setUpEmptyDir makes an emptyDir, on disk or in memory. What exists is kept as
// it is, with whatever its pod made of it.
func (v *Volumes) setUpEmptyDir(ctx context.Context, pod *v1.Pod, volume *v1.Volume) (string, error) {
	path, err := v.emptyDirPath(string(pod.UID), volume.Name)
	if err != nil {
		return "", err
	}
	source := volume.EmptyDir
	if source == nil {
		source = &v1.EmptyDirVolumeSource{}
	}
	switch source.Medium {
	case v1.StorageMediumDefault:
		return path, makeOpenDir(path)
	case v1.StorageMediumMemory:
		return path, v.setUpMemory(ctx, path, memorySize(pod, source))
	}
	return "", fmt.Errorf("emptyDir of medium %q is not supported", source.Medium)
}

// makeOpenDir makes a directory that is there with its mode or not at all,
// whatever the umask and whenever the agent is killed.
func makeOpenDir(path string) error {
	if there, err := isDir(path); there || err != nil {
		return err
	}
	parent, name := filepath.Split(path)
	if err := os.MkdirAll(parent, dirMode); err != nil {
		return err
	}
	raw := filepath.Join(parent, "."+name)
	if err := os.Mkdir(raw, openMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.Chmod(raw, openMode); err != nil {
		return err
	}
	return os.Rename(raw, path)
}

// isDir reports whether path is a directory; anything else there is an error.
func isDir(path string) (bool, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, fmt.Errorf("%s is not a directory", path)
	}
	return true, nil
}
