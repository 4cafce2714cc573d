package main

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/podstead/podstead/config"
)

// configuration checks a file as `podstead run --config` would.
func (c *checked) configuration(path string, data []byte) {
	c.configurations++
	_, warnings, err := config.Loader{Flags: config.Flags{Config: path}, Etc: filepath.Dir(path), Read: func(string) ([]byte, error) { return data, nil }, Try: trySources}.Load()
	asGiven := func(text string) string {
		if rest, ok := strings.CutPrefix(text, config.Absolute(path)+":"); ok {
			return path + ":" + rest
		}
		return path + ": " + text
	}
	for _, fault := range each(err) {
		c.wrong = append(c.wrong, asGiven(fault.Error()))
	}
	for _, w := range warnings {
		c.odd = append(c.odd, asGiven(w))
	}
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
