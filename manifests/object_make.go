package manifests

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// NewObject makes a document the object that it says it is: with Kubernetes'
// defaults, in a namespace, stringData merged into data as an API server does
// it, and validated by Kubernetes' own code. With any fault the object is not to
// be used. Each fault and each warning has its place in the document as its
// author wrote it, and none tells a value: not a Secret's, nor a ConfigMap's.
func NewObject(doc Document, opts Options) (made *Object, warnings, faults []Fault) {
	m := objectMaking{telling{doc: doc, opts: opts}}
	if !doc.IsObject() {
		m.fault(typeFault{message: fmt.Sprintf("kind %s is no object", doc.Kind)})
		return nil, nil, m.faults
	}
	m.tellTypes()
	m.tellChecked(checkObjectSupport(doc.root))
	if len(m.faults) == 0 { // what Kubernetes says of an object that is only half read would mislead
		made = m.make()
		m.tellInvalid(made)
	}
	m.sort()
	if len(m.faults) > 0 {
		return nil, m.warnings, m.faults
	}
	made.Digest = made.digest()
	return made, m.warnings, nil
}

// objectMaking is the making of one object.
type objectMaking struct{ telling }

func (m *objectMaking) make() *Object {
	object := &Object{Place: m.doc.Place}
	if read := m.doc.object.ConfigMap; read != nil {
		object.ConfigMap = read.DeepCopy()
		legacyscheme.Scheme.Default(object.ConfigMap)
		object.ConfigMap.ObjectMeta = namedMeta(read.ObjectMeta)
		return object
	}
	object.Secret = m.doc.object.Secret.DeepCopy()
	legacyscheme.Scheme.Default(object.Secret)
	object.Secret.ObjectMeta = namedMeta(object.Secret.ObjectMeta)
	mergeStringData(object.Secret)
	return object
}

// namedMeta keeps what an author says of an object, in a namespace. Annotations
// are left out: they are for others, and kubectl copies whole Secrets into one.
func namedMeta(meta metav1.ObjectMeta) metav1.ObjectMeta {
	namespace := meta.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return metav1.ObjectMeta{Name: meta.Name, Namespace: namespace, Labels: meta.Labels}
}

// mergeStringData writes stringData over data.
func mergeStringData(secret *v1.Secret) {
	if secret.Data == nil && len(secret.StringData) > 0 {
		secret.Data = make(map[string][]byte, len(secret.StringData))
	}
	for key, value := range secret.StringData {
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
}

// showNames writes the keys of an object. One without a value, or one that
// cannot be a key, may be a value that slipped: {hunter2} is a key in YAML. The
// metadata of an object holds no secrets.
func showNames(path, key string, value *node) string {
	if strings.HasPrefix(path, "metadata") {
		return cut(key, maxKey)
	}
	if value == nil || value.kind == null || len(validation.IsConfigMapKey(key)) > 0 {
		return "…"
	}
	return key
}
