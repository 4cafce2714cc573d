package sources

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Listing is what a file source reads of its place, and what it passes over.
// All are paths that begin as the place does.
type Listing struct {
	Files      []string // in the order in which they are read
	Ignored    []string // files whose names are no manifests'
	Subfolders []string // not entered
}

// List looks at a folder or a file as a file source does. It reads no manifest.
func List(place string) (Listing, error) {
	at, err := locate(place)
	if err != nil {
		return Listing{}, err
	}
	found, err := list(place, at)
	if err != nil {
		return Listing{}, err
	}
	if found.single {
		return Listing{Files: []string{place}}, nil
	}
	return Listing{
		Files:      below(place, found.names),
		Ignored:    below(place, found.ignored),
		Subfolders: below(place, found.subfolders),
	}, nil
}

// ReadManifest reads a file as a file source does, but does not wait for whoever
// writes it. Nothing else makes it wait either: pipes and devices are refused.
func ReadManifest(path string, limit int64) ([]byte, error) {
	l := looker{limit: limit, writers: func(*os.File) written { return writersNone }}
	switch seen := l.look(path, nil); seen.outcome {
	case whole:
		return seen.data, nil
	case missing:
		return nil, fs.ErrNotExist
	case writing:
		return nil, errors.New(beingWritten)
	default:
		return nil, seen.err
	}
}

func below(folder string, names []string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = filepath.Join(folder, name)
	}
	slices.Sort(paths)
	return paths
}
