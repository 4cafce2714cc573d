package podspec

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// objects are those that a pod refers to, by name, as far as they are there.
type objects struct {
	namespace  string
	configMaps map[string]*v1.ConfigMap
	secrets    map[string]*v1.Secret
}

// texts is one object as the environment reads it: a ConfigMap's data (its
// binaryData is for files alone) or a Secret's.
type texts struct {
	kind, name string
	data       map[string]string
	secret     map[string][]byte
}

// configMap looks a ConfigMap up; nil for one that may be missing and is.
func (o objects) configMap(name string, optional *bool) (*texts, error) {
	found := o.configMaps[name]
	if found == nil {
		return nil, unlessOptional(optional, fmt.Errorf("configmap %q not found", name))
	}
	return &texts{kind: "ConfigMap", name: name, data: found.Data}, nil
}

// secret looks a Secret up; nil for one that may be missing and is.
func (o objects) secret(name string, optional *bool) (*texts, error) {
	found := o.secrets[name]
	if found == nil {
		return nil, unlessOptional(optional, fmt.Errorf("secret %q not found", name))
	}
	return &texts{kind: "Secret", name: name, secret: found.Data}, nil
}

func unlessOptional(optional *bool, err error) error {
	if isTrue(optional) {
		return nil
	}
	return err
}

func (t *texts) get(key string) (string, bool) {
	if t.secret != nil {
		value, ok := t.secret[key]
		return string(value), ok
	}
	value, ok := t.data[key]
	return value, ok
}

func (t *texts) keys() []string {
	if t.secret != nil {
		return slices.Sorted(maps.Keys(t.secret))
	}
	return slices.Sorted(maps.Keys(t.data))
}
