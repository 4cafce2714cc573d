package docker

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/podstead/podstead/runtime"
)

// Labels of every container. The first ones are the kubelet's, by which tools
// find pods; io.kubernetes.docker.type is empty on purpose, for by that one a
// cri-dockerd on the same host would claim them.
const (
	labelPodName     = "io.kubernetes.pod.name"
	labelNamespace   = "io.kubernetes.pod.namespace"
	labelUID         = "io.kubernetes.pod.uid"
	labelContainer   = "io.kubernetes.container.name"
	labelSandboxID   = "io.kubernetes.sandbox.id"
	labelClaimed     = "io.kubernetes.docker.type"
	labelCompose     = "com.docker.compose.project"
	labelNode        = "podstead.node"
	labelNodeID      = "podstead.node-id"
	labelAttempt     = "podstead.attempt"
	labelMessagePath = "podstead.message-path"
	labelNetwork     = "podstead.network"
)

// sandboxContainer is what a sandbox has in place of a container name.
const sandboxContainer = "POD"

// identity is what a container's name and labels say, twice over.
type identity struct {
	pod         runtime.PodRef
	container   string // sandboxContainer for a sandbox
	attempt     int
	sandboxID   string // "" for a sandbox
	messagePath string
}

func (i identity) sandbox() bool { return i.container == sandboxContainer }

// name is the classic one of the kubelet. Kubernetes' names hold no
// underscore, so no two identities have one name.
func (i identity) name() string {
	return strings.Join([]string{"k8s", i.container, i.pod.Name, i.pod.Namespace, i.pod.UID, strconv.Itoa(i.attempt)}, "_")
}

// labels returns all that is read back, empty where there is nothing to say, and
// empty what would make a container another program's: an image's label of the
// same key would shine through otherwise.
func (i identity) labels(nodeName, nodeID string) map[string]string {
	return map[string]string{
		labelPodName:     i.pod.Name,
		labelNamespace:   i.pod.Namespace,
		labelUID:         i.pod.UID,
		labelContainer:   i.container,
		labelSandboxID:   i.sandboxID,
		labelNode:        nodeName,
		labelNodeID:      nodeID,
		labelAttempt:     strconv.Itoa(i.attempt),
		labelMessagePath: i.messagePath,
		labelClaimed:     "",
	}
}

// identify reads a container's labels and holds them against its name, which
// may bear a random suffix. Whatever does not agree is not ours.
func identify(name string, labels map[string]string, nodeID string) (identity, error) {
	attempt, err := strconv.Atoi(labels[labelAttempt])
	if err != nil {
		return identity{}, fmt.Errorf("label %s: %w", labelAttempt, err)
	}
	i := identity{
		pod: runtime.PodRef{
			UID:       labels[labelUID],
			Namespace: labels[labelNamespace],
			Name:      labels[labelPodName],
		},
		container:   labels[labelContainer],
		attempt:     attempt,
		sandboxID:   labels[labelSandboxID],
		messagePath: labels[labelMessagePath],
	}
	if owner := labels[labelNodeID]; owner != nodeID {
		return identity{}, fmt.Errorf("label %s is %q, not %q", labelNodeID, owner, nodeID)
	}
	name = strings.TrimPrefix(name, "/")
	rest, ok := strings.CutPrefix(name, i.name())
	if !ok || i.pod.UID == "" || (rest != "" && !isSuffix(rest)) {
		return identity{}, fmt.Errorf("name %q is not %q, as its labels have it", name, i.name())
	}
	return i, nil
}

// isSuffix reports whether rest is what tells a container from a foreign one
// of the same name: "_" and hex digits.
func isSuffix(rest string) bool {
	digits, ok := strings.CutPrefix(rest, "_")
	return ok && digits != "" && strings.Trim(digits, "0123456789abcdef") == ""
}
