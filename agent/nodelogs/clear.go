package nodelogs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// clear takes away what leads nowhere of a pod. The containers' folder comes
// first: as long as a link there is ours, so is the pod's folder that says so.
func (n *NodeLogs) clear(s *shown) error {
	if err := n.clearBeside(s); err != nil {
		return err
	}
	pods, err := os.OpenRoot(n.cfg.Pods)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer pods.Close()
	return clearPod(pods, s.pod.folder())
}

func (n *NodeLogs) clearBeside(s *shown) error {
	wanted := map[string]bool{}
	for _, log := range s.logs {
		wanted[s.pod.beside(log)] = true
	}
	for name := range s.beside {
		if wanted[name] {
			continue
		}
		path := filepath.Join(n.cfg.Containers, name)
		target, err := os.Readlink(path)
		if err == nil && n.into(target) != "" {
			if !leadsNowhere(target) {
				continue // another node's, of whose pod this one is a twin
			}
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		delete(s.beside, name)
	}
	return nil
}

// into returns the name of the pod's folder that a link of the containers' folder
// leads into; "" for one that leads elsewhere.
func (n *NodeLogs) into(target string) string {
	rest, ok := strings.CutPrefix(target, n.cfg.Pods+"/")
	if !ok {
		return ""
	}
	folder, _, _ := strings.Cut(rest, "/")
	return folder
}

// clearPod removes links that lead nowhere from a pod's folder, and the folders
// that this leaves empty.
func clearPod(pods *os.Root, folder string) error {
	entries, err := list(pods, folder)
	if err != nil {
		return err
	}
	left := 0
	for _, entry := range entries {
		if entry.Name() == markName {
			continue
		}
		left++
		if !entry.IsDir() {
			continue
		}
		gone, err := clearContainer(pods, filepath.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		if gone {
			left--
		}
	}
	if left > 0 || entries == nil {
		return nil
	}
	if err := pods.Remove(filepath.Join(folder, markName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return ignoreFull(pods.Remove(folder))
}

func clearContainer(pods *os.Root, dir string) (gone bool, err error) {
	entries, err := list(pods, dir)
	if err != nil {
		return false, err
	}
	left := len(entries)
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		target, err := pods.Readlink(name)
		if err != nil || !strings.HasSuffix(name, suffix) || !leadsNowhere(target) {
			continue // not ours, or alive
		}
		if err := pods.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		left--
	}
	if left > 0 {
		return false, nil
	}
	return true, ignoreFull(pods.Remove(dir))
}

// list is a folder's content; nil when it is not there.
func list(root *os.Root, dir string) ([]fs.DirEntry, error) {
	f, err := root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if entries == nil {
		entries = []fs.DirEntry{}
	}
	return entries, err
}

// ignoreFull: somebody has put something there meanwhile, or has been quicker.
func ignoreFull(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTEMPTY) {
		return nil
	}
	return err
}
