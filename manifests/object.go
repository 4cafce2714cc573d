package manifests

import (
	"cmp"
	"crypto/sha256"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// The kinds of objects.
const (
	KindConfigMap = "ConfigMap"
	KindSecret    = "Secret"
)

// ObjectRef names an object that a pod may refer to.
type ObjectRef struct {
	Kind      string // ConfigMap, Secret
	Namespace string
	Name      string
}

// String is kind namespace/name, for people.
func (r ObjectRef) String() string { return r.Kind + " " + r.Namespace + "/" + r.Name }

func (r ObjectRef) compare(o ObjectRef) int {
	return cmp.Or(cmp.Compare(r.Kind, o.Kind), cmp.Compare(r.Namespace, o.Namespace), cmp.Compare(r.Name, o.Name))
}

// Digest is the SHA-256 of what readers of an object can see of it. That of a
// Secret is as secret as its values where those are short: it stays in memory
// and in root's files.
type Digest [sha256.Size]byte

// Object is a ConfigMap or a Secret, validated, with its namespace filled in and
// a Secret's stringData merged into its data. Exactly one of the two is set.
// Shared between goroutines: read only.
type Object struct {
	ConfigMap *v1.ConfigMap
	Secret    *v1.Secret
	Place     Place
	Digest    Digest
}

// Ref is the object's name.
func (o *Object) Ref() ObjectRef {
	if o.ConfigMap != nil {
		return ObjectRef{KindConfigMap, o.ConfigMap.Namespace, o.ConfigMap.Name}
	}
	return ObjectRef{KindSecret, o.Secret.Namespace, o.Secret.Name}
}

// Objects is what one pod refers to, as far as it is there, sorted by name.
type Objects []*Object

// NewObjects sorts what is to be one pod's.
func NewObjects(all []*Object) Objects {
	slices.SortFunc(all, func(a, b *Object) int { return a.Ref().compare(b.Ref()) })
	return all
}

// ConfigMaps are the ConfigMaps by name; all are of the pod's namespace.
func (o Objects) ConfigMaps() map[string]*v1.ConfigMap {
	found := map[string]*v1.ConfigMap{}
	for _, object := range o {
		if object.ConfigMap != nil {
			found[object.ConfigMap.Name] = object.ConfigMap
		}
	}
	return found
}

// Secrets are the Secrets by name; all are of the pod's namespace.
func (o Objects) Secrets() map[string]*v1.Secret {
	found := map[string]*v1.Secret{}
	for _, object := range o {
		if object.Secret != nil {
			found[object.Secret.Name] = object.Secret
		}
	}
	return found
}

// Same reports whether a reader would see the same in both.
func (o Objects) Same(other Objects) bool {
	return slices.EqualFunc(o, other, func(a, b *Object) bool {
		return a == b || a.Digest == b.Digest && a.Ref() == b.Ref()
	})
}
