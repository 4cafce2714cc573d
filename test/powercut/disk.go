package powercut

import (
	"maps"
	"slices"
	"sync"
	"syscall"
)

// Disk is a file system that remembers what of it was synced. Safe for
// concurrent use.
type Disk struct {
	Dir string // where it is mounted

	mu      sync.Mutex
	root    *inode
	made    uint64    // inodes ever made
	pending []*change // of names, not synced, oldest first
	power   power
}

// inode is a file, a directory or a link.
type inode struct {
	number uint64
	mode   uint32 // with the type
	target string // of a link

	data, synced []byte            // of a file: as it is read, and as it was last synced
	names, kept  map[string]*inode // of a directory: likewise
}

// change is one operation on names, which happens as a whole or not at all.
type change struct{ edits []edit }

// edit gives a name in a directory a meaning, nil for none.
type edit struct {
	dir  *inode
	name string
	to   *inode
}

func (c *change) touches(dir *inode) bool {
	return slices.ContainsFunc(c.edits, func(e edit) bool { return e.dir == dir })
}

func (c *change) keep() {
	for _, e := range c.edits {
		set(e.dir.kept, e.name, e.to)
	}
}

func set(names map[string]*inode, name string, to *inode) {
	if to == nil {
		delete(names, name)
	} else {
		names[name] = to
	}
}

func (d *Disk) newInode(mode uint32) *inode {
	d.made++
	n := &inode{number: d.made, mode: mode}
	if n.isDir() {
		n.names, n.kept = map[string]*inode{}, map[string]*inode{}
	}
	return n
}

func (n *inode) isDir() bool { return n.mode&syscall.S_IFMT == syscall.S_IFDIR }

// change has its effect on what is read at once, and on what is kept once a
// directory of it is synced.
func (d *Disk) change(edits ...edit) {
	for _, e := range edits {
		set(e.dir.names, e.name, e.to)
	}
	d.pending = append(d.pending, &change{edits})
}

// sync makes a file's content durable, or the names in a directory.
func (d *Disk) sync(n *inode) {
	if !n.isDir() {
		n.synced = slices.Clone(n.data)
		return
	}
	d.pending = slices.DeleteFunc(d.pending, func(c *change) bool {
		if c.touches(n) {
			c.keep()
			return true
		}
		return false
	})
}

// write puts data at an offset; what lies between the end and there is zeros.
func (n *inode) write(data []byte, at int) {
	n.resize(max(at+len(data), len(n.data)))
	copy(n.data[at:], data)
}

func (n *inode) resize(size int) {
	if size <= len(n.data) {
		n.data = n.data[:size:size]
		return
	}
	grown := make([]byte, size)
	copy(grown, n.data)
	n.data = grown
}

// remove takes a name away. A directory must be empty.
func (d *Disk) remove(dir *inode, name string, wantDir bool) syscall.Errno {
	n := dir.names[name]
	switch {
	case n == nil:
		return syscall.ENOENT
	case wantDir && !n.isDir():
		return syscall.ENOTDIR
	case !wantDir && n.isDir():
		return syscall.EISDIR
	case wantDir && len(n.names) > 0:
		return syscall.ENOTEMPTY
	}
	d.change(edit{dir, name, nil})
	return 0
}

// rename moves a name, over another if there is one.
func (d *Disk) rename(from *inode, name string, to *inode, as string) syscall.Errno {
	n, there := from.names[name], to.names[as]
	switch {
	case n == nil:
		return syscall.ENOENT
	case there == n:
		return 0
	case there != nil && there.isDir() != n.isDir():
		return map[bool]syscall.Errno{true: syscall.EISDIR, false: syscall.ENOTDIR}[there.isDir()]
	case there != nil && len(there.names) > 0:
		return syscall.ENOTEMPTY
	}
	d.change(edit{from, name, nil}, edit{to, as, n})
	return 0
}

// list are the names in a directory, sorted.
func (n *inode) list() []string { return slices.Sorted(maps.Keys(n.names)) }
