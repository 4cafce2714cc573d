// Package durable writes small files so that a power cut leaves either the old
// content or the new one, never a mixture and never nothing. Pod records and
// last good sets depend on it. Nothing here runs on its own.
//
// A file is durable once it was written here into a directory that is; so make
// directories with MkdirAll, and begin each life of the program with Settle where
// the one before may have been killed between a write and its sync.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// unfinished ends the names of files that are not yet what they are to be.
const unfinished = ".new"

// WriteFile replaces path by data: written beside it under a dot name, synced,
// renamed over it, and the directory synced. The directory must exist. On an
// error the old file is untouched and nothing is left beside it.
func WriteFile(path string, data []byte, mode fs.FileMode) (err error) {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*"+unfinished)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, bare(err))
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name()) // what failed counts, not what it leaves
			err = fmt.Errorf("write %s: %w", path, bare(err))
		}
	}()
	if err := fill(tmp, data, mode); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return SyncDir(dir)
}

func fill(f *os.File, data []byte, mode fs.FileMode) error {
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// bare is the error without the name of the file beside, which is another at
// each try and would make the same fault look new.
func bare(err error) error {
	var of *fs.PathError
	var between *os.LinkError
	switch {
	case errors.As(err, &of):
		return of.Err
	case errors.As(err, &between):
		return between.Err
	}
	return err
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// SyncDir makes the names in a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}

// MkdirAll makes a directory and what is missing above it, and makes their names
// durable. A directory that is there is success, and not synced again.
func MkdirAll(path string, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := MkdirAll(parent, mode); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make directory: %w", err)
	}
	return SyncDir(parent)
}

// Settle makes certain what a writer that was killed left in a directory: what it
// had not finished goes, and what is read there from now on is durable, its names
// and those in the directories above that are given. Missing ones are success.
func Settle(dir string, above ...string) error {
	left, err := filepath.Glob(filepath.Join(escaped(dir), ".*"+unfinished))
	faults := []error{err, ignoreMissing(SyncDir(dir))}
	for _, path := range left {
		faults = append(faults, ignoreMissing(os.Remove(path)))
	}
	for _, dir := range above {
		faults = append(faults, ignoreMissing(SyncDir(dir)))
	}
	return errors.Join(faults...)
}

// escaped is a path as a pattern that only it fits.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Remove deletes one file and makes its absence durable. A missing file is success.
func Remove(path string) error {
	if err := ignoreMissing(os.Remove(path)); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	if err := SyncDir(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
