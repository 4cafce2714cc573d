package volumes

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Names of the writer's own in a volume. All begin with two dots, as no path of
// a payload may.
const (
	ownPrefix = ".."
	dataLink  = "..data"
	freshLink = "..data_tmp"
)

// disk is all that a writer does to a volume's directory. Each verb is one step,
// after any of which the agent may be killed.
type disk interface {
	Mkdir(name string, perm fs.FileMode) error
	Chmod(name string, mode fs.FileMode) error
	WriteFile(name string, data []byte, perm fs.FileMode) error
	Symlink(target, name string) error
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
}

// writer replaces all files of one directory at once, in the kubelet's layout:
//
//	..2026_01_02_15_04_05.1f2e3d4c/app/conf   the files
//	..data -> ..2026_01_02_15_04_05.1f2e3d4c  replaced by a rename
//	app -> ..data/app                         what users see
//
// The rename is the moment from which all paths lead to the new files. Links to
// new names are made before it and those to names that are gone removed after it,
// so that at any time a path leads to a file of the one set that counts, or to
// nothing. Killed anywhere, the next write leaves what it would have left alone.
//
// Nothing is synced: after a power cut, too, a volume is written before a
// container sees it, and what is there is compared byte by byte.
type writer struct {
	root *os.Root
	disk disk  // root, but in tests
	room *room // nil where what is written has place enough
}

// writeVolume makes the files of a directory those of a payload. It reads what
// is there, and writes only if that differs in names, bytes or modes, and if there
// is room for it.
func writeVolume(dir string, files payload, space *room) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := (writer{root, root, space}).write(files); err != nil {
		return fmt.Errorf("write files in %s: %w", dir, err)
	}
	return nil
}

func (w writer) write(files payload) error {
	tree, err := files.tree()
	if err != nil {
		return err
	}
	current, tops := w.current(), files.tops()
	if current != "" && w.holds(current, tree) {
		if err := w.link(tops); err != nil {
			return err
		}
		return w.sweep(current, tops)
	}
	fresh, err := w.replace(tree, tops)
	if err != nil {
		if fresh != "" {
			_ = w.disk.RemoveAll(fresh) // else the next write does it
		}
		return err
	}
	return w.sweep(fresh, tops)
}

// current is the name of the directory that counts; "" if there is none.
func (w writer) current() string {
	target, err := w.root.Readlink(dataLink)
	if err != nil || !strings.HasPrefix(target, ownPrefix) || strings.Contains(target, "/") {
		return ""
	}
	if info, err := w.root.Lstat(target); err != nil || !info.IsDir() {
		return ""
	}
	return target
}

// holds reports whether a directory is the tree, to the last byte and bit.
func (w writer) holds(dir string, tree map[string]file) bool {
	left := len(tree)
	err := fs.WalkDir(w.root.FS(), dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		want, ok := tree[strings.TrimPrefix(strings.TrimPrefix(name, dir), "/")]
		if name == dir {
			want, ok = tree["."], true
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !ok || info.Mode() != want.mode || !w.same(name, info, want) {
			return fs.ErrInvalid
		}
		left--
		return nil
	})
	return err == nil && left == 0
}

func (w writer) same(name string, info fs.FileInfo, want file) bool {
	if info.IsDir() {
		return true
	}
	if info.Size() != int64(len(want.data)) {
		return false
	}
	data, err := w.root.ReadFile(name)
	return err == nil && bytes.Equal(data, want.data)
}

// replace makes a new directory and lets it count. What it made is returned with
// an error too.
func (w writer) replace(tree map[string]file, tops map[string]bool) (fresh string, err error) {
	if w.room != nil {
		release, err := w.room.reserve(w.root.Name(), tree)
		if err != nil {
			return "", err
		}
		defer release()
	}
	if fresh, err = w.freshDir(); err != nil {
		return "", err
	}
	if err := w.fill(fresh, tree); err != nil {
		return fresh, err
	}
	if err := w.link(tops); err != nil {
		return fresh, err
	}
	if err := w.disk.RemoveAll(freshLink); err != nil {
		return fresh, err
	}
	if err := w.disk.Symlink(fresh, freshLink); err != nil {
		return fresh, err
	}
	return fresh, w.disk.Rename(freshLink, dataLink)
}

func (w writer) freshDir() (string, error) {
	for {
		name := fmt.Sprintf("%s%s.%08x", ownPrefix, time.Now().UTC().Format("2006_01_02_15_04_05"), rand.Uint32())
		if err := w.disk.Mkdir(name, 0o700); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

// fill makes the tree's files, each directory before what lies in it. Modes are
// set apart, whatever the umask.
func (w writer) fill(dir string, tree map[string]file) error {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		f, at := tree[name], path.Join(dir, name)
		var err error
		switch {
		case !f.mode.IsDir():
			err = w.disk.WriteFile(at, f.data, 0o600)
		case name != ".":
			err = w.disk.Mkdir(at, 0o700)
		}
		if err == nil {
			err = w.disk.Chmod(at, f.mode.Perm())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// link makes the names that users see. What else bears such a name, a mount
// point, is in the way.
func (w writer) link(tops map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(tops)) {
		want := path.Join(dataLink, name)
		if target, err := w.root.Readlink(name); err == nil && target == want {
			continue
		}
		if err := w.disk.Symlink(want, name); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes links to names that are gone, and what writes before this one
// have left. Directories that are mount points of other volumes stay.
func (w writer) sweep(current string, tops map[string]bool) error {
	dir, err := w.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case name == dataLink || name == current || tops[name]:
			continue
		case strings.HasPrefix(name, ownPrefix):
			err = w.disk.RemoveAll(name)
		default:
			if target, e := w.root.Readlink(name); e != nil || !strings.HasPrefix(target, dataLink+"/") {
				continue
			}
			err = w.disk.Remove(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
