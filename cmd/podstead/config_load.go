package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/podstead/podstead/cli"
)

// loadConfig brings flags (and their variables), file and defaults together:
// flag > variable > file > default. etc is the folder of the default file and
// the default manifests. The error holds every fault of all of them; the
// warnings are for the log.
func loadConfig(flags runFlags, etc string) (Config, []string, error) {
	return loadConfigBy(flags, etc, readConfigFile)
}

// loadConfigBy is loadConfig with the file's bytes from elsewhere.
func loadConfigBy(flags runFlags, etc string, read func(path string) ([]byte, error)) (Config, []string, error) {
	c := defaults()
	// What could be read of a faulty file is applied all the same, so that values
	// out of range are told together with fields that are not known.
	file, err := configFile(flags, etc, read, &c.File)
	bad := []error{err, file.apply(&c), flags.apply(&c)}
	if len(c.sources()) == 0 {
		c.Manifests = []string{filepath.Join(etc, "manifests")}
	}
	c.settlePaths()
	told := len(file.written.faults)
	bad = append(bad, c.Validate(), c.checkSources(&file.written))
	if c.Webhook != nil {
		c.Webhook.check(file.written.fault)
	}
	bad = append(bad, file.written.faults[told:]...)
	if errors.Join(bad...) == nil {
		bad = append(bad, c.trySources())
	}
	if err := errors.Join(bad...); err != nil {
		return Config{}, nil, &configError{err}
	}
	return c, file.warnings, nil
}

// configFile reads the named file, or the default one when it exists and no
// source was given by flag or variable.
func configFile(flags runFlags, etc string, read func(path string) ([]byte, error), used *string) (fileConfig, error) {
	path := configPath(flags, etc)
	if path == "" {
		return fileConfig{}, nil
	}
	if _, err := os.Stat(path); flags.Config == "" && errors.Is(err, fs.ErrNotExist) {
		return fileConfig{}, nil
	}
	*used = path
	data, err := read(path)
	if err != nil {
		return fileConfig{}, err
	}
	return decodeConfig(path, data)
}

// configPath is where a configuration file is, or would be looked for; "" when
// none is wanted.
func configPath(flags runFlags, etc string) string {
	switch {
	case flags.Config != "":
		return cli.Absolute(flags.Config)
	case flags.givesSources():
		return ""
	}
	return filepath.Join(etc, "config.yaml")
}

// settlePaths makes paths absolute. One that cannot be stays as it is, for
// Validate to name.
func (c *Config) settlePaths() {
	c.RootDir = cli.Absolute(c.RootDir)
	c.Socket = cli.Absolute(cli.SocketPath(c.RootDir, c.Socket))
	paths := make([]string, len(c.Manifests))
	for i, path := range c.Manifests {
		paths[i] = cli.Absolute(path)
	}
	c.Manifests = paths
	settled := sourceSpec{HTTP: &c.HTTP, Git: &c.Git}
	settled.settle()
	for i := range c.Listed {
		c.Listed[i].settle()
	}
	if c.Webhook != nil {
		c.Webhook.settle()
	}
}
