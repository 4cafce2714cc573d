package main

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/podstead/podstead/cli"
	yamlnode "go.yaml.in/yaml/v4"
)

// holdsConfiguration reports whether any document of a file is meant to be a
// configuration of podstead's or of a kubelet, well written or not.
func holdsConfiguration(data []byte) bool {
	for _, doc := range splitDocuments(data) {
		var meta struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string `yaml:"kind"`
		}
		if yamlnode.Unmarshal(doc.text, &meta) != nil {
			continue
		}
		group, _, grouped := strings.Cut(meta.APIVersion, "/")
		if meta.Kind == "KubeletConfiguration" || meta.Kind == documentKind && (!grouped || group == "podstead") {
			return true
		}
	}
	return false
}

// configuration checks a file as `podstead run --config` would.
func (c *checked) configuration(path string, data []byte) {
	c.configurations++
	_, warnings, err := loadConfigBy(runFlags{Config: path}, filepath.Dir(path), func(string) ([]byte, error) { return data, nil })
	asGiven := func(text string) string {
		if rest, ok := strings.CutPrefix(text, cli.Absolute(path)+":"); ok {
			return path + ":" + rest
		}
		return path + ": " + text
	}
	for _, fault := range each(err) {
		c.wrong = append(c.wrong, asGiven(fault.Error()))
	}
	for _, w := range warnings {
		c.odd = append(c.odd, asGiven(w))
	}
}

// each are the errors that were joined, unless whoever wraps them adds to them.
func each(err error) []error {
	var joined interface {
		error
		Unwrap() []error
	}
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &joined) || joined.Error() != err.Error():
		return []error{err}
	}
	var all []error
	for _, inner := range joined.Unwrap() {
		all = append(all, each(inner)...)
	}
	return all
}
