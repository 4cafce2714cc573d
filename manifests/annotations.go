package manifests

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
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

// Annotations under which a pod is shown with where it comes from. They are put
// on a shown pod and are no part of one; in a manifest made from what was shown
// they mean nothing.
const (
	AnnotationSource   = "podstead/source"
	AnnotationManifest = "podstead/manifest"
	AnnotationRevision = "podstead/revision"
	// AnnotationLastAct is a time in RFC 3339 and what was done then, and why.
	AnnotationLastAct = "podstead/last-act"
)

// Annotations that ask podstead for something.
const (
	// AnnotationRestart on a pod, "true" or "false": whether a container that uses
	// an object is restarted in place when the object changes.
	AnnotationRestart = "podstead/restart-on-change"
	// AnnotationNodeSelector on an object is a label selector as kubectl takes it:
	// the object is only for the nodes whose labels it selects.
	AnnotationNodeSelector = "podstead/node-selector"
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
		case isShown(f.key):
			c.ignored = append(c.ignored, typeFault{line: f.line, column: f.column, path: path})
		case strings.HasPrefix(f.key, annotationAppArmor) && f.value.scalar != "runtime/default":
			c.refuse(f, path, "not supported yet: AppArmor profiles (planned)")
		case f.key == AnnotationRestart && f.value.scalar != "true" && f.value.scalar != "false":
			c.refuse(f, path, `want "true" or "false"`)
		case f.key == AnnotationRestart:
		case f.key == AnnotationNodeSelector:
			c.refuse(f, path, "is for ConfigMaps and Secrets; a pod has spec.nodeSelector")
		case strings.HasPrefix(f.key, annotationOurs):
			c.refuse(f, path, fmt.Sprintf("not supported yet: annotation %s (planned)", cut(f.key, 60)))
		}
	}
}

// checkObjectAnnotations does the same for an object.
func (c *supportCheck) checkObjectAnnotations(annotations *node) {
	if annotations == nil {
		return
	}
	for _, f := range annotations.fields {
		path := "metadata.annotations[" + f.key + "]"
		switch {
		case f.value.dropped || !strings.HasPrefix(f.key, annotationOurs):
		case f.key == AnnotationNodeSelector:
			if _, err := labels.Parse(f.value.scalar); err != nil {
				c.refuse(f, path, "not a label selector as kubectl takes it: "+cut(err.Error(), 200))
			}
		case isShown(f.key):
			c.ignored = append(c.ignored, typeFault{line: f.line, column: f.column, path: path})
		case f.key == AnnotationRestart:
			c.refuse(f, path, "is for pods: it says which of them restart when an object changes")
		default:
			c.refuse(f, path, fmt.Sprintf("not supported: annotation %s", cut(f.key, 60)))
		}
	}
}

// isShown reports an annotation that the node puts on what it shows.
func isShown(key string) bool {
	switch key {
	case annotationHash, annotationSource, annotationSeen, AnnotationSource, AnnotationManifest, AnnotationRevision, AnnotationLastAct:
		return true
	}
	return false
}

// shapesContainers reports whether an annotation decides how containers are
// made, so that changing it makes another pod.
func shapesContainers(key string) bool {
	return key == annotationDevices || strings.HasPrefix(key, annotationAppArmor)
}
