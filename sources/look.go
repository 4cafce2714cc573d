package sources

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// outcome is how a look at a file ended.
type outcome int

const (
	whole     outcome = iota // read, and nobody was writing
	writing                  // somebody has it open for writing
	unsettled                // no lease can tell, and it has not been still for long enough
	missing                  // no such name
	dangling                 // a link whose target is missing
	refused                  // can't be read, or is nothing to read; err says why
)

// observation is what one look at a file showed.
type observation struct {
	outcome outcome
	data    []byte // whole
	err     error  // dangling, refused
	// through is the first element of the link's target inside the folder, "" if
	// the name is no link or leads out: a change of that name may change this file.
	through string
}

// looker looks at files.
type looker struct {
	limit   int64                  // bytes
	writers func(*os.File) written // replaced in tests
}

// look reads the file at path if it is whole. Nothing it does waits for others:
// pipes and devices are told by their mode and not opened. Where the kernel
// can't tell whether somebody is writing, still is asked whether the file has
// had this stamp for long enough.
func (l looker) look(path string, still func(stamp) bool) observation {
	var seen observation
	target, linkErr := os.Readlink(path)
	if linkErr == nil {
		seen.through = inside(filepath.Dir(path), target)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && linkErr == nil:
		seen.outcome, seen.err = dangling, fmt.Errorf("is a link to %s, which does not exist", target)
		return seen
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		seen.outcome = missing
		return seen
	case err != nil:
		seen.outcome, seen.err = refused, bare(err)
		return seen
	case info.IsDir() && linkErr != nil: // a subfolder, whatever its name
		seen.outcome = missing
		return seen
	case !info.Mode().IsRegular():
		seen.outcome, seen.err = refused, fmt.Errorf("is %s, not a file", kindOfFile(info.Mode()))
		return seen
	}
	seen.outcome, seen.data, seen.err = l.open(path, still)
	return seen
}

// open takes the file's bytes between two looks at its writers and its stamp: a
// writer in between shows in one of them.
func (l looker) open(path string, still func(stamp) bool) (outcome, []byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing, nil, nil
	case errors.Is(err, unix.EWOULDBLOCK): // a write lease is being broken
		return writing, nil, nil
	case err != nil:
		return refused, nil, bare(err)
	}
	defer f.Close()
	before, err := stampOf(f)
	if err != nil {
		return refused, nil, bare(err)
	}
	if before.size > l.limit {
		return refused, nil, fmt.Errorf("is larger than the limit of %d bytes for a file", l.limit)
	}
	switch l.writers(f) {
	case writersSome:
		return writing, nil, nil
	case writersUnknown:
		if !still(before) {
			return unsettled, nil, nil
		}
	}
	data, err := readSize(f, before.size)
	if err != nil {
		return refused, nil, bare(err)
	}
	after, err := stampOf(f)
	if err != nil {
		return refused, nil, bare(err)
	}
	if after != before || int64(len(data)) != after.size || l.writers(f) == writersSome {
		return writing, nil, nil
	}
	return whole, data, nil
}

// readSize reads no more than the size says: some files of the kernel's, of
// size 0, keep a reader waiting (/proc/kmsg, that a link may lead to). Fewer
// bytes mean that the file has shrunk.
func readSize(f *os.File, size int64) ([]byte, error) {
	data := make([]byte, size)
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return data[:n], err
}

// inside returns the first element of a link's target when that lies in folder.
func inside(folder, target string) string {
	if filepath.IsAbs(target) {
		rel, err := filepath.Rel(folder, target)
		if err != nil {
			return ""
		}
		target = rel
	}
	first, _, _ := strings.Cut(filepath.Clean(target), string(filepath.Separator))
	if first == ".." || first == "." {
		return ""
	}
	return first
}

func kindOfFile(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something special"
}

// bare is an error without the path that a fault's place names anyway.
func bare(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("%s: %w", at.Op, at.Err)
	}
	return err
}
