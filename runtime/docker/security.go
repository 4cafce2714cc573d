package docker

import (
	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
)

// secure applies a security context to a container, as cri-dockerd maps it.
func secure(s runtime.Security, config *container.Config, host *container.HostConfig) {
	config.User = s.User
	host.GroupAdd = s.Groups
	host.Privileged = s.Privileged
	host.CapAdd = s.AddCaps
	host.CapDrop = s.DropCaps
	host.ReadonlyRootfs = s.ReadOnlyRoot
	host.SecurityOpt = securityOptions(s.NoNewPrivileges, s.Seccomp)
	if s.Privileged {
		// Empty, not nil: nil asks for the engine's defaults.
		host.MaskedPaths = []string{}
		host.ReadonlyPaths = []string{}
	}
}

// securityOptions writes the options in the engine's words. No seccomp option
// is the engine's default profile; a profile goes inline, for the engine does
// not read files.
func securityOptions(noNewPrivileges bool, seccomp string) []string {
	var options []string
	if noNewPrivileges {
		options = append(options, "no-new-privileges")
	}
	if seccomp != "" {
		options = append(options, "seccomp="+seccomp)
	}
	return options
}
