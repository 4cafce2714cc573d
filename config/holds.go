package config

import (
	"strings"

	yamlnode "go.yaml.in/yaml/v4"
)

// Holds reports whether any document of a file is meant to be a
// configuration of podstead's or of a kubelet, well written or not.
func Holds(data []byte) bool {
	for _, doc := range splitDocuments(data) {
		var meta struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string `yaml:"kind"`
		}
		if yamlnode.Unmarshal(doc.text, &meta) != nil {
			continue
		}
		group, _, grouped := strings.Cut(meta.APIVersion, "/")
		if meta.Kind == "KubeletConfiguration" || meta.Kind == DocumentKind && (!grouped || group == "podstead") {
			return true
		}
	}
	return false
}
