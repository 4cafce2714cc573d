package volumes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// TearDown removes what is secret of a pod, then unmounts and removes all that is
// in its directory but the agent's record, and the directory too when that leaves
// it empty. A mount that is not ours stops it before anything of the directory
// that it is in is touched. A pod without directories is success.
func (v *Volumes) TearDown(ctx context.Context, uid string) error {
	if err := v.tearDown(ctx, uid); err != nil {
		return fmt.Errorf("tear down volumes of pod %s: %w", uid, err)
	}
	return nil
}

// Sweep tears down what is secret of pods that are not known: they lost their
// records, or their root-dir was exchanged. No such pod may be running, nor be
// set up meanwhile. What is on disk stays, for somebody may miss it.
func (v *Volumes) Sweep(ctx context.Context, known func(uid string) bool) error {
	uids, err := v.runPods()
	if err != nil {
		return err
	}
	var faults []error
	for _, uid := range uids {
		if known(uid) {
			continue
		}
		if err := v.tearDownRun(ctx, uid); err != nil {
			faults = append(faults, fmt.Errorf("tear down secret volumes of pod %s: %w", uid, err))
		}
	}
	return errors.Join(faults...)
}

func (v *Volumes) tearDown(ctx context.Context, uid string) error {
	dir, err := v.podDir(uid)
	if err != nil {
		return err
	}
	if v.cfg.Run != "" {
		if err := v.tearDownRun(ctx, uid); err != nil {
			return err
		}
	}
	return v.tearDownDir(ctx, uid, dir)
}

func (v *Volumes) tearDownRun(ctx context.Context, uid string) error {
	dir, err := v.runPodDir(uid)
	if err != nil {
		return err
	}
	return v.tearDownDir(ctx, uid, dir)
}

func (v *Volumes) tearDownDir(ctx context.Context, uid, dir string) error {
	if there, err := isDir(dir); !there || err != nil {
		return err
	}
	if err := v.unmountAll(uid, dir); err != nil {
		return err
	}
	if err := empty(ctx, dir, recordFile); err != nil {
		return err
	}
	err := os.Remove(dir)
	if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// unmountAll takes our mounts out of a pod's directory, newest first.
func (v *Volumes) unmountAll(uid, dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	mounts, err := v.mountsBelow(real)
	if err != nil {
		return err
	}
	for _, m := range mounts {
		if !ourMount(m, real) {
			return fmt.Errorf("%s is a mount that podstead did not make: unmount it first", m.Path)
		}
	}
	for _, m := range slices.Backward(mounts) {
		if err := v.unmount(uid, m.Path); err != nil {
			return err
		}
	}
	return nil
}

// unmount lets a busy mount go when its last user does: what holds it, a
// process that strayed from its container, must not hold the pod.
func (v *Volumes) unmount(uid, path string) error {
	err := v.cfg.Mounter.Unmount(path, false)
	if errors.Is(err, unix.EBUSY) {
		v.cfg.Logger.Warn("volume is still in use: it is unmounted now and freed when its last user ends", "uid", uid, "path", path)
		err = v.cfg.Mounter.Unmount(path, true)
	}
	if err != nil && !errors.Is(err, unix.EINVAL) { // EINVAL: not mounted any more
		return fmt.Errorf("unmount %s: %w", path, err)
	}
	return nil
}

// mountsBelow are the mounts on a directory and in it.
func (v *Volumes) mountsBelow(dir string) ([]Mount, error) {
	mounts, err := v.cfg.Mounter.Mounts()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(mounts, func(m Mount) bool {
		return m.Path != dir && !strings.HasPrefix(m.Path, dir+"/")
	}), nil
}

// ourMount reports a tmpfs exactly where we put those of memory emptyDirs.
func ourMount(m Mount, podDir string) bool {
	return m.Type == tmpfs && filepath.Dir(m.Path) == filepath.Join(podDir, volumesDir, emptyDirs)
}
