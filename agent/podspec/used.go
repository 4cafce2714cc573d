package podspec

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// errMissing is a key or an object that must be there and is not.
var errMissing = errors.New("missing")

// UsedDigest is a SHA-256, in hex, of what one container of a pod sees of
// objects: its variables from them, and the files of the volumes that it mounts.
// Keys that neither reads are not in it, nor anything that the pod's own manifest
// says. It is "" when a container made now could not start because something is
// missing or cannot be a variable. As a Secret's value may be guessed from it, it
// belongs in memory and in root's files only.
func UsedDigest(pod *v1.Pod, c *v1.Container, configMaps map[string]*v1.ConfigMap, secrets map[string]*v1.Secret) string {
	o := objects{pod.Namespace, configMaps, secrets}
	d := digest{sha256.New()}
	if d.addEnv(c, o) != nil || d.addVolumes(pod, c, o) != nil {
		return ""
	}
	return hex.EncodeToString(d.Sum(nil))
}

type digest struct{ hash.Hash }

// add hashes texts so that no two lists of them come out as one.
func (d digest) add(parts ...[]byte) {
	for _, part := range parts {
		_, _ = d.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = d.Write(part)
	}
}

func (d digest) addEnv(c *v1.Container, o objects) error {
	for i := range c.EnvFrom {
		found, err := o.envFrom(&c.EnvFrom[i])
		if err != nil {
			return err
		}
		if found == nil {
			continue
		}
		for _, key := range found.keys() {
			value, _ := found.get(key)
			if err := d.addVariable(c.EnvFrom[i].Prefix+key, value); err != nil {
				return err
			}
		}
	}
	for i := range c.Env {
		if err := d.addEnvVar(&c.Env[i], o); err != nil {
			return err
		}
	}
	return nil
}

func (d digest) addEnvVar(v *v1.EnvVar, o objects) error {
	if v.ValueFrom == nil || v.Value != "" {
		return nil
	}
	found, key, optional, err := o.keyRef(v.ValueFrom)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil // no object's
	case found == nil || err != nil:
		return err
	}
	value, ok := found.get(key)
	if !ok {
		return unlessOptional(optional, errMissing)
	}
	return d.addVariable(v.Name, value)
}

func (d digest) addVariable(name, value string) error {
	d.add([]byte("env"), []byte(name), []byte(value))
	return checkVariable(name, value)
}

func (d digest) addVolumes(pod *v1.Pod, c *v1.Container, o objects) error {
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		if !slices.ContainsFunc(c.VolumeMounts, func(m v1.VolumeMount) bool { return m.Name == volume.Name }) {
			continue
		}
		files, err := o.files(volume)
		if err != nil {
			return err
		}
		for _, path := range slices.Sorted(maps.Keys(files)) {
			d.add([]byte("file"), []byte(volume.Name), []byte(path), files[path])
		}
	}
	return nil
}

// files are the contents of a volume's files by path, as far as they come from
// objects.
func (o objects) files(v *v1.Volume) (map[string][]byte, error) {
	all := map[string][]byte{}
	switch {
	case v.ConfigMap != nil:
		return all, o.addConfigMap(all, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.Secret != nil:
		return all, o.addSecret(all, v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
	case v.Projected != nil:
		for _, s := range v.Projected.Sources {
			var err error
			switch {
			case s.ConfigMap != nil:
				err = o.addConfigMap(all, s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.Optional)
			case s.Secret != nil:
				err = o.addSecret(all, s.Secret.Name, s.Secret.Items, s.Secret.Optional)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func (o objects) addConfigMap(to map[string][]byte, name string, items []v1.KeyToPath, optional *bool) error {
	found := o.configMaps[name]
	if found == nil {
		return unlessOptional(optional, errMissing)
	}
	data := maps.Clone(found.BinaryData)
	if data == nil {
		data = map[string][]byte{}
	}
	for key, value := range found.Data {
		data[key] = []byte(value)
	}
	return addItems(to, data, items, optional)
}

func (o objects) addSecret(to map[string][]byte, name string, items []v1.KeyToPath, optional *bool) error {
	found := o.secrets[name]
	if found == nil {
		return unlessOptional(optional, errMissing)
	}
	return addItems(to, found.Data, items, optional)
}

func addItems(to, data map[string][]byte, items []v1.KeyToPath, optional *bool) error {
	if len(items) == 0 {
		maps.Copy(to, data)
		return nil
	}
	for _, item := range items {
		value, ok := data[item.Key]
		if !ok {
			if isTrue(optional) {
				continue
			}
			return errMissing
		}
		to[item.Path] = value
	}
	return nil
}
