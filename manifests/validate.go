package manifests

import (
	"fmt"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	core "k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"
)

// validate is Kubernetes' own validation of a defaulted pod, with the options
// that the pod's own fields ask for, as the kubelet runs it over static pods.
func validate(pod *v1.Pod) (field.ErrorList, error) {
	internal := &core.Pod{}
	// The conversion shares memory with what it is given.
	if err := corev1.Convert_v1_Pod_To_core_Pod(pod.DeepCopy(), internal, nil); err != nil {
		return nil, fmt.Errorf("convert pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&internal.Spec, nil, &internal.ObjectMeta, nil)
	return validation.ValidatePodCreate(internal, opts), nil
}

// describe is a validation error in the API server's words, without values
// that may be secret: only enumerations, names and numbers are repeated.
func describe(err *field.Error) string {
	if mayBeSecret(err.Field) || !isPlain(err.BadValue) {
		if err.Detail == "" {
			return err.Type.String()
		}
		return err.Type.String() + ": " + err.Detail
	}
	return cut(err.ErrorBody(), 500)
}

// mayBeSecret reports whether the value of a field can be one that its author
// would not want to see in a log.
func mayBeSecret(path string) bool {
	for _, part := range []string{".env[", ".args", ".command", "metadata.annotations"} {
		if strings.Contains(path, part) && !strings.HasSuffix(path, "].name") {
			return true
		}
	}
	return false
}

// isPlain reports whether a value is a single word or number, or nothing.
func isPlain(value any) bool {
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Interface, reflect.Func:
		return false
	}
	return true
}
