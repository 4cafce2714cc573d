package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Change is one field in which two written documents differ. Old and New are
// shown only where they cannot be secret; a field or a whole part that only one
// of them has is Absent in the other and Present in the one.
type Change struct {
	Field string // spec.containers[web].image
	Old   string
	New   string
}

// What Diff shows in place of a value that is not there, or not to be shown.
const (
	Absent  = "(absent)"
	Present = "(present)"
)

// maxChanges bounds what Diff tells; one more Change says how many are left out.
const maxChanges = 32

// Diff lists the fields in which two written documents differ, sorted by field.
// Items of lists are known by their names where they have any, so that an added
// container is one change. Values of environment variables, arguments, commands
// and annotations are never shown. What is not JSON differs as a whole.
func Diff(old, new json.RawMessage) []Change {
	a, errA := readValue(old)
	b, errB := readValue(new)
	if errA != nil || errB != nil {
		if bytes.Equal(old, new) {
			return nil
		}
		return []Change{{}}
	}
	var d differ
	d.compare("", "", a, b)
	slices.SortFunc(d.changes, func(a, b Change) int { return strings.Compare(a.Field, b.Field) })
	if more := len(d.changes) - maxChanges; more > 0 {
		d.changes = append(d.changes[:maxChanges], Change{Field: fmt.Sprintf("(%d more)", more)})
	}
	return d.changes
}

func readValue(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

type differ struct{ changes []Change }

// compare takes a field's path and its last name.
func (d *differ) compare(path, name string, a, b any) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			d.members(path, a, b)
			return
		}
	case []any:
		if b, ok := b.([]any); ok {
			d.lists(path, name, a, b)
			return
		}
	default:
		if a == b && isScalar(b) {
			return
		}
	}
	d.changed(path, name, a, b)
}

func (d *differ) members(path string, a, b map[string]any) {
	for key := range a {
		d.member(path, key, a, b)
	}
	for key := range b {
		if _, ok := a[key]; !ok {
			d.member(path, key, a, b)
		}
	}
}

func (d *differ) member(path, key string, a, b map[string]any) {
	old, had := a[key]
	new, has := b[key]
	at := child(path, key)
	if strings.ContainsAny(key, "./") {
		at = path + "[" + key + "]"
	}
	if had && has {
		d.compare(at, key, old, new)
		return
	}
	d.appeared(at, had)
}

// lists compares by the items' names, or as a whole: which argument is new is
// nothing that could be told without showing arguments.
func (d *differ) lists(path, name string, a, b []any) {
	key := listKey(name)
	namedA, okA := byName(a, key)
	namedB, okB := byName(b, key)
	if !okA || !okB {
		if !sameJSON(a, b) {
			d.changed(path, name, a, b)
		}
		return
	}
	before := len(d.changes)
	for id, old := range namedA {
		at := path + "[" + id + "]"
		if new, ok := namedB[id]; ok {
			d.compare(at, "", old, new)
			continue
		}
		d.appeared(at, true)
	}
	for id := range namedB {
		if _, ok := namedA[id]; !ok {
			d.appeared(path+"["+id+"]", false)
		}
	}
	if len(d.changes) == before && !sameJSON(a, b) {
		d.changes = append(d.changes, Change{Field: path + " (order)"})
	}
}

// listKey is the member that tells the items of a list apart.
func listKey(name string) string {
	switch name {
	case "volumeMounts":
		return "mountPath"
	case "ports":
		return "containerPort"
	}
	return "name"
}

// byName gives the items of a list by the member that names them; not ok when
// some have none or share one.
func byName(items []any, key string) (map[string]any, bool) {
	named := make(map[string]any, len(items))
	for _, item := range items {
		m, ok := item.(map[string]any)
		if !ok || !isScalar(m[key]) || m[key] == nil {
			return nil, false
		}
		id := fmt.Sprint(m[key])
		if _, twice := named[id]; twice {
			return nil, false
		}
		named[id] = item
	}
	return named, true
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func (d *differ) appeared(path string, had bool) {
	c := Change{Field: path, Old: Absent, New: Present}
	if had {
		c.Old, c.New = Present, Absent
	}
	d.changes = append(d.changes, c)
}

func (d *differ) changed(path, name string, a, b any) {
	c := Change{Field: path}
	if isScalar(a) && isScalar(b) && maySee(path, name, a) && maySee(path, name, b) {
		c.Old, c.New = cut(fmt.Sprint(a), 200), cut(fmt.Sprint(b), 200)
	}
	d.changes = append(d.changes, c)
}

// maySee reports whether a value cannot be secret: numbers and booleans, and
// words of a closed set or of public names.
func maySee(path, name string, value any) bool {
	if strings.HasPrefix(path, "metadata.annotations") || strings.Contains(path, ".env[") ||
		strings.Contains(path, ".args") || strings.Contains(path, ".command") {
		return false
	}
	if _, isText := value.(string); !isText {
		return true
	}
	switch name {
	case "image", "imagePullPolicy", "restartPolicy", "protocol", "hostIP", "cpu", "memory", "sizeLimit", "medium",
		"type", "hostname", "nodeName", "namespace", "dnsPolicy", "terminationMessagePolicy", "mountPath":
		return true
	}
	return false
}
