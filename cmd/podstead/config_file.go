package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	yamlnode "go.yaml.in/yaml/v4"
	kubelet "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"
)

// maxConfigFile bounds what is read of a configuration file, in bytes.
const maxConfigFile = 1 << 20

// honoured are the fields of a KubeletConfiguration that podstead acts on.
func honoured() []string {
	return []string{
		"apiVersion", "kind", "staticPodPath", "fileCheckFrequency", "syncFrequency",
		"maxPods", "serializeImagePulls", "containerLogMaxSize", "containerLogMaxFiles",
	}
}

// formerFields are fields that v1beta1 had in other releases (1.10 to 1.37)
// than the one whose type is built in.
func formerFields() []string { return []string{"configTrialDuration", "logFormat", "loggingConfig"} }

// fileConfig is a configuration file that has been read.
type fileConfig struct {
	kubelet  kubelet.KubeletConfiguration
	warnings []string // set fields without an effect
}

// apply lays the file over c. What it does not set, or sets to zero, stays.
func (f fileConfig) apply(c *Config) error {
	var bad faults
	k := f.kubelet
	if k.StaticPodPath != "" {
		c.Manifests = []string{k.StaticPodPath}
	}
	if d := k.FileCheckFrequency.Duration; d != 0 {
		c.FileCheckFrequency = d
	}
	if d := k.SyncFrequency.Duration; d != 0 {
		c.SyncFrequency = d
	}
	if k.MaxPods != 0 {
		c.MaxPods = int(k.MaxPods)
	}
	if k.SerializeImagePulls != nil {
		c.SerializeImagePulls = *k.SerializeImagePulls
	}
	if k.ContainerLogMaxFiles != nil && *k.ContainerLogMaxFiles != 0 {
		c.LogMaxFiles = int(*k.ContainerLogMaxFiles)
	}
	if k.ContainerLogMaxSize != "" {
		size, err := parseSize(k.ContainerLogMaxSize)
		bad.check(err == nil, "containerLogMaxSize", "%v", err)
		if err == nil {
			c.LogMaxSize = size
		}
	}
	return bad.err()
}

// readConfigFile reads a file strictly; the error holds every fault, with line
// and column.
func readConfigFile(path string) (fileConfig, error) {
	file, err := os.Open(path)
	if err != nil {
		return fileConfig{}, fmt.Errorf("read --config: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxConfigFile+1))
	if err != nil {
		return fileConfig{}, fmt.Errorf("read --config %s: %w", path, err)
	}
	if len(data) > maxConfigFile {
		return fileConfig{}, fmt.Errorf("%s: over %d bytes long, which no configuration is", path, maxConfigFile)
	}
	return decodeConfig(path, data)
}

// decodeConfig reads the one KubeletConfiguration of a file.
func decodeConfig(path string, data []byte) (fileConfig, error) {
	doc, err := onlyDocument(path, data)
	if err != nil {
		return fileConfig{}, err
	}
	raw, err := yaml.YAMLToJSONStrict(doc)
	if err != nil {
		return fileConfig{}, fmt.Errorf("%s: %w", path, err)
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return fileConfig{}, fmt.Errorf("%s: not an object with fields", path)
	}
	if err := checkKind(path, values); err != nil {
		return fileConfig{}, err
	}
	return decodeFields(path, values, keyPlaces(doc))
}

// onlyDocument returns the document of the file that is not empty, moved to the
// line where it stood so that later errors name it.
func onlyDocument(path string, data []byte) ([]byte, error) {
	var found []byte
	line := 0
	for _, doc := range splitDocuments(data) {
		at := line
		line += bytes.Count(doc, []byte("\n"))
		var node yamlnode.Node
		if err := yamlnode.Unmarshal(doc, &node); err != nil {
			return nil, fmt.Errorf("%s: document at line %d: %w", path, at+1, err)
		}
		if len(node.Content) == 0 || node.Content[0].Tag == "!!null" {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s:%d: a second document is not read by this version: "+
				"kind Configuration of podstead/v1alpha1 (named sources) comes with a later one; keep one KubeletConfiguration", path, at+1)
		}
		found = append(bytes.Repeat([]byte("\n"), at), doc...)
	}
	if found == nil {
		return nil, fmt.Errorf("%s: holds no configuration", path)
	}
	return found, nil
}

// splitDocuments cuts at the lines that begin with ---; such a line becomes an
// empty one of the document it opens.
func splitDocuments(data []byte) [][]byte {
	var docs [][]byte
	var doc []byte
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		rest, marker := bytes.CutPrefix(line, []byte("---"))
		if marker && len(bytes.TrimLeft(rest, " \t\r\n")) != len(rest) || marker && len(rest) == 0 {
			docs = append(docs, doc)
			doc = append([]byte(nil), rest...)
			continue
		}
		doc = append(doc, line...)
	}
	return append(docs, doc)
}

func checkKind(path string, values map[string]json.RawMessage) error {
	var meta struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	for key, into := range map[string]*string{"apiVersion": &meta.APIVersion, "kind": &meta.Kind} {
		_ = json.Unmarshal(values[key], into) // what is not text is not what is wanted either
	}
	want := kubelet.SchemeGroupVersion.String()
	switch {
	case meta.Kind == "Configuration" && strings.HasPrefix(meta.APIVersion, "podstead/"):
		return fmt.Errorf("%s: kind Configuration of %s (named sources) is not read by this version; give sources with --pod-manifest-path", path, meta.APIVersion)
	case meta.APIVersion != want || meta.Kind != "KubeletConfiguration":
		return fmt.Errorf("%s: is apiVersion %q, kind %q; must be %s, KubeletConfiguration", path, meta.APIVersion, meta.Kind, want)
	}
	return nil
}

// decodeFields decodes each field by itself, so that every fault is found, and
// notes those that have no effect.
func decodeFields(path string, values map[string]json.RawMessage, places map[string]string) (fileConfig, error) {
	var out fileConfig
	var bad []error
	fields := fieldsOf(reflect.ValueOf(&out.kubelet).Elem())
	effective := honoured()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		place := path + places[key]
		field, known := fields[key]
		switch {
		case slices.Contains(formerFields(), key):
			out.warnings = append(out.warnings, fmt.Sprintf("%s: %s is of another Kubernetes release and has no effect in podstead", place, key))
		case !known:
			bad = append(bad, fmt.Errorf("%s: %s: unknown field%s", place, key, nearest(key, fields)))
		default:
			if err := yaml.UnmarshalStrict(values[key], field.Addr().Interface()); err != nil {
				bad = append(bad, fmt.Errorf("%s: %s: %s", place, key, plainly(err)))
			} else if !slices.Contains(effective, key) && !field.IsZero() {
				out.warnings = append(out.warnings, fmt.Sprintf("%s: %s has no effect in podstead", place, key))
			}
		}
	}
	return out, errors.Join(bad...)
}

// fieldsOf maps JSON names to the fields of a struct, those of embedded structs included.
func fieldsOf(v reflect.Value) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch {
		case name != "" && name != "-":
			fields[name] = v.Field(i)
		case v.Type().Field(i).Anonymous:
			for inner, field := range fieldsOf(v.Field(i)) {
				fields[inner] = field
			}
		}
	}
	return fields
}

// nearest finds what may have been meant by a key that differs in case alone.
func nearest(key string, fields map[string]reflect.Value) string {
	for name := range fields {
		if strings.EqualFold(name, key) {
			return "; did you mean " + name + "?"
		}
	}
	return ""
}

// plainly strips the words by which the decoders introduce themselves.
func plainly(err error) string {
	text := err.Error()
	for _, prefix := range []string{"error unmarshaling JSON: ", "while decoding JSON: ", "json: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// keyPlaces gives :line:column of each top-level key.
func keyPlaces(doc []byte) map[string]string {
	places := map[string]string{}
	var node yamlnode.Node
	if yamlnode.Unmarshal(doc, &node) != nil || len(node.Content) == 0 {
		return places
	}
	pairs := node.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		places[pairs[i].Value] = fmt.Sprintf(":%d:%d", pairs[i].Line, pairs[i].Column)
	}
	return places
}
