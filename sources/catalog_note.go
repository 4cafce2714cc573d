package sources

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/podstead/podstead/manifests"
)

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
	bytes, pods, objects := c.bytes+len(data), c.pods, c.objects
	if e.good != nil {
		bytes -= len(e.good.data)
		pods -= len(e.good.pods)
		objects -= len(e.good.objects)
	}
	unit := c.unitName(name)
	refuse := func(limit int, of string) (*version, bool) {
		return refusedVersion(unit, sum, fmt.Sprintf("exceeds the limit of %d %s", limit, of)), true
	}
	if bytes > c.limits.bytes {
		return refuse(c.limits.bytes, "bytes for the manifests of a source")
	}
	switch v = c.reader.read(unit, data, sum); {
	case pods+len(v.pods) > c.limits.pods:
		return refuse(c.limits.pods, "pods for a source")
	case objects+len(v.objects) > c.limits.objects:
		return refuse(c.limits.objects, "ConfigMaps and Secrets for a source")
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
		c.objects -= len(e.good.objects)
	}
	if e.good = v; v != nil {
		c.bytes += len(v.data)
		c.pods += len(v.pods)
		c.objects += len(v.objects)
	}
}
