package sources

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"
)

// setLimits bound what one source may want.
type setLimits struct {
	bytes   int // of manifests, pods' and objects'
	pods    int
	objects int
}

// defaultSetLimits are those of every source.
func defaultSetLimits() setLimits { return setLimits{bytes: 8 << 20, pods: 1000, objects: 10_000} }

// catalog is what a file source knows: listings, observations and the clock go
// in, snapshots come out. It touches neither disk nor clock itself.
type catalog struct {
	reader unitReader
	place  string // as configured
	limits setLimits

	folder  string // of the units: until the place was listed, that of the last good set
	single  bool
	home    identity // of the folder that the set in force came from
	entries map[string]*entry
	bytes   int // in force
	pods    int // in force
	objects int // in force
	// kept is what the last good set on disk holds of units that have no good
	// version yet, by name.
	kept map[string]goodUnit

	listed   bool   // the place has been listed once
	answered bool   // and every file in it was looked at
	tried    bool   // the place has been asked once
	fault    string // of the place itself
	lost     string // what of the last good set could not be read; of no interest once answered

	heard time.Time // when the place was last listed without a fault; before, of the last good set
}

// newCatalog starts from the last good set on disk.
func newCatalog(reader unitReader, place string, limits setLimits, stored goodSet) *catalog {
	c := &catalog{
		reader: reader, place: place, limits: limits,
		folder: cmp.Or(stored.Place, place), single: stored.Single, home: stored.Folder,
		entries: map[string]*entry{}, kept: map[string]goodUnit{}, heard: stored.Taken,
	}
	if c.single {
		c.folder = filepath.Dir(c.folder)
	}
	for _, u := range stored.Units {
		c.kept[u.Name] = u
	}
	return c
}

// hold notes that the place itself is at fault: everything stays as it is. A
// place that has not answered yet is stood in for by the last good set.
func (c *catalog) hold(fault string) (changed bool) {
	changed = c.fault != fault || !c.tried
	c.fault, c.tried = fault, true
	for _, e := range c.entries {
		e.gone = time.Time{}
	}
	if !c.listed {
		c.recall()
	}
	return changed
}

// recall puts the whole last good set in force.
func (c *catalog) recall() {
	for _, name := range slices.Sorted(maps.Keys(c.kept)) {
		e := c.entry(name)
		c.fallBack(name, e)
		e.newest = e.good
	}
}

// accept takes a listing over, unless it is to be doubted: then the place is at
// fault. It returns the names to look at: those that are there and those that
// were.
func (c *catalog) accept(l listing) (names []string, changed bool) {
	if doubt := c.doubt(l); doubt != "" {
		return nil, c.hold(doubt)
	}
	changed = c.fault != "" || !c.tried
	c.fault, c.tried = "", true
	c.settle(l.folder)
	c.single, c.home = l.single, l.id
	names = slices.Clone(l.names)
	for name := range c.entries {
		if _, there := slices.BinarySearch(l.names, name); !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if !c.listed {
		c.listed = true
		c.forget(names)
	}
	return names, changed
}

// settle notes the folder of the units. What was read as another folder's, whose
// place the source has taken, is to be read again as this one's.
func (c *catalog) settle(folder string) {
	if folder == c.folder {
		return
	}
	c.folder = folder
	for _, e := range c.entries {
		e.newest = nil
	}
}

// forget drops what is kept of files that were removed while nobody looked.
func (c *catalog) forget(present []string) {
	maps.DeleteFunc(c.kept, func(name string, _ goodUnit) bool {
		_, there := slices.BinarySearch(present, name)
		return !there
	})
}

// doubt says why a listing can't be meant.
func (c *catalog) doubt(l listing) string {
	switch {
	case c.listed && l.single != c.single:
		return "has turned from a folder into a file, or back"
	case len(l.names) == 0 && !c.empty() && !l.id.same(c.home):
		return fmt.Sprintf("is empty and is not the folder that its last good set came from (%s, was %s): is a disk not mounted? "+
			"If it is meant to be empty, put a file into it that holds an empty List", l.id, c.home)
	}
	return ""
}

// empty is true when no unit has a version in force.
func (c *catalog) empty() bool {
	for _, e := range c.entries {
		if e.good != nil {
			return false
		}
	}
	return len(c.kept) == 0
}

func (c *catalog) entry(name string) *entry {
	e, ok := c.entries[name]
	if !ok {
		e = &entry{}
		c.entries[name] = e
	}
	return e
}

func (c *catalog) unitName(name string) string { return filepath.Join(c.folder, name) }

// still is entry.still for one name.
func (c *catalog) still(name string, s stamp, now time.Time) bool {
	return c.entry(name).still(s, now)
}

// remove forgets a file that is gone for good.
func (c *catalog) remove(name string) {
	c.putInForce(c.entry(name), nil)
	delete(c.entries, name)
	delete(c.kept, name)
}

// unread tells whether a listed file has not been whole yet.
func (c *catalog) unread() bool {
	for _, e := range c.entries {
		if e.unread() {
			return true
		}
	}
	return false
}

// answer notes that the place has told all it holds. What is being written all
// this time is at fault: to leave it out would say that it is not there.
func (c *catalog) answer() {
	c.answered = true
	for _, e := range c.entries {
		if e.unread() {
			e.blame(beingWritten)
		}
	}
}

// through lists the files that are links by way of a name in the folder.
func (c *catalog) through(name string) (names []string) {
	for linked, e := range c.entries {
		if e.through == name {
			names = append(names, linked)
		}
	}
	return names
}
