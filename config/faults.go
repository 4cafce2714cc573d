package config

import (
	"errors"
	"fmt"
)

// faults gathers what is wrong with a configuration, so that a user sees all of
// it at once.
type faults struct {
	all []error
}

// add notes one fault of what is named (a flag, a field).
func (f *faults) add(name, format string, args ...any) {
	f.all = append(f.all, fmt.Errorf("%s: %s", name, fmt.Sprintf(format, args...)))
}

// check notes a fault unless ok.
func (f *faults) check(ok bool, name, format string, args ...any) {
	if !ok {
		f.add(name, format, args...)
	}
}

func (f *faults) err() error { return errors.Join(f.all...) }

// Error is a configuration that cannot be used: exit code 2.
type Error struct{ Err error }

// Error lists every fault on a line of its own.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the joined faults.
func (e *Error) Unwrap() error { return e.Err }
