package sources

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// written is what the kernel knows of a file's writers.
type written int

const (
	writersUnknown written = iota // this file system has no leases, or the file is not ours
	writersNone
	writersSome
)

// writers asks whether somebody has f, which is open for reading only, open for
// writing. A read lease can be had exactly when nobody has. It is given back at
// once: while it was held, a writer's open would have to wait for us.
func writers(f *os.File) written {
	conn, err := f.SyscallConn()
	if err != nil {
		return writersUnknown
	}
	answer := writersUnknown
	err = conn.Control(func(fd uintptr) { answer = probe(int(fd)) })
	if err != nil {
		return writersUnknown
	}
	return answer
}

func probe(fd int) written {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	if errors.Is(err, unix.EAGAIN) {
		return writersSome
	}
	if err != nil {
		return writersUnknown
	}
	// Closing the file gives the lease back in any case.
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	return writersNone
}

// stamp tells one state of a file from another without reading it. Equal stamps
// do not prove equal content: clocks of file systems are coarse.
type stamp struct {
	device, inode   uint64
	size            int64
	changed, edited int64 // ctime, mtime: nanoseconds
}

// stampOf fails for what is no regular file.
func stampOf(f *os.File) (stamp, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return stamp{}, err
	}
	var st unix.Stat_t
	var failure error
	if err := conn.Control(func(fd uintptr) { failure = unix.Fstat(int(fd), &st) }); err != nil {
		return stamp{}, err
	}
	if failure == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		failure = errors.New("is not a file any more")
	}
	return stamp{
		device:  st.Dev,
		inode:   st.Ino,
		size:    st.Size,
		changed: st.Ctim.Nano(),
		edited:  st.Mtim.Nano(),
	}, failure
}
