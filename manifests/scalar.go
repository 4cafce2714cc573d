package manifests

import (
	"encoding/json"
	"fmt"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"
)

// scalars reads unquoted YAML scalars as Kubernetes does, by YAML 1.1: yes and
// off are booleans, 0x10 and 010 are numbers. sigs.k8s.io/yaml decides, so that
// a manifest means here what it means to kubectl; what it said is remembered
// for the length of one unit.
type scalars struct {
	values map[string]json.RawMessage
	keys   map[string]string
}

func newScalars() scalars {
	return scalars{values: map[string]json.RawMessage{}, keys: map[string]string{}}
}

// value is the JSON of a plain scalar, with the tag before it if it has one.
func (s scalars) value(tag, plain string) (json.RawMessage, error) {
	written := strings.TrimSpace(tag + " " + plain)
	if v, ok := s.values[written]; ok {
		return v, nil
	}
	// As an item of a sequence, because --- alone on a line is a marker.
	v, err := sigsyaml.YAMLToJSON([]byte("- " + written + "\n"))
	if err != nil {
		return nil, err
	}
	v = v[1 : len(v)-1]
	s.values[written] = v
	return v, nil
}

// key is the name that a plain scalar has as a key: 8080 is "8080", on is "true".
func (s scalars) key(plain string) (string, error) {
	if k, ok := s.keys[plain]; ok {
		return k, nil
	}
	v, err := sigsyaml.YAMLToJSON([]byte(plain + ": 0\n"))
	if err != nil {
		return "", err
	}
	var m map[string]int
	if err := json.Unmarshal(v, &m); err != nil || len(m) != 1 {
		return "", fmt.Errorf("not a key")
	}
	for k := range m {
		s.keys[plain] = k
	}
	return s.keys[plain], nil
}

// mayResolve reports whether a plain scalar can be anything but a string, from
// its looks: most are strings, and need no second parser.
func mayResolve(plain string) bool {
	if plain == "" || strings.ContainsAny(plain, " \t\r\n") {
		return plain == ""
	}
	switch c := plain[0]; {
	case c >= '0' && c <= '9':
		return true
	case c == '+' || c == '-':
		return len(plain) > 1 && strings.IndexByte("0123456789._", plain[1]) >= 0
	case c == '.':
		return len(plain) > 1 && strings.IndexByte("0123456789iInN", plain[1]) >= 0
	}
	switch strings.ToLower(plain) {
	case "~", "null", "y", "yes", "n", "no", "on", "off", "true", "false":
		return true
	}
	return false
}
