package manifests

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// supportCheck walks a pod as written against fieldRules.
type supportCheck struct {
	refused []typeFault
	ignored []typeFault // what a server had set
}

// checkSupport says which fields of a pod podstead does not run, and which it
// leaves out because a server had set them. What is dropped as unknown or of a
// wrong type has been told already.
func checkSupport(root *node) supportCheck {
	var c supportCheck
	c.walk(root, "", "")
	return c
}

// checkObjectSupport does the same for an object: all it can hold is honoured
// but what a server sets in its metadata.
func checkObjectSupport(root *node) supportCheck {
	var c supportCheck
	metadata := root.get("metadata")
	if metadata == nil {
		return c
	}
	c.walk(metadata, "metadata", "metadata")
	c.checkObjectAnnotations(metadata.get("annotations"))
	return c
}

// walk goes down with two paths: the one in fieldRules, and the one to show.
func (c *supportCheck) walk(n *node, generic, path string) {
	for _, f := range n.fields {
		below := child(generic, f.key)
		if !f.value.dropped || fieldRules[below].verdict == server {
			c.look(f.value, below, child(path, f.key), f)
		}
	}
	for i, item := range n.items {
		if !item.dropped {
			c.look(item, genericItem(generic), path+"["+strconv.Itoa(i)+"]", member{line: item.line, column: item.column})
		}
	}
}

// genericItem names the items of a list; some lists hold the same.
func genericItem(generic string) string {
	switch generic {
	case "spec.containers", "spec.initContainers":
		return "container"
	case "spec.volumes[].projected.sources":
		return "projection"
	case "spec.volumes[].configMap.items", "spec.volumes[].secret.items", "projection.configMap.items", "projection.secret.items":
		return "keyToPath"
	}
	return generic + "[]"
}

func (c *supportCheck) look(n *node, generic, path string, at member) {
	r := fieldRules[generic]
	switch {
	case r.verdict == inside:
		c.walk(n, generic, path)
	case r.verdict == honoured:
		c.keys(n, r, path)
	case r.verdict == idle || slices.Contains(r.values, n.scalar) || isUnset(n) && !isTrueByDefault(r, n):
	case r.verdict == server && n.kind == object && len(n.fields) == 0: // kubectl's status: {}
	case r.verdict == server:
		c.ignored = append(c.ignored, typeFault{line: at.line, column: at.column, path: path})
	default:
		c.refuse(at, path, refusal(r, n, at.key))
	}
}

// keys refuses members that an honoured object may not have: resources that
// the engine has no limit for.
func (c *supportCheck) keys(n *node, r rule, path string) {
	if r.keys == nil {
		return
	}
	for _, f := range n.fields {
		if !slices.Contains(r.keys, f.key) && !f.value.dropped {
			c.refuse(f, path+"["+f.key+"]", refusal(rule{verdict: planned}, n, f.key))
		}
	}
}

func (c *supportCheck) refuse(at member, path, message string) {
	if len(c.refused) < maxTypeFaults {
		c.refused = append(c.refused, typeFault{line: at.line, column: at.column, path: path, message: message})
	}
}

// isUnset reports whether a value is what Kubernetes leaves out: the field is
// not used, even though it is written.
func isUnset(n *node) bool {
	switch n.kind {
	case null:
		return true
	case text:
		return n.scalar == ""
	case boolean:
		return n.scalar == "false"
	case list:
		return len(n.items) == 0
	}
	return false
}

// isTrueByDefault reports whether false, for this field, asks for something.
func isTrueByDefault(r rule, n *node) bool {
	return n.kind == boolean && slices.Contains(r.values, "true")
}

func refusal(r rule, n *node, name string) string {
	if len(r.values) > 0 && (n.kind == text || n.kind == boolean) {
		name += " " + cut(n.scalar, 60)
	}
	switch r.verdict {
	case never:
		return fmt.Sprintf("not supported: %s (%s)", name, r.why)
	case planned:
		if len(r.values) > 0 {
			return fmt.Sprintf("not supported yet: %s (planned; supported now: %s)", name, strings.Join(r.values, ", "))
		}
		return fmt.Sprintf("not supported yet: %s (planned)", name)
	}
	return fmt.Sprintf("not supported: %s (unknown to this version)", name)
}
