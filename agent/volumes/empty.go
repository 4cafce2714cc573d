package volumes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// chunk is how many names of a directory are read at once.
const chunk = 1024

// empty removes all that is in a directory but the names to keep. Links are
// removed, never followed.
//
// Every directory inside is first moved up, under a name of ours, and emptied
// there. The kernel moves no mount point and nothing across file systems, so
// that nothing is ever removed through a mount, not even one made meanwhile;
// and however deep containers have nested their directories, two open files and
// no recursion do.
func empty(ctx context.Context, path string, keep ...string) error {
	dir, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	e := emptier{top: dir, keep: keep}
	for {
		names, err := e.names(dir)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := e.remove(name); err != nil {
				return err
			}
		}
	}
}

type emptier struct {
	top   *os.File
	keep  []string
	moved int
}

// names reads the next names to remove; none when the directory is empty.
func (e *emptier) names(dir *os.File) ([]string, error) {
	if _, err := dir.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(chunk)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if dir == e.top {
		names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(e.keep, n) })
	}
	return names, err
}

// remove takes one entry of the top directory away, whatever it is.
func (e *emptier) remove(name string) error {
	err := unlink(e.top, name)
	if !errors.Is(err, unix.EISDIR) {
		return err
	}
	if name, err = e.lift(e.top, name); err != nil {
		return err
	}
	fd, err := unix.Openat(int(e.top.Fd()), name, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", e.at(e.top, name), err)
	}
	dir := os.NewFile(uintptr(fd), e.at(e.top, name))
	defer dir.Close()
	if err := e.drain(dir); err != nil {
		return err
	}
	if err := unix.Unlinkat(int(e.top.Fd()), name, unix.AT_REMOVEDIR); err != nil {
		return fmt.Errorf("remove %s: %w", dir.Name(), err)
	}
	return nil
}

// drain removes the files of a lifted directory and lifts its directories.
func (e *emptier) drain(dir *os.File) error {
	for {
		names, err := e.names(dir)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			err := unlink(dir, name)
			if errors.Is(err, unix.EISDIR) {
				_, err = e.lift(dir, name)
			}
			if err != nil {
				return err
			}
		}
	}
}

// lift moves a directory to the top under a free name.
func (e *emptier) lift(from *os.File, name string) (string, error) {
	for {
		e.moved++
		to := ".gone-" + strconv.Itoa(e.moved)
		if to == name {
			continue // left by an earlier life; not moving it would prove nothing
		}
		err := unix.Renameat(int(from.Fd()), name, int(e.top.Fd()), to)
		switch {
		case err == nil:
			return to, nil
		case errors.Is(err, unix.EEXIST), errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.ENOTDIR):
			// The name is taken.
		case errors.Is(err, unix.EBUSY), errors.Is(err, unix.EXDEV):
			return "", fmt.Errorf("%s is another file system or a mount: unmount it first (%w)", e.at(from, name), err)
		default:
			return "", fmt.Errorf("move %s: %w", e.at(from, name), err)
		}
	}
}

func (e *emptier) at(dir *os.File, name string) string { return dir.Name() + "/" + name }

// unlink removes what is not a directory; a directory is EISDIR, gone is success.
func unlink(dir *os.File, name string) error {
	err := unix.Unlinkat(int(dir.Fd()), name, 0)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	return fmt.Errorf("remove %s/%s: %w", dir.Name(), name, err)
}
