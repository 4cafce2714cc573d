package cli

import (
	"cmp"
	"fmt"

	v1 "k8s.io/api/core/v1"
)

// printEnvironment writes the variables of a container. Where one comes from an
// object, that is told, and never what is in it.
func printEnvironment(p page, pod *v1.Pod, c *v1.Container) {
	if len(c.EnvFrom) > 0 {
		p.head(2, "Environment Variables from")
		for _, from := range c.EnvFrom {
			printEnvFrom(p, from)
		}
	}
	if len(c.Env) == 0 {
		p.line(2, "Environment", "<none>")
		return
	}
	p.head(2, "Environment")
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			p.line(3, e.Name, e.Value)
			continue
		}
		value, optional := valueFrom(pod, e.ValueFrom)
		cells := []string{e.Name + ":", value}
		if optional != nil {
			cells = append(cells, fmt.Sprintf("Optional: %t", *optional))
		}
		p.row(3, cells...)
	}
}

func printEnvFrom(p page, from v1.EnvFromSource) {
	name, kind, optional := "", "", false
	switch {
	case from.ConfigMapRef != nil:
		name, kind, optional = from.ConfigMapRef.Name, "ConfigMap", isTrue(from.ConfigMapRef.Optional)
	case from.SecretRef != nil:
		name, kind, optional = from.SecretRef.Name, "Secret", isTrue(from.SecretRef.Optional)
	}
	prefix := ""
	if from.Prefix != "" {
		prefix = fmt.Sprintf(" with prefix '%s'", from.Prefix)
	}
	p.row(3, name, kind+prefix, fmt.Sprintf("Optional: %t", optional))
}

// valueFrom says where a variable's value comes from, in kubectl's words; optional
// is nil where it means nothing.
func valueFrom(pod *v1.Pod, from *v1.EnvVarSource) (text string, optional *bool) {
	told := func(o *bool) *bool { is := isTrue(o); return &is }
	switch {
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		return fmt.Sprintf("<set to the key '%s' of config map '%s'>", ref.Key, ref.Name), told(ref.Optional)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		return fmt.Sprintf("<set to the key '%s' in secret '%s'>", ref.Key, ref.Name), told(ref.Optional)
	case from.FieldRef != nil:
		return fieldValue(pod, from.FieldRef.FieldPath) + fmt.Sprintf(" (%s:%s)", cmp.Or(from.FieldRef.APIVersion, "v1"), from.FieldRef.FieldPath), nil
	case from.ResourceFieldRef != nil:
		ref := from.ResourceFieldRef
		text := "resource: " + ref.Resource
		if ref.ContainerName != "" {
			text += " of container " + ref.ContainerName
		}
		return text, nil
	}
	return "<unknown>", nil
}

// fieldValue is the value of those fields that people look for.
func fieldValue(pod *v1.Pod, path string) string {
	return map[string]string{
		"metadata.name": pod.Name, "metadata.namespace": pod.Namespace, "metadata.uid": string(pod.UID),
		"spec.nodeName": pod.Spec.NodeName, "status.podIP": pod.Status.PodIP, "status.hostIP": pod.Status.HostIP,
	}[path]
}

func isTrue(b *bool) bool { return b != nil && *b }
