package powercut

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// node is what FUSE asks about an inode: it takes the disk's lock, spends a step
// where something changes, and answers in FUSE's words.
type node struct {
	fs.Inode
	disk *Disk
	of   *inode // nil for the root, which is another after each cut
}

var (
	_ fs.NodeLookuper   = (*node)(nil)
	_ fs.NodeGetattrer  = (*node)(nil)
	_ fs.NodeSetattrer  = (*node)(nil)
	_ fs.NodeMkdirer    = (*node)(nil)
	_ fs.NodeCreater    = (*node)(nil)
	_ fs.NodeSymlinker  = (*node)(nil)
	_ fs.NodeReadlinker = (*node)(nil)
	_ fs.NodeOpener     = (*node)(nil)
	_ fs.NodeReader     = (*node)(nil)
	_ fs.NodeWriter     = (*node)(nil)
	_ fs.NodeFsyncer    = (*node)(nil)
	_ fs.NodeUnlinker   = (*node)(nil)
	_ fs.NodeRmdirer    = (*node)(nil)
	_ fs.NodeRenamer    = (*node)(nil)
	_ fs.NodeStatfser   = (*node)(nil)
)

// errOut is what is answered without power.
const errOut = syscall.EIO

// read has f look at the inode.
func (n *node) read(f func(i *inode) syscall.Errno) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if n.disk.power.out {
		return errOut
	}
	return f(n.inode())
}

// change has f change the inode, which is a step.
func (n *node) change(f func(i *inode) syscall.Errno) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if !n.disk.power.step() {
		return errOut
	}
	return f(n.inode())
}

func (n *node) inode() *inode {
	if n.of == nil {
		return n.disk.root
	}
	return n.of
}

// add makes a new name in the directory, and what it names.
func (n *node) add(ctx context.Context, name string, mode uint32, target string, out *fuse.EntryOut) (child *fs.Inode, errno syscall.Errno) {
	errno = n.change(func(dir *inode) syscall.Errno {
		if dir.names[name] != nil {
			return syscall.EEXIST
		}
		made := n.disk.newInode(mode)
		made.target = target
		n.disk.change(edit{dir, name, made})
		child = n.show(ctx, made, out)
		return 0
	})
	return child, errno
}

func (n *node) show(ctx context.Context, i *inode, out *fuse.EntryOut) *fs.Inode {
	i.describe(&out.Attr)
	return n.NewInode(ctx, &node{disk: n.disk, of: i}, fs.StableAttr{Mode: i.mode & syscall.S_IFMT, Ino: i.number})
}

func (i *inode) describe(out *fuse.Attr) {
	out.Ino, out.Mode, out.Nlink, out.Size = i.number, i.mode, 1, uint64(len(i.data)+len(i.target))
	out.Blksize, out.Blocks = page, (out.Size+511)/512
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (child *fs.Inode, errno syscall.Errno) {
	errno = n.read(func(dir *inode) syscall.Errno {
		found := dir.names[name]
		if found == nil {
			return syscall.ENOENT
		}
		child = n.show(ctx, found, out)
		return 0
	})
	return child, errno
}

func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return n.read(func(i *inode) syscall.Errno { i.describe(&out.Attr); return 0 })
}

func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return n.change(func(i *inode) syscall.Errno {
		if mode, ok := in.GetMode(); ok {
			i.mode = i.mode&syscall.S_IFMT | mode&0o7777
		}
		if size, ok := in.GetSize(); ok {
			i.resize(int(size))
		}
		i.describe(&out.Attr)
		return 0
	})
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(ctx, name, syscall.S_IFDIR|mode&0o7777, "", out)
}

func (n *node) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(ctx, name, syscall.S_IFLNK|0o777, target, out)
}

func (n *node) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	child, errno := n.add(ctx, name, syscall.S_IFREG|mode&0o7777, "", out)
	return child, nil, fuse.FOPEN_DIRECT_IO, errno
}

func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, n.read(func(*inode) syscall.Errno { return 0 })
}

func (n *node) Readlink(context.Context) (target []byte, errno syscall.Errno) {
	errno = n.read(func(i *inode) syscall.Errno { target = []byte(i.target); return 0 })
	return target, errno
}

func (n *node) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (result fuse.ReadResult, errno syscall.Errno) {
	errno = n.read(func(i *inode) syscall.Errno {
		read := 0
		if off < int64(len(i.data)) {
			read = copy(dest, i.data[off:])
		}
		result = fuse.ReadResultData(dest[:read])
		return 0
	})
	return result, errno
}

func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	return uint32(len(data)), n.change(func(i *inode) syscall.Errno { i.write(data, int(off)); return 0 })
}

func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	return n.change(func(i *inode) syscall.Errno { n.disk.sync(i); return 0 })
}

func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	return n.change(func(dir *inode) syscall.Errno { return n.disk.remove(dir, name, false) })
}

func (n *node) Rmdir(_ context.Context, name string) syscall.Errno {
	return n.change(func(dir *inode) syscall.Errno { return n.disk.remove(dir, name, true) })
}

func (n *node) Rename(_ context.Context, name string, to fs.InodeEmbedder, as string, flags uint32) syscall.Errno {
	other, ok := to.(*node)
	if !ok || flags != 0 {
		return syscall.ENOTSUP
	}
	return n.change(func(from *inode) syscall.Errno { return n.disk.rename(from, name, other.inode(), as) })
}

// Statfs tells of room, for those who ask before they write.
func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	const blocks = 1 << 20
	*out = fuse.StatfsOut{Blocks: blocks, Bfree: blocks, Bavail: blocks, Files: blocks, Ffree: blocks, Bsize: page, Frsize: page, NameLen: 255}
	return 0
}
