package config

import (
	"errors"
	"path/filepath"
	"strings"
)

// CheckFile tells every fault and warning of a file as a start with it would, each
// with the path as given, line and column. read gives its content; nil reads it.
func CheckFile(path string, read func(path string) ([]byte, error), try Try) (faults, warnings []string) {
	absolute := Absolute(path)
	asGiven := func(text string) string {
		if rest, ok := strings.CutPrefix(text, absolute+":"); ok {
			return path + ":" + rest
		}
		return path + ": " + text
	}
	_, file, err := Loader{Flags: Flags{Config: path}, Etc: filepath.Dir(absolute), Read: read, Try: try}.load()
	for _, fault := range each(err) {
		faults = append(faults, asGiven(fault.Error()))
	}
	for _, w := range file.warnings {
		warnings = append(warnings, asGiven(w))
	}
	return faults, warnings
}

// each are the errors that were joined, unless whoever wraps them adds to them.
func each(err error) []error {
	var joined interface {
		error
		Unwrap() []error
	}
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &joined) || joined.Error() != err.Error():
		return []error{err}
	}
	var all []error
	for _, inner := range joined.Unwrap() {
		all = append(all, each(inner)...)
	}
	return all
}
