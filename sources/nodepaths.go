package sources

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// NodePath is a path of the node that rules it, and what it is, for messages:
// "the root-dir".
type NodePath struct {
	Path string
	Use  string
}

// NodePaths are paths that pods of sources out of the owner's hand must not
// reach: who can write there rules the node, who can read there has its
// secrets. Never changed once made; safe for concurrent use.
type NodePaths struct {
	protected []NodePath
}

// NewNodePaths protects paths, which need not exist.
func NewNodePaths(protected ...NodePath) *NodePaths {
	paths := &NodePaths{}
	for _, p := range protected {
		paths.protected = append(paths.protected, NodePath{Path: filepath.Clean(p.Path), Use: p.Use})
	}
	return paths
}

// Forbids says why a host path must not be mounted: it is a protected path, it
// contains one or it lies in one, as written or with every link resolved as the
// disk has it now, or under another name of the same folder. "" when it may be.
// It is to be asked again when the path is mounted, since links change.
func (n *NodePaths) Forbids(hostPath string) (why string) {
	if n == nil {
		return ""
	}
	written := filepath.Clean(hostPath)
	real := followLinks(written)
	for _, p := range n.protected {
		for _, mine := range []string{p.Path, followLinks(p.Path)} {
			for _, theirs := range []string{real, written} {
				relation := related(theirs, mine)
				if relation == "" {
					continue
				}
				if theirs != written {
					return fmt.Sprintf("%s leads to %s, which %s %s %s", written, theirs, relation, p.Use, p.Path)
				}
				return fmt.Sprintf("%s %s %s %s", written, relation, p.Use, p.Path)
			}
		}
	}
	return ""
}

// related says how path a stands to path b; "" when neither is part of the
// other.
func related(a, b string) string {
	switch {
	case a == b || sameFile(a, b):
		return "is"
	case liesIn(a, b):
		return "lies in"
	case liesIn(b, a):
		return "contains"
	}
	return ""
}

// liesIn reports whether path lies in folder, under this or another name of the
// same folder: a bind mount.
func liesIn(path, folder string) bool {
	if folder == "/" || strings.HasPrefix(path, folder+"/") {
		return true
	}
	for path != "/" && path != "." {
		path = filepath.Dir(path)
		if sameFile(path, folder) {
			return true
		}
	}
	return false
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// maxLinks is how many links a path may take, as in the kernel.
const maxLinks = 40

// followLinks follows every link of an absolute path, as far as the path exists; the
// rest is taken as written. A path of too many links leads nowhere and comes back
// as far as it was followed.
func followLinks(path string) string {
	at, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		target, err := os.Readlink(next)
		if err != nil { // no link, or nothing there
			at = next
			continue
		}
		if links++; links > maxLinks {
			return filepath.Join(next, filepath.Join(rest...))
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at
}
