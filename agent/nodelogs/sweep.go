package nodelogs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Sweep takes away what an earlier life of this node left and no later one comes
// back to: links that lead nowhere, of pods that are known, and of those that
// bear this node's mark. It is to be called once, before the first Show, and makes
// the folders if they are missing: shippers watch them.
func (n *NodeLogs) Sweep(known func(uid string) bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.makeFolders(); err != nil {
		return err
	}
	pods, err := os.OpenRoot(n.cfg.Pods)
	if err != nil {
		return fmt.Errorf("sweep the links of logs: %w", err)
	}
	defer pods.Close()
	entries, err := list(pods, ".")
	if err != nil {
		return fmt.Errorf("sweep the links of logs: %w", err)
	}
	ours, unknown := map[string]bool{}, []string{}
	for _, entry := range entries {
		folder := entry.Name()
		uid := uidOf(folder)
		switch {
		case uid == "" || !entry.IsDir():
		case known(uid):
			ours[folder] = true // its worker will look after the rest
		default:
			if mark, err := pods.Readlink(filepath.Join(folder, markName)); err == nil && mark == n.cfg.Owner {
				ours[folder] = true
				unknown = append(unknown, folder)
			}
		}
	}
	faults := []error{n.sweepBeside(ours, known)}
	for _, folder := range unknown {
		if err := clearPod(pods, folder); err != nil {
			faults = append(faults, fmt.Errorf("sweep the links of logs: %w", err))
		}
	}
	return errors.Join(faults...)
}

// keep remembers a living link for when its pod is met.
func (n *NodeLogs) keep(folder, name string) {
	if n.found[folder] == nil {
		n.found[folder] = map[string]struct{}{}
	}
	n.found[folder][name] = struct{}{}
}

// sweepBeside removes links of the containers' folder that lead nowhere through a
// folder of ours.
func (n *NodeLogs) sweepBeside(ours map[string]bool, known func(uid string) bool) error {
	entries, err := os.ReadDir(n.cfg.Containers)
	faults := []error{err}
	for _, entry := range entries {
		path := filepath.Join(n.cfg.Containers, entry.Name())
		target, err := os.Readlink(path)
		if err != nil {
			continue // no link
		}
		folder := n.into(target)
		if folder == "" || !ours[folder] && !known(uidOf(folder)) {
			continue
		}
		if !leadsNowhere(target) {
			n.keep(folder, entry.Name())
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, fmt.Errorf("sweep the links of logs: %w", err))
		}
	}
	return errors.Join(faults...)
}
