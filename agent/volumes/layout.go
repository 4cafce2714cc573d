package volumes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The kubelet's names below root-dir.
const (
	podsDir       = "pods"
	volumesDir    = "volumes"
	containersDir = "containers"
	emptyDirs     = "kubernetes.io~empty-dir"
	configMaps    = "kubernetes.io~configmap"
	secrets       = "kubernetes.io~secret"
	projections   = "kubernetes.io~projected"
	// recordFile is the agent's record of the pod; it outlives the volumes.
	recordFile = "pod.json"
)

// dirMode is that of directories only the agent and the engine walk through.
const dirMode = 0o750

func (v *Volumes) podDir(uid string) (string, error) {
	if err := checkName("pod", uid); err != nil {
		return "", err
	}
	return filepath.Join(v.cfg.Root, podsDir, uid), nil
}

// runPodDir is a pod's directory for what is secret.
func (v *Volumes) runPodDir(uid string) (string, error) {
	if v.cfg.Run == "" {
		return "", errors.New("there is no directory in memory for what is secret")
	}
	if err := checkName("pod", uid); err != nil {
		return "", err
	}
	return filepath.Join(v.cfg.Run, podsDir, uid), nil
}

func (v *Volumes) emptyDirPath(uid, volume string) (string, error) {
	dir, err := v.podDir(uid)
	if err != nil {
		return "", err
	}
	if err := checkName("volume", volume); err != nil {
		return "", err
	}
	return filepath.Join(dir, volumesDir, emptyDirs, volume), nil
}

// checkName refuses what would not stay one name below its directory. Validated
// manifests have no such names; records from a disk might.
func checkName(what, name string) error {
	if name == "" || name[0] == '.' || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("%s %q cannot be a directory's name", what, name)
	}
	return nil
}

// Pods returns the UIDs that have a directory under Root or Run, sorted.
func (v *Volumes) Pods() ([]string, error) {
	uids, err := podsIn(v.cfg.Root)
	if err != nil {
		return nil, err
	}
	inMemory, err := v.runPods()
	if err != nil {
		return nil, err
	}
	uids = append(uids, inMemory...)
	slices.Sort(uids)
	return slices.Compact(uids), nil
}

func (v *Volumes) runPods() ([]string, error) {
	if v.cfg.Run == "" {
		return nil, nil
	}
	return podsIn(v.cfg.Run)
}

func podsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, podsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list pod directories: %w", err)
	}
	var uids []string
	for _, entry := range entries {
		if entry.IsDir() && checkName("pod", entry.Name()) == nil {
			uids = append(uids, entry.Name())
		}
	}
	return uids, nil
}
