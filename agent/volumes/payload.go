package volumes

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// What the kernel takes as a path and as one name in it.
const (
	maxPath = 4096
	maxName = 255
)

// payloadDirMode lets every user of a pod's containers walk to its files.
const payloadDirMode = fs.ModeDir | 0o755

// file is one file of a volume; of a directory only the mode counts.
type file struct {
	data []byte
	mode fs.FileMode
}

// payload is all that a volume shall hold: files by clean relative path.
type payload map[string]file

// add puts a file in, in place of one of the same path.
func (p payload) add(written string, f file) error {
	clean, err := cleanPath(written)
	if err != nil {
		return err
	}
	p[clean] = f
	return nil
}

// cleanPath refuses what would leave the volume, and what would look like the
// writer's own names.
func cleanPath(written string) (string, error) {
	clean := path.Clean(written)
	switch {
	case written == "" || clean == ".":
		return "", fmt.Errorf("path %q names no file", written)
	case path.IsAbs(written):
		return "", fmt.Errorf("path %q is not relative", written)
	case len(written) > maxPath:
		return "", fmt.Errorf("path %.40q… is longer than %d bytes", written, maxPath)
	case strings.ContainsRune(written, 0) || !utf8.ValidString(written):
		return "", fmt.Errorf("path %q holds bytes that are no text", written)
	case strings.HasPrefix(clean, ".."):
		return "", fmt.Errorf("path %q begins with two dots", written)
	}
	for name := range strings.SplitSeq(written, "/") {
		if name == ".." {
			return "", fmt.Errorf("path %q holds a name of two dots", written)
		}
		if len(name) > maxName {
			return "", fmt.Errorf("path %.40q… holds a name of more than %d bytes", written, maxName)
		}
	}
	return clean, nil
}

// tree is the payload with the directories that it needs, "." among them. A file
// where a directory must be is an error.
func (p payload) tree() (map[string]file, error) {
	all := map[string]file{".": {mode: payloadDirMode}}
	for name, f := range p {
		all[name] = f
	}
	for name := range p {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, isFile := p[dir]; isFile {
				return nil, fmt.Errorf("path %q lies in %q, which is a file", name, dir)
			}
			all[dir] = file{mode: payloadDirMode}
		}
	}
	return all, nil
}

// tops are the first names of all paths: what a user of the volume sees.
func (p payload) tops() map[string]bool {
	all := map[string]bool{}
	for name := range p {
		top, _, _ := strings.Cut(name, "/")
		all[top] = true
	}
	return all
}
