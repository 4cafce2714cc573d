package manifests

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	core "k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
)

func (m *objectMaking) tellInvalid(object *Object) {
	if object.Ref().Name == "" {
		at := m.doc.root.find("metadata")
		m.fault(typeFault{line: at.line, column: at.column, path: "metadata.name", message: "missing: nothing could refer to it"})
		return
	}
	errs, err := object.validate(m.doc.Annotations)
	if err != nil {
		m.fault(typeFault{line: m.doc.Place.Line, column: m.doc.Place.Column, message: err.Error()})
	}
	if len(errs) > maxTypeFaults {
		errs = errs[:maxTypeFaults]
	}
	for _, e := range errs {
		at, path := m.locate(e.Field, object)
		m.fault(typeFault{line: at.line, column: at.column, path: path, message: object.describe(e)})
	}
}

// validate is Kubernetes' own validation, with the annotations as written: some
// types of Secrets must have one.
func (o *Object) validate(annotations map[string]string) (field.ErrorList, error) {
	if o.ConfigMap != nil {
		internal := &core.ConfigMap{}
		// The conversion shares memory with what it is given.
		if err := corev1.Convert_v1_ConfigMap_To_core_ConfigMap(o.ConfigMap.DeepCopy(), internal, nil); err != nil {
			return nil, fmt.Errorf("convert %s: %w", o.Ref(), err)
		}
		internal.Annotations = annotations
		return corevalidation.ValidateConfigMap(internal), nil
	}
	internal := &core.Secret{}
	if err := corev1.Convert_v1_Secret_To_core_Secret(o.Secret.DeepCopy(), internal, nil); err != nil {
		return nil, fmt.Errorf("convert %s: %w", o.Ref(), err)
	}
	internal.Annotations = annotations
	return corevalidation.ValidateSecret(internal), nil
}

// locate is where a field of the validated object was written, and its path as
// it may be told: what became data may have been stringData, and a key that is
// none is not told of a Secret, where it may be a value in the wrong place.
func (m *objectMaking) locate(path string, object *Object) (*node, string) {
	if path == "[]" { // how an empty path is written: the whole object
		return m.doc.root, ""
	}
	bag, key, found := strings.Cut(strings.TrimSuffix(path, "]"), "[")
	if !found || bag != "data" && bag != "binaryData" {
		return m.doc.root.find(path), path
	}
	if bag == "data" && m.doc.root.get("stringData").get(key) != nil {
		bag = "stringData"
	}
	at := m.doc.root.find(bag)
	value := at.get(key)
	if value == nil { // it is missing
		return at, bag + "[" + key + "]"
	}
	if len(validation.IsConfigMapKey(key)) > 0 && (object.Secret != nil || !tellable(key)) {
		key = "…"
	}
	return value, bag + "[" + key + "]"
}

// tellable reports a key that looks like a name or a path, and not like text
// that has lost its way.
func tellable(key string) bool {
	const longest = 80
	foreign := func(r rune) bool {
		return !strings.ContainsRune("-._/:@+", r) && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}
	return key != "" && len(key) <= longest && !strings.ContainsFunc(key, foreign)
}

// describe is a validation error in the API server's words where they cannot
// quote a value, otherwise in ours.
func (o *Object) describe(err *field.Error) string {
	switch {
	case err.Field == "metadata.name" || err.Field == "metadata.namespace":
		return cut(err.ErrorBody(), 500)
	case err.Type == field.ErrorTypeTooLong:
		return fmt.Sprintf("larger than the limit of %d bytes for all values of a %s", core.MaxSecretSize, o.Ref().Kind)
	case err.Type == field.ErrorTypeRequired && o.Secret != nil:
		return fmt.Sprintf("missing: a Secret of type %s needs it", cut(string(o.Secret.Type), 60))
	case strings.HasPrefix(err.Field, "data[") && o.holdsJSON(err.Field):
		return fmt.Sprintf("not a JSON object, as type %s wants it", o.Secret.Type)
	}
	return err.Type.String() + ": " + err.Detail
}

// holdsJSON reports a field whose text Kubernetes parses; the parser's errors
// quote it.
func (o *Object) holdsJSON(path string) bool {
	if o.Secret == nil {
		return false
	}
	switch strings.TrimSuffix(strings.TrimPrefix(path, "data["), "]") {
	case core.DockerConfigKey:
		return o.Secret.Type == v1.SecretTypeDockercfg
	case core.DockerConfigJSONKey:
		return o.Secret.Type == v1.SecretTypeDockerConfigJson
	}
	return false
}
