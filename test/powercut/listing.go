package powercut

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// listing is an open directory. Read again from its beginning it tells what is
// there by then, as POSIX wants it.
type listing struct {
	of   *node
	list []fuse.DirEntry
	next int
}

var (
	_ fs.NodeOpendirHandler = (*node)(nil)
	_ fs.FileReaddirenter   = (*listing)(nil)
	_ fs.FileSeekdirer      = (*listing)(nil)
)

func (n *node) OpendirHandle(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return &listing{of: n}, 0, n.read(func(*inode) syscall.Errno { return 0 })
}

func (l *listing) Readdirent(context.Context) (*fuse.DirEntry, syscall.Errno) {
	if l.next == 0 {
		if errno := l.of.read(l.fill); errno != 0 {
			return nil, errno
		}
	}
	if l.next == len(l.list) {
		return nil, 0
	}
	entry := &l.list[l.next]
	l.next++
	entry.Off = uint64(l.next)
	return entry, 0
}

func (l *listing) fill(dir *inode) syscall.Errno {
	l.list = nil
	for _, name := range dir.list() {
		l.list = append(l.list, fuse.DirEntry{Name: name, Mode: dir.names[name].mode, Ino: dir.names[name].number})
	}
	return 0
}

// Seekdir goes to an entry, or to the end when there is no such any more.
func (l *listing) Seekdir(_ context.Context, off uint64) syscall.Errno {
	l.next = int(min(off, uint64(len(l.list))))
	return 0
}
