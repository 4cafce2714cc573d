package volumes

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

const (
	// runMode keeps what is in memory from everybody but root.
	runMode = 0o700
	// objectsMode is that of a volume of objects: any user of a container may read.
	objectsMode = 0o755
	// fileMode is that of files for which nothing else is said.
	fileMode = int32(0o644)
)

// setUpObjects makes a volume whose files come from objects, or brings it up to
// date. When that cannot be, a volume that is there stays as it is, and the error
// is stale.
func (v *Volumes) setUpObjects(req Request, volume *v1.Volume) (string, error) {
	dir, err := v.objectsPath(string(req.Pod.UID), volume)
	if err != nil {
		return "", err
	}
	if err := v.writeObjects(req, volume, dir); err != nil {
		if _, e := os.Stat(filepath.Join(dir, dataLink)); e == nil {
			return dir, staleError{err}
		}
		return "", err
	}
	return dir, nil
}

// objectsPath is on disk for a ConfigMap. A projected volume may hold secrets.
func (v *Volumes) objectsPath(uid string, volume *v1.Volume) (string, error) {
	base, plugin := v.runPodDir, projections
	switch {
	case volume.ConfigMap != nil:
		base, plugin = v.podDir, configMaps
	case volume.Secret != nil:
		plugin = secrets
	}
	dir, err := base(uid)
	if err != nil {
		return "", err
	}
	if err := checkName("volume", volume.Name); err != nil {
		return "", err
	}
	return filepath.Join(dir, volumesDir, plugin, volume.Name), nil
}

func (v *Volumes) writeObjects(req Request, volume *v1.Volume, dir string) error {
	files, err := req.files(volume)
	if err != nil {
		return err
	}
	if volume.ConfigMap != nil {
		err = os.MkdirAll(filepath.Dir(dir), dirMode)
	} else {
		err = v.makeRunDir(filepath.Dir(dir))
	}
	if err == nil {
		err = makeDir(dir, objectsMode)
	}
	if err == nil {
		err = makeMountPoints(dir, nestedPoints(volume.Name, req.Pod), files.tops())
	}
	if err != nil {
		return err
	}
	if volume.ConfigMap != nil {
		return writeVolume(dir, files, nil)
	}
	return writeVolume(dir, files, &v.room)
}

// makeRunDir makes a directory below Run, of which nobody but root sees anything.
func (v *Volumes) makeRunDir(dir string) error {
	if err := os.MkdirAll(dir, runMode); err != nil {
		return err
	}
	pods := filepath.Join(v.cfg.Run, podsDir)
	if err := os.Chmod(pods, runMode); err != nil {
		return err
	}
	memory, err := inMemory(pods)
	if err == nil && !memory {
		v.onDisk.Do(func() {
			v.cfg.Logger.Warn("volumes of Secrets are kept on disk, where only root can read them, because this directory is not in memory", "path", v.cfg.Run)
		})
	}
	return err
}

// inMemory reports whether a directory is on a file system that is memory alone.
func inMemory(dir string) (bool, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return false, fmt.Errorf("look up the file system of %s: %w", dir, err)
	}
	return isMemory(stat), nil
}

// makeDir makes a directory with its mode, whatever the umask and whenever the
// agent was killed.
func makeDir(path string, mode fs.FileMode) error {
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := isDir(path); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

// files are those of a volume of objects.
func (r Request) files(volume *v1.Volume) (payload, error) {
	switch {
	case volume.ConfigMap != nil:
		s := volume.ConfigMap
		return r.configMap(s.Name, selection{items: s.Items, mode: s.DefaultMode, user: s.DefaultUser, optional: s.Optional})
	case volume.Secret != nil:
		s := volume.Secret
		return r.secret(s.SecretName, selection{items: s.Items, mode: s.DefaultMode, user: s.DefaultUser, optional: s.Optional})
	}
	return r.projected(volume.Projected)
}

// projected joins the files of all its sources; of one path the later counts.
// All are tried, so that one round tells all that is missing.
func (r Request) projected(p *v1.ProjectedVolumeSource) (payload, error) {
	all := payload{}
	var faults []error
	for i := range p.Sources {
		files, err := r.projection(&p.Sources[i], selection{mode: p.DefaultMode, user: p.DefaultUser})
		if err != nil {
			faults = append(faults, err)
		}
		maps.Copy(all, files)
	}
	if len(faults) > 0 {
		return nil, utilerrors.NewAggregate(faults) // one line: it becomes an event's text
	}
	return all, nil
}

func (r Request) projection(p *v1.VolumeProjection, s selection) (payload, error) {
	switch {
	case p.ConfigMap != nil:
		s.items, s.optional = p.ConfigMap.Items, p.ConfigMap.Optional
		return r.configMap(p.ConfigMap.Name, s)
	case p.Secret != nil:
		s.items, s.optional = p.Secret.Items, p.Secret.Optional
		return r.secret(p.Secret.Name, s)
	}
	return nil, errors.New("a projected source that is neither configMap nor secret is not supported")
}

func (r Request) configMap(name string, s selection) (payload, error) {
	s.missing = "configmap references non-existent config key"
	found := r.ConfigMaps[name]
	if found == nil {
		return s.nothing(fmt.Errorf("configmap %q not found", name))
	}
	data := make(map[string][]byte, len(found.Data)+len(found.BinaryData))
	maps.Copy(data, found.BinaryData)
	for key, value := range found.Data {
		data[key] = []byte(value)
	}
	return s.of(data)
}

func (r Request) secret(name string, s selection) (payload, error) {
	s.missing = "references non-existent secret key"
	found := r.Secrets[name]
	if found == nil {
		return s.nothing(fmt.Errorf("secret %q not found", name))
	}
	return s.of(found.Data)
}
