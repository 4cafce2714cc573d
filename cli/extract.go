package cli

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// extraction unpacks a tar in a folder and never outside of it, whatever the tar
// says: names that lead out, links that lead out, and what lies behind a link are
// left out with a warning. It comes from a container, which may be anybody's.
type extraction struct {
	root *os.Root
	skip int // parts of each name that are left out
	warn func(format string, args ...any)

	fresh map[string]bool // folders that it made
	dirs  []folder        // of those, what becomes theirs when all is in them
}

type folder struct {
	name   string
	header *tar.Header
}

// made notes a folder as new: it gets the mode that the tar tells.
func (x *extraction) made(name string) {
	if x.fresh == nil {
		x.fresh = map[string]bool{}
	}
	x.fresh[name] = true
}

// run unpacks to the end.
func (x *extraction) run(archive io.Reader) error {
	for content := tar.NewReader(archive); ; {
		header, err := content.Next()
		if errors.Is(err, io.EOF) {
			return x.finish()
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		name, ok := x.local(header.Name)
		if !ok {
			x.warn("left out %q: it leads out of the folder", header.Name)
			continue
		}
		if err := x.unpack(name, header, content); err != nil {
			return err
		}
	}
}

// local is a name below the root, "." for the root itself.
func (x *extraction) local(name string) (string, bool) {
	parts := strings.Split(strings.Trim(name, "/"), "/")
	if slices.Contains(parts, "..") {
		return "", false
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" || part == "." })
	name = path.Join(parts[min(x.skip, len(parts)):]...)
	if name == "" {
		return ".", true
	}
	return name, filepath.IsLocal(name)
}

func (x *extraction) unpack(name string, header *tar.Header, content io.Reader) error {
	if name == "." && header.Typeflag != tar.TypeDir {
		return errors.New("read the archive: it is not that of a folder")
	}
	if err := x.behindNoLink(name); err != nil {
		x.warn("left out %s: %v", name, err)
		return nil
	}
	var err error
	switch header.Typeflag {
	case tar.TypeDir:
		err = x.dir(name, header)
	case tar.TypeReg:
		err = x.file(name, header, content)
	case tar.TypeSymlink:
		err = x.symlink(name, header.Linkname)
	case tar.TypeLink:
		err = x.hardLink(name, header.Linkname)
	default:
		x.warn("left out %s: it is neither a file nor a folder nor a link", name)
	}
	return err
}

// behindNoLink makes sure that all folders on the way are just that. A link on the
// way could make another one lead elsewhere than it says.
func (x *extraction) behindNoLink(name string) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := x.root.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is no folder", dir)
		}
	}
	if dir := path.Dir(name); dir != "." {
		return x.root.MkdirAll(dir, 0o700) // a tar may leave folders out
	}
	return nil
}

func (x *extraction) dir(name string, header *tar.Header) error {
	if name != "." {
		err := x.root.Mkdir(name, 0o700)
		switch info, statErr := x.root.Lstat(name); {
		case err == nil:
			x.made(name)
		case !errors.Is(err, fs.ErrExist):
			return err
		case statErr != nil:
			return statErr
		case !info.IsDir():
			return fmt.Errorf("%s is no folder here, and a folder does not replace it", name)
		}
	}
	if x.fresh[name] {
		x.dirs = append(x.dirs, folder{name, header})
	}
	return nil
}

// free takes away the file or link that is in the way of another.
func (x *extraction) free(name string) error {
	info, err := x.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder here, and what is none does not replace it", name)
	}
	return x.root.Remove(name)
}

func (x *extraction) file(name string, header *tar.Header, content io.Reader) error {
	if err := x.free(name); err != nil {
		return err
	}
	file, err := x.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	if err == nil {
		err = file.Chmod(header.FileInfo().Mode().Perm()) // without setuid: whose it would be changes
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return x.root.Chtimes(name, header.ModTime, header.ModTime)
}

// symlink makes a link that stays inside. After a part that is a name its target
// must not go up again: what it goes up from may be a link itself.
func (x *extraction) symlink(name, target string) error {
	inner := strings.TrimLeft(target, "./")
	if path.IsAbs(target) || !filepath.IsLocal(path.Join(path.Dir(name), target)) || slices.Contains(strings.Split(inner, "/"), "..") {
		x.warn("left out %s: it is a link to %s, which may lead out of the folder", name, target)
		return nil
	}
	if err := x.free(name); err != nil {
		return err
	}
	return x.root.Symlink(target, name)
}

func (x *extraction) hardLink(name, target string) error {
	from, ok := x.local(target)
	if !ok || !x.holds(from) {
		x.warn("left out %s: it is another name of %s, which is not in the folder", name, target)
		return nil
	}
	if from == name {
		return nil
	}
	if err := x.free(name); err != nil {
		return err
	}
	return x.root.Link(from, name)
}

// holds reports that there is a file of this name, and that no link leads to it.
func (x *extraction) holds(name string) bool {
	info, err := x.root.Lstat(name)
	return err == nil && !info.IsDir() && x.behindNoLink(name) == nil
}

// finish gives the folders that are new their modes and times, the innermost
// first: one that may not be written to could not be filled.
func (x *extraction) finish() error {
	for _, d := range slices.Backward(x.dirs) {
		if err := x.root.Chmod(d.name, d.header.FileInfo().Mode().Perm()); err != nil {
			return err
		}
		if err := x.root.Chtimes(d.name, d.header.ModTime, d.header.ModTime); err != nil {
			return err
		}
	}
	return nil
}
