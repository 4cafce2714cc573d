package sources

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/podstead/podstead/manifests"
)

// setLimits bound what one source may want.
type setLimits struct {
	bytes int
	pods  int
}

// defaultSetLimits are those of every source.
func defaultSetLimits() setLimits { return setLimits{bytes: 8 << 20, pods: 1000} }

// catalog is what a file source knows: listings, observations and the clock go
// in, snapshots come out. It touches neither disk nor clock itself.
type catalog struct {
	reader unitReader
	place  string // as configured
	limits setLimits

	folder  string // of the units
	single  bool
	home    identity // of the folder that the set in force came from
	entries map[string]*entry
	bytes   int // in force
	pods    int // in force
	// kept is what the last good set on disk holds of units that have no good
	// version yet, by name.
	kept map[string]goodUnit

	listed   bool   // the place has been listed once
	answered bool   // and every file in it was looked at
	tried    bool   // the place has been asked once
	fault    string // of the place itself
}

// newCatalog starts from the last good set on disk.
func newCatalog(reader unitReader, place string, limits setLimits, stored goodSet) *catalog {
	c := &catalog{
		reader: reader, place: place, limits: limits,
		folder: place, single: stored.Single, home: stored.Folder,
		entries: map[string]*entry{}, kept: map[string]goodUnit{},
	}
	if c.single {
		c.folder = filepath.Dir(place)
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
	c.folder, c.single, c.home = l.folder, l.single, l.id
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
		return fmt.Sprintf("is empty and is not the folder that its last good set came from (%s, was %s): is a disk not mounted?", l.id, c.home)
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

// verdict is what follows from a look at a file.
type verdict struct {
	changed bool          // the snapshot is another one now
	again   time.Duration // when to look again; 0 for when an event or a rescan says so
	gone    bool          // missing for long enough: remove it if the place is what it was
}

// note takes in what a look at a file showed.
func (c *catalog) note(name string, seen observation, now time.Time) (v verdict) {
	e := c.entry(name)
	e.through = seen.through
	switch seen.outcome {
	case whole:
		v.changed = e.readable()
		v.changed = c.read(name, e, seen.data) || v.changed
	case writing, unsettled:
		v.again, v.changed = e.waitForWriter(seen.outcome == unsettled, now)
	case refused:
		v.changed = e.refuse(seen.err.Error())
	case dangling:
		if v.again = e.waitForReturn(now); v.again == 0 {
			v.changed = e.blame(seen.err.Error())
		}
	case missing:
		if e.newest == nil && e.good == nil {
			delete(c.entries, name)
			return verdict{changed: e.trouble != ""}
		}
		v.again = e.waitForReturn(now)
		v.gone = v.again == 0
	}
	if e.good == nil {
		v.changed = c.fallBack(name, e) || v.changed
	}
	return v
}

// read makes a file's bytes its newest version and, without a fault, the one in
// force. Bytes that it has read before are not read again, unless it had no room
// for them then.
func (c *catalog) read(name string, e *entry, data []byte) (changed bool) {
	sum := digest(sha256.Sum256(data))
	known := e.newest != nil && e.newest.sum == sum
	if known && !e.over {
		return false
	}
	v, over := c.judge(name, e, data, sum)
	if known && over {
		return false
	}
	e.newest, e.over = v, over
	if !v.faulty() {
		c.putInForce(e, v)
		e.lost = ""
		delete(c.kept, name)
	}
	return true
}

// judge reads a version within the limits of the source, which the versions in
// force of the other units share with it.
func (c *catalog) judge(name string, e *entry, data []byte, sum digest) (v *version, over bool) {
	bytes, pods := c.bytes+len(data), c.pods
	if e.good != nil {
		bytes -= len(e.good.data)
		pods -= len(e.good.pods)
	}
	unit := c.unitName(name)
	if bytes > c.limits.bytes {
		return refusedVersion(unit, sum, fmt.Sprintf("exceeds the limit of %d bytes for the manifests of a source", c.limits.bytes)), true
	}
	v = c.reader.read(unit, data, sum)
	if pods += len(v.pods); !v.faulty() && pods > c.limits.pods {
		return refusedVersion(unit, sum, fmt.Sprintf("exceeds the limit of %d pods for a source", c.limits.pods)), true
	}
	return v, false
}

func refusedVersion(unit string, sum digest, message string) *version {
	fault := manifests.Fault{Place: manifests.Place{Unit: unit}, Message: message}
	return &version{sum: sum, unit: Unit{Name: unit, Revision: sum.revision(), Faults: []manifests.Fault{fault}}}
}

// fallBack puts a unit's last good version from disk in force.
func (c *catalog) fallBack(name string, e *entry) (changed bool) {
	stored, ok := c.kept[name]
	if !ok || e.lost != "" {
		return false
	}
	v := c.reader.read(c.unitName(name), stored.Data, sha256.Sum256(stored.Data))
	if v.faulty() {
		e.lost = fmt.Sprintf("its last good version, %s, is not good any more: %s", v.unit.Revision, v.unit.Faults[0].Message)
		return true
	}
	c.putInForce(e, v)
	delete(c.kept, name)
	return true
}

func (c *catalog) putInForce(e *entry, v *version) {
	if e.good != nil {
		c.bytes -= len(e.good.data)
		c.pods -= len(e.good.pods)
	}
	if e.good = v; v != nil {
		c.bytes += len(v.data)
		c.pods += len(v.pods)
	}
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

// through lists the files that are links by way of a name in the folder.
func (c *catalog) through(name string) (names []string) {
	for linked, e := range c.entries {
		if e.through == name {
			names = append(names, linked)
		}
	}
	return names
}
