package manifests

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// tellImages refuses image references that carry credentials: no registry takes
// them there, and they would be shown wherever an image is. The text is not told.
func (s *static) tellImages(pod *v1.Pod) {
	check := func(list string, containers []v1.Container) {
		for i, c := range containers {
			if !holdsCredentials(c.Image) {
				continue
			}
			path := fmt.Sprintf("spec.%s[%d].image", list, i)
			at := s.doc.root.find(path)
			s.fault(typeFault{line: at.line, column: at.column, path: path,
				message: "holds a user name or password before the registry; give them to the node's docker config.json"})
		}
	}
	check("initContainers", pod.Spec.InitContainers)
	check("containers", pod.Spec.Containers)
}

// holdsCredentials reports a reference of the form user:password@registry/name.
// The @ of a digest stands behind the last slash.
func holdsCredentials(image string) bool {
	registry, _, found := strings.Cut(image, "/")
	return found && strings.Contains(registry, "@")
}
