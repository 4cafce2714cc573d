package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Scope is which files of a commit are wanted.
type Scope struct {
	// Paths are folders, read with all beneath them, or single files; "" or "."
	// is the whole repository. At least one.
	Paths []string
	// Include and Exclude are patterns for the path within the folder of Paths:
	// with * ? [] within a name, ** for any folders, and for the last name alone
	// where there is no slash. None to include means all. What excludes a folder
	// excludes all in it.
	Include, Exclude []string
	// Keep tells by its last name whether a file counts.
	Keep func(name string) bool
}

// File is one file of a commit.
type File struct {
	Path string // from the repository's root
	Data []byte
}

// CheckPath says what is wrong with a path of Scope.
func CheckPath(p string) error {
	switch {
	case strings.HasPrefix(p, "/"):
		return fmt.Errorf("path %q is absolute: it counts from the repository's root", p)
	case slices.Contains(strings.Split(p, "/"), ".."):
		return fmt.Errorf("path %q leads upwards", p)
	case strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("path %q holds control characters", p)
	}
	return nil
}

// Bounds of what is walked through.
const (
	maxEntries = 200_000 // of the trees in scope
	maxNesting = 100
	maxTrees   = 32 << 20 // bytes of them all: each is held while those in it are read
	maxPath    = 4096     // bytes, as in the kernel; each folder on the way holds its own
	maxTold    = 20       // entries that are named as wrong
)

// walk finds the files in scope.
type walk struct {
	h      *holding
	scope  Scope
	limits Limits
	found  map[string]plumbing.Hash
	seen   int   // entries
	bytes  int64 // of trees
	wrong  []error
}

// files lists what is in scope beneath a commit's tree, by path. Wrong entries
// are an error that names them all.
func (w *walk) files(ctx context.Context, root plumbing.Hash) error {
	w.found = map[string]plumbing.Hash{}
	for _, p := range w.scope.Paths {
		if err := CheckPath(p); err != nil {
			return err
		}
		if err := w.start(ctx, root, path.Clean("./"+p)); err != nil {
			return err
		}
	}
	return errors.Join(w.wrong...)
}

// start goes to where a path leads. No link is followed on the way.
func (w *walk) start(ctx context.Context, root plumbing.Hash, to string) error {
	at := node{mode: modeTree, hash: root}
	if to == "." {
		return w.folder(ctx, at.hash, ".", ".", 0)
	}
	gone := ""
	for part := range strings.SplitSeq(to, "/") {
		gone = path.Join(gone, part)
		if at.mode != modeTree {
			return fmt.Errorf("path %s is not in the commit: %s is a file", to, path.Dir(gone))
		}
		nodes, err := w.tree(ctx, at.hash)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(nodes, func(n node) bool { return n.name == part })
		if i < 0 {
			return fmt.Errorf("path %s is not in the commit", to)
		}
		if at = nodes[i]; special(at.mode) != "" {
			return fmt.Errorf("%s is %s", gone, special(at.mode))
		}
	}
	if at.mode == modeTree {
		return w.folder(ctx, at.hash, to, ".", 0)
	}
	w.found[to] = at.hash
	return nil
}

// special names what can't be read.
func special(mode string) string {
	switch mode {
	case modeLink:
		return "a symbolic link, which is not followed"
	case modeGitlink:
		return "a submodule, which is not fetched"
	}
	return ""
}

// folder takes what is in scope of a folder. within is its path in the folder
// that the scope names.
func (w *walk) folder(ctx context.Context, hash plumbing.Hash, at, within string, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("%s: folders are nested more than %d deep", at, maxNesting)
	}
	nodes, err := w.tree(ctx, hash)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if n.name == ".." || strings.Contains(n.name, "/") {
			return fmt.Errorf("%s holds an entry whose name is a path", printable(at))
		}
		if len(at)+len(n.name) >= maxPath {
			return fmt.Errorf("%s holds an entry whose path is longer than %d bytes", printable(at), maxPath)
		}
		full, name := path.Join(at, n.name), path.Join(within, n.name)
		if strings.HasPrefix(n.name, ".") || anyMatches(w.scope.Exclude, name) {
			continue
		}
		switch {
		case n.mode == modeTree:
			err = w.folder(ctx, n.hash, full, name, depth+1)
		case special(n.mode) != "":
			w.blame(full, special(n.mode))
		default:
			err = w.file(n, full, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) file(n node, full, name string) error {
	if !w.scope.Keep(n.name) || len(w.scope.Include) > 0 && !anyMatches(w.scope.Include, name) {
		return nil
	}
	w.found[full] = n.hash
	if len(w.found) > w.limits.Files {
		return fmt.Errorf("%w of %d files in scope", errLimit, w.limits.Files)
	}
	return nil
}

func (w *walk) blame(at, what string) {
	if len(w.wrong) < maxTold {
		w.wrong = append(w.wrong, fmt.Errorf("%s is %s", printable(at), what))
	}
}

func (w *walk) tree(ctx context.Context, hash plumbing.Hash) ([]node, error) {
	kind, data, err := w.h.object(ctx, hash, maxTrees-w.bytes)
	if errors.Is(err, errTooLarge) {
		return nil, fmt.Errorf("%w of %d bytes for the folders in scope", errLimit, maxTrees)
	}
	if err != nil {
		return nil, err
	}
	w.bytes += int64(len(data))
	if kind != plumbing.TreeObject {
		return nil, fmt.Errorf("object %s is no folder: it %w", hash, errMalformed)
	}
	nodes, err := parseTree(data)
	if w.seen += len(nodes); w.seen > maxEntries {
		return nil, fmt.Errorf("%w of %d entries of the folders in scope", errLimit, maxEntries)
	}
	return nodes, err
}

// lacks lists the files whose content the store does not hold.
func (w *walk) lacks() (missing []plumbing.Hash) {
	asked := map[plumbing.Hash]bool{}
	for _, hash := range w.found {
		if !w.h.has(hash) && !asked[hash] {
			asked[hash] = true
			missing = append(missing, hash)
		}
	}
	return missing
}

// read returns the files, sorted by path.
func (w *walk) read(ctx context.Context) ([]File, error) {
	var files []File
	var wrong []error
	total := int64(0)
	for _, name := range slices.Sorted(maps.Keys(w.found)) {
		data, err := w.content(ctx, w.found[name])
		switch {
		case errors.Is(err, errTooLarge):
			err = fmt.Errorf("%s %w of %d bytes for a file", printable(name), errLimit, w.limits.File)
		case err == nil && isPointer(data):
			err = fmt.Errorf("%s is a Git LFS pointer: its content is not in the repository", printable(name))
		case err != nil:
			return nil, err
		}
		if err != nil {
			if len(wrong) < maxTold {
				wrong = append(wrong, err)
			}
			continue
		}
		if total += int64(len(data)); total > w.limits.Total {
			return nil, fmt.Errorf("%w of %d bytes for the files in scope", errLimit, w.limits.Total)
		}
		files = append(files, File{Path: name, Data: data})
	}
	return files, errors.Join(wrong...)
}

func (w *walk) content(ctx context.Context, hash plumbing.Hash) ([]byte, error) {
	kind, data, err := w.h.object(ctx, hash, w.limits.File)
	if err == nil && kind != plumbing.BlobObject {
		err = fmt.Errorf("object %s is no file: it %w", hash, errMalformed)
	}
	return data, err
}

// isPointer tells what Git LFS leaves in the place of a file.
func isPointer(data []byte) bool {
	return bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/"))
}
