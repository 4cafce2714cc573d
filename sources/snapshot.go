package sources

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/podstead/podstead/manifests"
)

// snapshot is the whole set as it is known now.
func (c *catalog) snapshot(now time.Time) Snapshot {
	s := Snapshot{
		Source: c.reader.source, Kind: c.reader.kind, Place: c.place,
		Live: c.answered, Attempted: c.tried, Taken: now,
		Pods: make([]Pod, 0, c.pods), Units: make([]Unit, 0, len(c.entries)),
	}
	moved, sum := c.moved(), sha256.New()
	for _, name := range slices.Sorted(maps.Keys(c.entries)) {
		if moved[name] {
			continue
		}
		e := c.entries[name]
		unit := e.unit(c.unitName(name))
		s.Units = append(s.Units, unit)
		if e.good != nil {
			s.Pods = append(s.Pods, e.good.pods...)
			fmt.Fprintf(sum, "%s\x00%s\n", name, unit.Revision)
		}
	}
	s.Revision = digest(sum.Sum(nil)).revision()
	if c.fault != "" {
		s.Faults = []manifests.Fault{{Place: manifests.Place{Unit: c.place}, Message: c.fault}}
	}
	return s
}

// moved names the files that are missing just now while other files hold all
// their pods: they were renamed, there is nothing to wait for.
func (c *catalog) moved() map[string]bool {
	var away []string
	present := map[string]bool{}
	for name, e := range c.entries {
		switch {
		case e.good == nil:
		case !e.gone.IsZero() && e.trouble == "":
			away = append(away, name)
		default:
			for _, pod := range e.good.pods {
				present[pod.FullName()] = true
			}
		}
	}
	moved := map[string]bool{}
	for _, name := range away {
		pods := c.entries[name].good.pods
		elsewhere := func(p Pod) bool { return present[p.FullName()] }
		moved[name] = len(pods) > 0 && !slices.ContainsFunc(pods, func(p Pod) bool { return !elsewhere(p) })
	}
	return moved
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
