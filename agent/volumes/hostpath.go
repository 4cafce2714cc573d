package volumes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
)

// HostPathCreated is the reason of the note that a hostPath without a type was
// missing and has been made a directory.
const HostPathCreated = "HostPathCreated"

// Modes of what a hostPath's type has made.
const (
	hostDirMode  = 0o755
	hostFileMode = 0o644
)

// setUpHostPath checks a hostPath against its type and makes what its type says
// may be made. Without a type nothing is checked, and a missing path becomes a
// directory, as Docker would have it: worth a note, for it is often a mistake.
func setUpHostPath(volume string, source *v1.HostPathVolumeSource) (string, *Note, error) {
	kind := v1.HostPathUnset
	if source.Type != nil {
		kind = *source.Type
	}
	if !filepath.IsAbs(source.Path) { // nothing is to be made below the agent's own working directory
		return "", nil, fmt.Errorf("hostPath %s is not absolute", source.Path)
	}
	there, err := exists(source.Path)
	if err != nil {
		return "", nil, err
	}
	switch kind {
	case v1.HostPathUnset:
		if there {
			return source.Path, nil, nil
		}
		note := &Note{Reason: HostPathCreated, Message: fmt.Sprintf(
			"hostPath of volume %q: nothing was at %s, so an empty directory was made there; give the volume a type to have the path checked instead",
			volume, source.Path)}
		return source.Path, note, makeHostDir(source.Path)
	case v1.HostPathDirectoryOrCreate, v1.HostPathFileOrCreate:
		if !there {
			return source.Path, nil, makeHostPath(kind, source.Path)
		}
	}
	return source.Path, nil, checkType(kind, source.Path)
}

func makeHostPath(kind v1.HostPathType, path string) error {
	if kind == v1.HostPathFileOrCreate {
		return makeHostFile(path)
	}
	return makeHostDir(path)
}

// makeHostDir makes a directory and its parents; the directory's mode holds
// whatever the umask.
func makeHostDir(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), hostDirMode); err != nil {
		return err
	}
	err := os.Mkdir(path, hostDirMode)
	if errors.Is(err, fs.ErrExist) { // another pod was faster, or a dangling link
		return checkType(v1.HostPathDirectory, path)
	}
	if err != nil {
		return err
	}
	return os.Chmod(path, hostDirMode)
}

// makeHostFile makes an empty file. Its parent must exist.
func makeHostFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, hostFileMode)
	if errors.Is(err, fs.ErrExist) {
		return checkType(v1.HostPathFile, path)
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(hostFileMode), f.Close())
}

// checkType compares what is at path, links followed, with what must be there.
func checkType(kind v1.HostPathType, path string) error {
	info, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch kind {
	case v1.HostPathDirectory, v1.HostPathDirectoryOrCreate:
		return mustBe("directory", path, info, fs.FileMode.IsDir)
	case v1.HostPathFile, v1.HostPathFileOrCreate:
		return mustBe("file", path, info, fs.FileMode.IsRegular)
	}
	return fmt.Errorf("hostPath type %q is not supported", kind)
}

// mustBe is the kubelet's verdict; info is nil when nothing is there.
func mustBe(what, path string, info fs.FileInfo, is func(fs.FileMode) bool) error {
	if info == nil || !is(info.Mode()) {
		return fmt.Errorf("hostPath type check failed: %s is not a %s", path, what)
	}
	return nil
}

// exists reports whether something is at path. A dangling link is nothing: what
// it points to would be missing in the container.
func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
