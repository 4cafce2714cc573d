package podspec

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// env is a container's environment as far as it is resolved: names in the order
// written (the kubelet's order is a map's), values as the process will see them.
type env struct {
	names  []string
	values map[string]string
}

// environment resolves the variables of a container one after another, so that
// a value may refer to those before it. Of a name written twice the later
// counts, in the later place.
func environment(c *v1.Container) (env, error) {
	e := env{values: map[string]string{}}
	if len(c.EnvFrom) > 0 {
		return env{}, fmt.Errorf("envFrom of container %q is not supported", c.Name)
	}
	for _, v := range c.Env {
		if v.ValueFrom != nil && v.Value == "" {
			return env{}, fmt.Errorf("valueFrom of variable %q of container %q is not supported", v.Name, c.Name)
		}
		e.set(v.Name, e.expand(v.Value))
	}
	return e, nil
}

func (e *env) set(name, value string) {
	if _, again := e.values[name]; again {
		e.names = slices.DeleteFunc(e.names, func(n string) bool { return n == name })
	}
	e.names = append(e.names, name)
	e.values[name] = value
}

// expand replaces $(NAME) by the variable's value; $$ is a dollar sign, and a
// reference to nothing stays as it is.
func (e *env) expand(text string) string {
	return expansion.Expand(text, expansion.MappingFuncFor(e.values))
}

// expandAll expands each word; no words stay nil, which means the image's.
func (e *env) expandAll(words []string) []string {
	var all []string
	for _, w := range words {
		all = append(all, e.expand(w))
	}
	return all
}

// list is the environment as NAME=value.
func (e *env) list() []string {
	var all []string
	for _, name := range e.names {
		all = append(all, name+"="+e.values[name])
	}
	return all
}
