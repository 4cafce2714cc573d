package manifests

import (
	"fmt"
	"strings"
)

// Annotations that mean something to the kubelet or to podstead. The kubelet's
// names are those of its package types.
const (
	annotationHash     = "kubernetes.io/config.hash"
	annotationSource   = "kubernetes.io/config.source"
	annotationSeen     = "kubernetes.io/config.seen"
	annotationMirror   = "kubernetes.io/config.mirror"
	annotationAppArmor = "container.apparmor.security.beta.kubernetes.io/"
	annotationOurs     = "podstead/"
	annotationDevices  = "podstead/devices"
)

// checkAnnotations judges the annotations of a pod as fieldRules judges its
// fields: those that ask for something that is not done are refused.
func (c *supportCheck) checkAnnotations(annotations *node) {
	if annotations == nil {
		return
	}
	for _, f := range annotations.fields {
		if f.value.dropped {
			continue
		}
		path := "metadata.annotations[" + f.key + "]"
		switch {
		case f.key == annotationMirror:
			c.refuse(f, path, "a copy of a mirror pod: remove this annotation and the node's name from metadata.name")
		case f.key == annotationHash || f.key == annotationSource || f.key == annotationSeen:
			c.ignored = append(c.ignored, typeFault{line: f.line, column: f.column, path: path})
		case strings.HasPrefix(f.key, annotationAppArmor) && f.value.scalar != "runtime/default":
			c.refuse(f, path, "not supported yet: AppArmor profiles (planned)")
		case strings.HasPrefix(f.key, annotationOurs):
			c.refuse(f, path, fmt.Sprintf("not supported yet: annotation %s (planned)", cut(f.key, 60)))
		}
	}
}

// shapesContainers reports whether an annotation decides how containers are
// made, so that changing it makes another pod.
func shapesContainers(key string) bool {
	return key == annotationDevices || strings.HasPrefix(key, annotationAppArmor)
}
