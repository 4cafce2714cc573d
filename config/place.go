package config

import (
	"cmp"
	"os"
	"path/filepath"
)

// Where an agent lies when nothing else is said.
const (
	DefaultRootDir = "/var/lib/podstead"
	DefaultRunDir  = "/run/podstead"
	DefaultSocket  = DefaultRunDir + "/podstead.sock"
	DefaultEtcDir  = "/etc/podstead"
	// DefaultPodLogsDir is where a kubelet keeps logs, and log shippers look.
	DefaultPodLogsDir = "/var/log/pods"
)

// SocketPath is where the agent of a root-dir listens. Agent and clients use the
// same rule, so that naming the root-dir is enough to find it.
func SocketPath(rootDir, socket string) string {
	switch {
	case socket != "":
		return socket
	case rootDir == "" || filepath.Clean(rootDir) == DefaultRootDir:
		return DefaultSocket
	}
	return filepath.Join(rootDir, "run", "podstead.sock")
}

// PodLogsDir is where the agent of a root-dir shows its pods' logs: agents of one
// machine must not share the place.
func PodLogsDir(rootDir string) string {
	if rootDir == "" || filepath.Clean(rootDir) == DefaultRootDir {
		return DefaultPodLogsDir
	}
	return filepath.Join(rootDir, "log", "pods")
}

// Absolute makes a path absolute; an empty one, and one that cannot be, stay.
func Absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// EngineEndpoint is where the engine is reached.
func (c Config) EngineEndpoint() string {
	return cmp.Or(c.DockerEndpoint, os.Getenv("DOCKER_HOST"), "unix:///var/run/docker.sock")
}
