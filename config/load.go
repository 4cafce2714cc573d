package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Loader brings flags (and their variables), file and defaults together: flag >
// variable > file > default. Loading touches nothing; it can be done again.
type Loader struct {
	Flags Flags
	// Etc is the folder of the default file and the default manifests.
	Etc string
	// Read gives the content of the file; nil reads it from the disk.
	Read func(path string) ([]byte, error)
	// Try finds what is wrong with sources that are well written; nil for nothing.
	Try Try
}

// Try finds what only a source itself can find wrong with its settings.
type Try func(Config) error

// Load returns the configuration, with warnings for the log. An error is an *Error
// that holds every fault of flags and file.
func (l Loader) Load() (Config, []string, error) {
	c, file, err := l.load()
	if err != nil {
		return Config{}, nil, &Error{Err: err}
	}
	return c, file.warnings, nil
}

// load brings the layers together, each over the one before, and returns what came
// of it in any case.
func (l Loader) load() (Config, *fileConfig, error) {
	c := Defaults()
	var flags faults
	// What could be read of a faulty file is applied all the same, so that values
	// out of range are told together with fields that are not known.
	file, err := l.file(&c.File)
	bad := []error{err, file.apply(&c), l.Flags.apply(&c)}
	file.warnings = append(l.Flags.kubelets(&flags), file.warnings...)
	if len(c.Sources()) == 0 {
		c.Manifests = []string{filepath.Join(l.Etc, "manifests")}
	}
	c.settlePaths()
	if c.DockerEndpoint == "" && os.Getenv("DOCKER_HOST") != "" {
		c.Origins["docker-endpoint"] = Origin{From: FromEnvironment, Place: "DOCKER_HOST"}
	}
	told := len(file.written.faults)
	bad = append(bad, flags.err(), c.Validate(), c.checkSources(&file.written))
	if c.Webhook != nil {
		c.Webhook.check(file.written.fault)
	}
	bad = append(bad, file.written.faults[told:]...)
	if errors.Join(bad...) == nil && l.Try != nil {
		bad = append(bad, l.Try(c))
	}
	return c, file, errors.Join(bad...)
}

// file reads the named file, or the default one when it exists and no source was
// given by flag or variable.
func (l Loader) file(used *string) (*fileConfig, error) {
	path := l.Path()
	if path == "" {
		return &fileConfig{}, nil
	}
	if _, err := os.Stat(path); l.Flags.Config == "" && errors.Is(err, fs.ErrNotExist) {
		return &fileConfig{}, nil
	}
	*used = path
	read := l.Read
	if read == nil {
		read = readConfigFile
	}
	data, err := read(path)
	if err != nil {
		return &fileConfig{}, err
	}
	return decodeConfig(path, data)
}

// Path is where a configuration file is, or would be looked for; "" when none is
// wanted.
func (l Loader) Path() string {
	switch {
	case l.Flags.Config != "":
		return Absolute(l.Flags.Config)
	case l.Flags.givesSources():
		return ""
	}
	return filepath.Join(l.Etc, "config.yaml")
}

// settlePaths makes paths absolute. One that cannot be stays as it is, for
// Validate to name.
func (c *Config) settlePaths() {
	c.RootDir = Absolute(c.RootDir)
	c.Socket = Absolute(SocketPath(c.RootDir, c.Socket))
	if c.PodLogsDir == "" {
		c.PodLogsDir = PodLogsDir(c.RootDir)
	}
	paths := make([]string, len(c.Manifests))
	for i, path := range c.Manifests {
		paths[i] = Absolute(path)
	}
	c.Manifests = paths
	settled := Source{HTTP: &c.HTTP, Git: &c.Git}
	settled.settle()
	for i := range c.Listed {
		c.Listed[i].settle()
	}
	if c.Webhook != nil {
		c.Webhook.settle()
	}
}
