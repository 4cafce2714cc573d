package volumes

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// spareParts is the part of a file system in memory that stays free: the eighth.
// It is the host's /run, and on a host whose /run is full nothing starts any more.
const spareParts = 8

// pageSize is what a file in memory takes at least.
const pageSize = 4096

// space is what files take of a file system, or what it has; of both 0 is
// without a limit.
type space struct {
	bytes uint64
	files uint64
}

// room keeps volumes of objects from filling a file system that is memory alone.
// Safe for concurrent use.
type room struct {
	stat func(dir string) (all, free space, err error)

	mu    sync.Mutex
	taken space // by writes that are under way
}

// reserve makes sure that a tree fits into the file system of a directory, and
// keeps the place for it until release is called.
func (r *room) reserve(dir string, tree map[string]file) (release func(), err error) {
	all, free, err := r.stat(dir)
	if err != nil {
		return nil, err
	}
	needed := sizeOf(tree)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range []struct {
		what                     string
		all, free, taken, needed uint64
	}{
		{"bytes", all.bytes, free.bytes, r.taken.bytes, needed.bytes},
		{"files", all.files, free.files, r.taken.files, needed.files},
	} {
		if of.all > 0 && of.taken+of.needed+of.all/spareParts > of.free {
			return nil, fmt.Errorf("no room in memory for %d %s: of %d where %s is, %d are free, and an eighth stays the host's",
				of.needed, of.what, of.all, dir, of.free)
		}
	}
	r.taken.bytes, r.taken.files = r.taken.bytes+needed.bytes, r.taken.files+needed.files
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.taken.bytes, r.taken.files = r.taken.bytes-needed.bytes, r.taken.files-needed.files
	}, nil
}

// sizeOf is what a tree takes in memory.
func sizeOf(tree map[string]file) space {
	var s space
	for _, f := range tree {
		s.files++
		s.bytes += (uint64(len(f.data))/pageSize + 1) * pageSize
	}
	return s
}

// statMemory looks at a file system; one that is not memory alone has no limit here.
func statMemory(dir string) (all, free space, err error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return space{}, space{}, fmt.Errorf("look up the file system of %s: %w", dir, err)
	}
	if !isMemory(stat) {
		return space{}, space{}, nil
	}
	size := uint64(stat.Bsize) //nolint:gosec // never negative
	return space{stat.Blocks * size, stat.Files}, space{stat.Bavail * size, stat.Ffree}, nil
}

func isMemory(stat unix.Statfs_t) bool {
	kind := uint32(stat.Type) //nolint:gosec // as the kernel has it; of another type on each machine
	return kind == unix.TMPFS_MAGIC || kind == unix.RAMFS_MAGIC
}
