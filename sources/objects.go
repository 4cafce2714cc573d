package sources

import (
	"fmt"
	"slices"

	"github.com/podstead/podstead/manifests"
)

// shelf is what one source has for its readers: one object of each name.
type shelf map[manifests.ObjectRef]*manifests.Object

// remark is a warning about one document of a source that its unit alone does
// not show.
type remark struct {
	unit  string
	fault manifests.Fault
}

// stock puts a source's objects on its shelf, with remarks about those that are
// not in force.
//
// Of two of one name the first counts. An object that stood on the shelf before
// as immutable keeps its content, and its being immutable, as an API server
// would have it: a change is not applied while the name is there. Once the name
// was gone from the source, whatever comes is new. Only what this process saw
// counts, so that a restart of the agent takes the change.
func stock(objects []Object, before shelf) (shelf, []remark) {
	if len(objects) == 0 {
		return nil, nil
	}
	var remarks []remark
	after := make(shelf, len(objects))
	for _, o := range objects {
		ref := o.Ref()
		if _, taken := after[ref]; taken {
			first := objects[slices.IndexFunc(objects, func(f Object) bool { return f.Ref() == ref })]
			remarks = append(remarks, o.remark("is not used: %s has its name", first.Place))
			continue
		}
		after[ref] = o.Object
		was := before[ref]
		if was == nil || was == o.Object || !immutable(was) {
			continue
		}
		if was.Digest != o.Digest || !immutable(o.Object) {
			after[ref] = was
			remarks = append(remarks, o.remark("is immutable: this change is not applied; delete it first, or give the new one another name"))
		}
	}
	return after, remarks
}

func (o Object) remark(format string, args ...any) remark {
	at := manifests.Place{Unit: o.Place.Unit, Document: o.Place.Document, Line: o.Place.Line}
	return remark{o.Origin.Unit, manifests.Fault{Place: at, Message: o.Ref().String() + " " + fmt.Sprintf(format, args...)}}
}

func immutable(o *manifests.Object) bool {
	if o.ConfigMap != nil {
		return o.ConfigMap.Immutable != nil && *o.ConfigMap.Immutable
	}
	return o.Secret.Immutable != nil && *o.Secret.Immutable
}

// pick returns what the shelves have of refs, which are sorted: of one name what
// the first shelf has.
func pick(refs []manifests.ObjectRef, shelves []shelf) manifests.Objects {
	found := make(manifests.Objects, 0, len(refs))
	for _, ref := range refs {
		for _, s := range shelves {
			if o := s[ref]; o != nil {
				found = append(found, o)
				break
			}
		}
	}
	return found
}

// resolve gives each pod the objects that it refers to: of its own source, else
// of those that its source may look into.
func resolve(pods []Pod, order []Member, world map[string]said) {
	var sight map[string][]shelf
	for i := range pods {
		if len(pods[i].Refs) == 0 {
			continue
		}
		if sight == nil {
			sight = sights(order, world)
		}
		pods[i].Objects = pick(pods[i].Refs, sight[pods[i].Origin.Source])
	}
}

// sights are the shelves that each source sees, its own first.
func sights(order []Member, world map[string]said) map[string][]shelf {
	seen := make(map[string][]shelf, len(order))
	for _, m := range order {
		for _, name := range append([]string{m.Name}, m.ObjectsFrom...) {
			if s := world[name].shelf; len(s) > 0 {
				seen[m.Name] = append(seen[m.Name], s)
			}
		}
	}
	return seen
}

// remarked is units with the remarks among their warnings.
func remarked(units []Unit, remarks []remark) []Unit {
	if len(remarks) == 0 {
		return units
	}
	units = slices.Clone(units)
	for i := range units {
		for _, r := range remarks {
			if r.unit == units[i].Name {
				units[i].Warnings = append(slices.Clip(units[i].Warnings), r.fault)
			}
		}
	}
	return units
}
