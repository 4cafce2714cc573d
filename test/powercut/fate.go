package powercut

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Fate is what becomes of that which was not synced.
type Fate int

// The fates.
const (
	// Dropped: all of it is gone.
	Dropped Fate = iota
	// Journalled: changes of names survive up to some moment, as a journal keeps
	// them; of contents any pages do.
	Journalled
	// Scattered: any changes of names survive, those between them or not, and any
	// pages.
	Scattered
)

// Fates are all of them.
func Fates() []Fate { return []Fate{Dropped, Journalled, Scattered} }

func (f Fate) String() string {
	switch f {
	case Dropped:
		return "dropped"
	case Journalled:
		return "journalled"
	case Scattered:
		return "scattered"
	}
	return fmt.Sprintf("Fate(%d)", int(f))
}

// page is what a disk writes as a whole.
const page = 4096

// Restore brings the power back. What was not synced meets its fate; what is left
// counts as synced. No file may be open, and no step is armed any more.
func (d *Disk) Restore(fate Fate, chance *rand.Rand) {
	d.mu.Lock()
	defer d.mu.Unlock()
	changes := d.pending
	switch fate {
	case Dropped:
		changes = nil
	case Journalled:
		changes = changes[:chance.IntN(len(changes)+1)]
	case Scattered:
		changes = slices.DeleteFunc(slices.Clone(changes), func(*change) bool { return chance.IntN(2) == 0 })
	}
	for _, c := range changes {
		c.keep()
	}
	d.root, d.pending, d.power = d.survivor(d.root, fate, chance), nil, power{}
}

// Clear takes everything away.
func (d *Disk) Clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.root, d.pending, d.power = d.newInode(d.root.mode), nil, power{}
}

// survivor is an inode in its next life, with all that is below it.
func (d *Disk) survivor(n *inode, fate Fate, chance *rand.Rand) *inode {
	next := d.newInode(n.mode)
	next.target = n.target
	if n.isDir() {
		for _, name := range slices.Sorted(maps.Keys(n.kept)) {
			next.names[name] = d.survivor(n.kept[name], fate, chance)
		}
		next.kept = maps.Clone(next.names)
		return next
	}
	next.data = n.synced
	if fate != Dropped {
		next.data = torn(n.synced, n.data, chance)
	}
	next.synced = slices.Clone(next.data)
	return next
}

// torn is a content of which any pages were written, and its length or not.
func torn(old, written []byte, chance *rand.Rand) []byte {
	if bytes.Equal(old, written) {
		return slices.Clone(written)
	}
	size := len(old)
	if chance.IntN(2) == 0 {
		size = len(written)
	}
	left := make([]byte, size)
	copy(left, old)
	for at := 0; at < size; at += page {
		if chance.IntN(2) == 0 && at < len(written) {
			copy(left[at:min(at+page, size)], written[at:])
		}
	}
	return left
}
