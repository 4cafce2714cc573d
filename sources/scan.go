package sources

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// identity tells one folder from another at the same path: an unmounted disk
// shows the folder beneath it. The time of birth tells a folder from its
// successor that got the same inode; it is 0 where the file system has none.
type identity struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	Born   int64  `json:"born,omitempty"` // nanoseconds
}

func (a identity) same(b identity) bool {
	return a.Device == b.Device && a.Inode == b.Inode && (a.Born == b.Born || a.Born == 0 || b.Born == 0)
}

func (a identity) String() string {
	return fmt.Sprintf("device %d:%d inode %d", unix.Major(a.Device), unix.Minor(a.Device), a.Inode)
}

// identify returns the identity of the folder at path, links followed.
func identify(path string) (identity, error) {
	return statx(unix.AT_FDCWD, path, 0)
}

func identifyOpen(folder *os.File) (id identity, err error) {
	conn, err := folder.SyscallConn()
	if err != nil {
		return identity{}, err
	}
	controlErr := conn.Control(func(fd uintptr) { id, err = statx(int(fd), "", unix.AT_EMPTY_PATH) })
	return id, errors.Join(err, controlErr)
}

func statx(fd int, path string, flags int) (identity, error) {
	var st unix.Statx_t
	if err := unix.Statx(fd, path, flags, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return identity{}, err
	}
	id := identity{Device: unix.Mkdev(st.Dev_major, st.Dev_minor), Inode: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		id.Born = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	return id, nil
}

// spot is where a place is just now.
type spot struct {
	folder string   // to look in, and to watch
	single bool     // the place is one file, and folder is its parent
	id     identity // of folder
}

// locate finds a place, which is a folder or one file, links followed.
func locate(place string) (spot, error) {
	info, err := os.Stat(place)
	if err != nil {
		return spot{}, bare(err)
	}
	at := spot{folder: place}
	switch {
	case info.IsDir():
	case info.Mode().IsRegular():
		at.folder, at.single = filepath.Dir(place), true
	default:
		return spot{}, fmt.Errorf("is %s, neither a folder nor a file", kindOfFile(info.Mode()))
	}
	at.id, err = identify(at.folder)
	return at, bare(err)
}

// listing is what a place holds.
type listing struct {
	spot
	names      []string // base names that count, sorted
	ignored    []string // files whose name does not count
	subfolders []string // not entered; those with a dot are not named
}

// list lists a place that was located before. The identity in the listing is of
// the folder that was really read.
func list(place string, at spot) (listing, error) {
	l := listing{spot: at}
	if at.single {
		l.names = []string{filepath.Base(place)}
		return l, nil
	}
	folder, err := os.Open(at.folder)
	if err != nil {
		return listing{}, bare(err)
	}
	defer folder.Close()
	if l.id, err = identifyOpen(folder); err != nil {
		return listing{}, bare(err)
	}
	entries, err := folder.ReadDir(-1)
	if err != nil {
		return listing{}, bare(err)
	}
	for _, entry := range entries {
		l.add(entry)
	}
	slices.Sort(l.names)
	return l, nil
}

func (l *listing) add(entry fs.DirEntry) {
	switch name := entry.Name(); {
	case entry.IsDir():
		if !strings.HasPrefix(name, ".") {
			l.subfolders = append(l.subfolders, name)
		}
	case isManifestName(name):
		l.names = append(l.names, name)
	default:
		l.ignored = append(l.ignored, name)
	}
}
