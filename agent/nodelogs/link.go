package nodelogs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Modes are the kubelet's. Whoever may not pass the first folder could not read
// the engine's files either.
const (
	podsMode = 0o750
	dirMode  = 0o755
)

// link makes what is missing, and returns how much that was.
func (n *NodeLogs) link(s *shown) (made int, err error) {
	if len(s.logs) == 0 {
		return 0, nil
	}
	if err := n.makeFolders(); err != nil {
		return 0, err
	}
	pods, err := os.OpenRoot(n.cfg.Pods)
	if err != nil {
		return 0, err
	}
	defer pods.Close()
	containers, err := os.OpenRoot(n.cfg.Containers)
	if err != nil {
		return 0, err
	}
	defer containers.Close()
	for _, log := range s.logs {
		there, err := exists(log.Path)
		if err != nil {
			return made, err
		}
		if !there {
			continue
		}
		name, is, err := n.linkOne(pods, s.pod, log)
		if err != nil {
			return made, err
		}
		made += is
		beside := s.pod.beside(log)
		is, err = put(containers, beside, filepath.Join(n.cfg.Pods, name))
		if err != nil {
			return made, err
		}
		made += is
		s.beside[beside] = struct{}{}
	}
	return made, nil
}

// linkOne links one log in its pod's folder.
func (n *NodeLogs) linkOne(pods *os.Root, pod Pod, log Log) (name string, made int, err error) {
	folder := pod.folder()
	if err := mkdir(pods, folder); err != nil {
		return "", 0, err
	}
	if _, err := pods.Lstat(filepath.Join(folder, markName)); errors.Is(err, fs.ErrNotExist) {
		if err := pods.Symlink(n.cfg.Owner, filepath.Join(folder, markName)); err != nil {
			return "", 0, err
		}
	}
	dir := filepath.Join(folder, log.Container)
	if err := mkdir(pods, dir); err != nil {
		return "", 0, err
	}
	name = filepath.Join(dir, log.name())
	if taken(pods, name, log.Path) {
		name = filepath.Join(dir, log.otherName())
	}
	made, err = put(pods, name, log.Path)
	return name, made, err
}

// taken reports whether a name is something else's that is alive, and not ours to
// replace.
func taken(dir *os.Root, name, target string) bool {
	is, err := dir.Readlink(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && is == target:
		return false
	case err != nil:
		return true // no link at all
	}
	return !leadsNowhere(is)
}

// put makes a link, or makes one lead where it is to, and returns 1 if it did.
func put(dir *os.Root, name, target string) (made int, err error) {
	is, err := dir.Readlink(name)
	switch {
	case err == nil && is == target:
		return 0, nil
	case err == nil:
		if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return 0, err
	}
	if err := dir.Symlink(target, name); err != nil {
		return 0, err
	}
	return 1, nil
}

// makeFolders makes the folders that hold all the links.
func (n *NodeLogs) makeFolders() error {
	if err := os.MkdirAll(n.cfg.Pods, podsMode); err != nil {
		return fmt.Errorf("make the folder of logs: %w", err)
	}
	if err := os.MkdirAll(n.cfg.Containers, dirMode); err != nil {
		return fmt.Errorf("make the folder of logs: %w", err)
	}
	return nil
}

func mkdir(in *os.Root, name string) error {
	if err := in.Mkdir(name, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// exists reports whether the engine's file is there. When not even the folder is
// that holds those of all containers, the engine's disk is not ours to see.
func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if err == nil {
		return true, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		all := filepath.Dir(filepath.Dir(path))
		if _, err = os.Stat(all); err == nil {
			return false, nil
		}
	}
	return false, fmt.Errorf("%w: %w", ErrUnseen, err)
}

// leadsNowhere reports whether a link's target is certainly not there.
func leadsNowhere(target string) bool {
	if !filepath.IsAbs(target) {
		return false // none of ours
	}
	_, err := os.Stat(target)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
