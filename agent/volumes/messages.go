package volumes

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

const (
	// messageMode lets a container of any user write its message.
	messageMode = 0o666
	// keepMessages are the older files that stay: one may not have been read yet.
	keepMessages = 2
)

// MessageFile makes a new, empty file for the termination message of the next
// instance of a container and removes all but the newest two of those before.
func (v *Volumes) MessageFile(uid, container string) (string, error) {
	dir, err := v.containerDir(uid, container)
	if err != nil {
		return "", fmt.Errorf("make termination message file of container %s of pod %s: %w", container, uid, err)
	}
	if err := dropOldest(dir, keepMessages); err != nil {
		// The file that is needed now must not fail over one that is not.
		v.cfg.Logger.Warn("old termination messages stay", "uid", uid, "container", container, "err", err)
	}
	path, err := newMessageFile(dir)
	if err != nil {
		return "", fmt.Errorf("make termination message file of container %s of pod %s: %w", container, uid, err)
	}
	return path, nil
}

func (v *Volumes) containerDir(uid, container string) (string, error) {
	pod, err := v.podDir(uid)
	if err != nil {
		return "", err
	}
	if err := checkName("container", container); err != nil {
		return "", err
	}
	dir := filepath.Join(pod, containersDir, container)
	return dir, os.MkdirAll(dir, dirMode)
}

// newMessageFile makes a file of 8 random hex digits, as the kubelet names them.
func newMessageFile(dir string) (string, error) {
	for {
		path := filepath.Join(dir, fmt.Sprintf("%08x", rand.Uint32()))
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, messageMode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return path, errors.Join(f.Chmod(messageMode), f.Close())
	}
}

// dropOldest removes all files of a directory but the newest few.
func dropOldest(dir string, keep int) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortStableFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var faults []error
	for _, old := range files[min(keep, len(files)):] {
		if err := os.Remove(filepath.Join(dir, old.Name())); !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
