package runtime

import (
	"io/fs"
	"time"
)

// FilePlace is a path in a container, what is there, and whose a file would be
// that is made there.
type FilePlace struct {
	Path     string // absolute and clean; "/" for the root
	File     *File  // nil when nothing is there
	UID, GID int    // of the user that the container runs as
}

// File is a file of a container.
type File struct {
	Mode    fs.FileMode
	Size    int64
	ModTime time.Time
	Target  string // of a link: the absolute path that it leads to, links on the way followed
}
