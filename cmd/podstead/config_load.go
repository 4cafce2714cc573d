package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// loadConfig brings flags (and their variables), file and defaults together:
// flag > variable > file > default. etc is the folder of the default file and
// the default manifests. The error holds every fault of all of them; the
// warnings are for the log.
func loadConfig(flags runFlags, etc string) (Config, []string, error) {
	c := defaults()
	// What could be read of a faulty file is applied all the same, so that values
	// out of range are told together with fields that are not known.
	file, err := configFile(flags, etc)
	bad := []error{err, file.apply(&c), flags.apply(&c)}
	if len(c.Manifests) == 0 {
		c.Manifests = []string{filepath.Join(etc, "manifests")}
	}
	c.settlePaths()
	bad = append(bad, c.Validate())
	if err := errors.Join(bad...); err != nil {
		return Config{}, nil, &configError{err}
	}
	return c, file.warnings, nil
}

// configFile reads the named file, or the default one when it exists and no
// source was given by flag or variable.
func configFile(flags runFlags, etc string) (fileConfig, error) {
	if flags.Config != "" {
		return readConfigFile(flags.Config)
	}
	if len(flags.PodManifestPath) > 0 {
		return fileConfig{}, nil
	}
	byDefault := filepath.Join(etc, "config.yaml")
	if _, err := os.Stat(byDefault); errors.Is(err, fs.ErrNotExist) {
		return fileConfig{}, nil
	}
	return readConfigFile(byDefault)
}

// settlePaths makes paths absolute. One that cannot be stays as it is, for
// Validate to name.
func (c *Config) settlePaths() {
	c.RootDir = absolute(c.RootDir)
	c.Socket = absolute(socketPath(c.RootDir, c.Socket))
	paths := make([]string, len(c.Manifests))
	for i, path := range c.Manifests {
		paths[i] = absolute(path)
	}
	c.Manifests = paths
}

func absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
