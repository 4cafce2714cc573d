package gitrepo

import (
	"fmt"
	"path"
	"strings"
)

// CheckGlob says what is wrong with a pattern of Scope.
func CheckGlob(pattern string) error {
	if pattern == "" || strings.HasPrefix(pattern, "/") {
		return fmt.Errorf("pattern %q is empty or begins with a slash", pattern)
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(part, ""); err != nil {
			return fmt.Errorf("pattern %q: %w", pattern, err)
		}
	}
	return nil
}

// matches tells whether a path fits a pattern: * ? and [] within one name, **
// for any number of folders. A pattern without a slash is for the last name,
// in whatever folder.
func matches(pattern, name string) bool {
	if !strings.Contains(pattern, "/") && pattern != "**" {
		name = path.Base(name)
	}
	return matchParts(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

// matchParts goes through the names once and keeps which parts of the pattern
// fit so far, so that no pattern takes long.
func matchParts(pattern, names []string) bool {
	fits := make([]bool, len(pattern)+1) // the first i parts fit the names so far
	fits[0] = true
	spread(pattern, fits)
	for _, name := range names {
		next := make([]bool, len(fits))
		for i, part := range pattern {
			if part == "**" {
				next[i+1] = next[i+1] || fits[i+1] || fits[i]
			} else if ok, _ := path.Match(part, name); ok && fits[i] {
				next[i+1] = true
			}
		}
		spread(pattern, next)
		fits = next
	}
	return fits[len(pattern)]
}

// spread lets ** stand for no folder.
func spread(pattern []string, fits []bool) {
	for i, part := range pattern {
		if part == "**" && fits[i] {
			fits[i+1] = true
		}
	}
}

func anyMatches(patterns []string, name string) bool {
	for _, p := range patterns {
		if matches(p, name) {
			return true
		}
	}
	return false
}
