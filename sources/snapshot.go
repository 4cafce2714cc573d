package sources

import (
	"crypto/sha256"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/podstead/podstead/manifests"
)

// snapshot is the whole set as it is known now.
func (c *catalog) snapshot(now time.Time) Snapshot {
	s := Snapshot{
		Source: c.reader.source, Kind: c.reader.kind, Place: c.place,
		Live: c.answered, Attempted: c.tried, Taken: c.heard,
		Pods: make([]Pod, 0, c.pods), Objects: make([]Object, 0, c.objects), Units: make([]Unit, 0, len(c.entries)),
	}
	moved, sum, known := c.moved(), sha256.New(), c.listed
	for _, name := range slices.Sorted(maps.Keys(c.entries)) {
		e := c.entries[name]
		if moved[name] || e.unknown() {
			continue
		}
		s.Units = append(s.Units, c.unit(name, e))
		if e.good != nil {
			known = true
			s.Pods = append(s.Pods, e.good.pods...)
			s.Objects = append(s.Objects, e.good.objects...)
			_, _ = io.WriteString(sum, name+"\x00")
			_, _ = sum.Write(e.good.sum[:])
		}
	}
	if known {
		s.Revision = digest(sum.Sum(nil)).revision()
	}
	if c.answered && c.fault == "" {
		s.Taken = now
	}
	s.Heard = s.Taken
	if c.fault != "" {
		s.Faults = []manifests.Fault{{Place: manifests.Place{Unit: c.place}, Message: c.fault}}
	}
	if c.lost != "" && !c.answered {
		s.Faults = append(s.Faults, manifests.Fault{Place: manifests.Place{Unit: c.place}, Message: c.lost})
	}
	return s
}

// unit is a file as it is shown: the faults are those of now, the revision is
// the one in force.
func (c *catalog) unit(name string, e *entry) Unit {
	var u Unit
	if e.newest != nil {
		u = e.newest.unit
	} else {
		u.Name = c.unitName(name)
	}
	at := manifests.Place{Unit: u.Name}
	if fault := e.fault(); fault != "" {
		u.Faults = []manifests.Fault{{Place: at, Message: fault}}
	}
	if e.lost != "" {
		u.Warnings = append(slices.Clone(u.Warnings), manifests.Fault{Place: at, Message: e.lost})
	}
	u.Revision = ""
	if e.good != nil {
		u.Revision = e.good.unit.Revision
	}
	return u
}

// moved names the files that are missing just now while other files hold all
// their pods and objects: they were renamed, there is nothing to wait for.
func (c *catalog) moved() map[string]bool {
	var away []string
	for name, e := range c.entries {
		if e.away() {
			away = append(away, name)
		}
	}
	if len(away) == 0 {
		return nil
	}
	present := map[manifests.ObjectRef]bool{}
	for _, e := range c.entries {
		if e.good == nil || e.away() {
			continue
		}
		for _, ref := range e.good.refs() {
			present[ref] = true
		}
	}
	nowhere := func(ref manifests.ObjectRef) bool { return !present[ref] }
	moved := map[string]bool{}
	for _, name := range away {
		refs := c.entries[name].good.refs()
		moved[name] = len(refs) > 0 && !slices.ContainsFunc(refs, nowhere)
	}
	return moved
}

// refs names what a version holds, pods too.
func (v *version) refs() []manifests.ObjectRef {
	refs := make([]manifests.ObjectRef, 0, len(v.pods)+len(v.objects))
	for _, pod := range v.pods {
		refs = append(refs, manifests.ObjectRef{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name})
	}
	for _, o := range v.objects {
		refs = append(refs, o.Ref())
	}
	return refs
}

// good is what is to be kept on disk of the set in force. What is kept already
// of a unit that has no version in force stays.
func (c *catalog) good() goodSet {
	set := goodSet{Place: c.place, Single: c.single, Folder: c.home}
	for _, name := range slices.Sorted(maps.Keys(c.entries)) {
		if e := c.entries[name]; e.good != nil {
			set.Units = append(set.Units, goodUnit{Name: name, Data: e.good.data, sum: e.good.sum})
		} else if kept, ok := c.kept[name]; ok {
			set.Units = append(set.Units, kept)
		}
	}
	return set
}
