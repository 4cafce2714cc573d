package podspec

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// InvalidEnvironmentVariableNames is the reason of the note that envFrom sets
// variables which a shell cannot read.
const InvalidEnvironmentVariableNames = "InvalidEnvironmentVariableNames"

// Note is something a user should know although the container works: a Warning
// event of it.
type Note struct {
	Reason  string
	Message string
}

// maxStrings is the size beyond which no kernel takes a process's environment
// and arguments. It also bounds what references to references can grow to.
const maxStrings = 6 << 20

var errTooLong = errors.New("environment and arguments are larger than the 6 MiB that a kernel takes")

// env is a container's environment as far as it is resolved: names in the order
// written (the kubelet's order is a map's), values as the process will see them.
type env struct {
	names  []string       // "" for one that was set again later
	at     map[string]int // place in names
	values map[string]string
	size   int
	notes  []Note
}

// environment resolves the variables of a container one after another: those of
// envFrom in the order of its objects and, within one, of its keys; then those of
// env, whose values may refer to all before them. Of a name set twice the later
// counts, in the later place. No value is ever part of an error or a note.
func environment(c *v1.Container, o objects) (env, error) {
	e := env{at: map[string]int{}, values: map[string]string{}}
	for i := range c.EnvFrom {
		if err := e.addFrom(&c.EnvFrom[i], o); err != nil {
			return env{}, err
		}
	}
	for i := range c.Env {
		if err := e.add(c, &c.Env[i], o); err != nil {
			return env{}, err
		}
	}
	return e, nil
}

// addFrom sets a variable for each key of an object.
func (e *env) addFrom(from *v1.EnvFromSource, o objects) error {
	found, err := o.envFrom(from)
	if found == nil || err != nil {
		return err
	}
	var unreadable []string
	for _, key := range found.keys() {
		name := from.Prefix + key
		if len(validation.IsCIdentifier(name)) > 0 {
			unreadable = append(unreadable, name)
		}
		value, _ := found.get(key)
		if err := e.set(name, value); err != nil {
			return fmt.Errorf("key %s of %s %s/%s: %w", key, found.kind, o.namespace, found.name, err)
		}
	}
	if len(unreadable) > 0 {
		e.notes = append(e.notes, Note{Reason: InvalidEnvironmentVariableNames, Message: fmt.Sprintf(
			"Keys [%s] from the EnvFrom %s %s/%s are considered invalid environment variable names: they are set all the same, but shells cannot read them.",
			strings.Join(unreadable, ", "), found.kind, o.namespace, found.name)})
	}
	return nil
}

// envFrom looks up the object of an envFrom entry; nil for one that may be
// missing and is.
func (o objects) envFrom(from *v1.EnvFromSource) (*texts, error) {
	switch {
	case from.ConfigMapRef != nil:
		return o.configMap(from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
	case from.SecretRef != nil:
		return o.secret(from.SecretRef.Name, from.SecretRef.Optional)
	}
	return nil, errors.New("an envFrom entry names neither a ConfigMap nor a Secret")
}

// add sets one variable of env. A value from elsewhere is not expanded.
func (e *env) add(c *v1.Container, v *v1.EnvVar, o objects) error {
	if v.ValueFrom == nil || v.Value != "" {
		value, err := e.expand(v.Value)
		if err == nil {
			err = e.set(v.Name, value)
		}
		if err != nil {
			return fmt.Errorf("variable %q of container %q: %w", v.Name, c.Name, err)
		}
		return nil
	}
	found, key, optional, err := o.keyRef(v.ValueFrom)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return fmt.Errorf("valueFrom of variable %q of container %q is not supported", v.Name, c.Name)
	case found == nil || err != nil:
		return err
	}
	value, ok := found.get(key)
	if !ok {
		return unlessOptional(optional, fmt.Errorf("couldn't find key %s in %s %s/%s", key, found.kind, o.namespace, found.name))
	}
	if err := e.set(v.Name, value); err != nil {
		return fmt.Errorf("key %s of %s %s/%s: %w", key, found.kind, o.namespace, found.name, err)
	}
	return nil
}

// keyRef looks up the object of a valueFrom; nil for one that may be missing and
// is. What is no object is errors.ErrUnsupported.
func (o objects) keyRef(from *v1.EnvVarSource) (found *texts, key string, optional *bool, err error) {
	switch {
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		found, err = o.configMap(ref.Name, ref.Optional)
		return found, ref.Key, ref.Optional, err
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		found, err = o.secret(ref.Name, ref.Optional)
		return found, ref.Key, ref.Optional, err
	}
	return nil, "", nil, errors.ErrUnsupported
}

// set adds a variable, or moves it to the end with its new value.
func (e *env) set(name, value string) error {
	if err := checkVariable(name, value); err != nil {
		return err
	}
	if err := e.grow(name, value); err != nil {
		return err
	}
	if place, again := e.at[name]; again {
		e.names[place] = ""
	}
	e.at[name] = len(e.names)
	e.names = append(e.names, name)
	e.values[name] = value
	return nil
}

func (e *env) grow(texts ...string) error {
	for _, text := range texts {
		e.size += len(text)
	}
	if e.size > maxStrings {
		return errTooLong
	}
	return nil
}

// checkVariable refuses what cannot reach a process: the engine's JSON holds
// UTF-8 alone, and the kernel ends a string at its first NUL byte. An altered
// value would be worse than none.
func checkVariable(name, value string) error {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00") || !utf8.ValidString(name):
		return fmt.Errorf("%q cannot be the name of an environment variable", name)
	case strings.ContainsRune(value, 0):
		return errors.New("an environment variable cannot hold a value with a NUL byte: mount it as a file")
	case !utf8.ValidString(value):
		return errors.New("an environment variable cannot hold a value that is not UTF-8: mount it as a file")
	}
	return nil
}

// expand replaces $(NAME) by the variable's value; $$ is a dollar sign, and a
// reference to nothing stays as it is.
func (e *env) expand(text string) (string, error) {
	value, left := expansion.MappingFuncFor(e.values), maxStrings-len(text)
	expanded := expansion.Expand(text, func(name string) string {
		v := value(name)
		if left -= len(v); left < 0 {
			return ""
		}
		return v
	})
	if left < 0 {
		return "", errTooLong
	}
	return expanded, nil
}

// expandAll expands each word; no words stay nil, which means the image's.
func (e *env) expandAll(words []string) ([]string, error) {
	var all []string
	for _, w := range words {
		expanded, err := e.expand(w)
		if err == nil {
			err = e.grow(expanded)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, expanded)
	}
	return all, nil
}

// list is the environment as NAME=value.
func (e *env) list() []string {
	var all []string
	for _, name := range e.names {
		if name != "" {
			all = append(all, name+"="+e.values[name])
		}
	}
	return all
}
