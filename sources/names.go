package sources

import (
	"path/filepath"
	"strings"
)

// isManifestName tells whether a file of this base name counts in a folder:
// .yaml, .yml and .json do, unless an editor or a package manager wrote the file
// for itself. The names of backups (lamp.yaml~, lamp.yaml.orig, .lamp.yaml.swp)
// fail by their ending or their dot already; #lamp.yaml# fails by its ending too,
// and .#lamp.yaml by its dot.
func isManifestName(base string) bool {
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "#") {
		return false
	}
	switch filepath.Ext(base) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}
