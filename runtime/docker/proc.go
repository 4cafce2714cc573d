package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// procfs is the root of a proc file system.
type procfs string

// Capability bits, of linux/capability.h.
const (
	capSysAdmin    = 21
	capSysResource = 24
)

// self names this process, for the methods of procfs.
const self = "self"

// has reports whether a process has a capability in effect.
func (p procfs) has(pid string, capability uint) (bool, error) {
	status, err := os.ReadFile(p.path(pid, "status"))
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "CapEff:"); ok {
			set, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			return set&(1<<capability) != 0, err
		}
	}
	return false, fmt.Errorf("%s has no CapEff line", p.path(pid, "status"))
}

// mountNamespace identifies the mount namespace of a process.
func (p procfs) mountNamespace(pid string) (string, error) {
	return os.Readlink(p.path(pid, "ns", "mnt"))
}

// pidNamespace identifies the PID namespace of a process.
func (p procfs) pidNamespace(pid string) (string, error) {
	return os.Readlink(p.path(pid, "ns", "pid"))
}

// program is the name of a process, cut to 15 bytes by the kernel.
func (p procfs) program(pid string) (string, error) {
	name, err := os.ReadFile(p.path(pid, "comm"))
	return strings.TrimSpace(string(name)), err
}

func (p procfs) path(parts ...string) string {
	return filepath.Join(append([]string{string(p)}, parts...)...)
}

// errElsewhere: the engine's process is not to be seen from here.
var errElsewhere = errors.New("the engine's process is not visible to this one")

// enginePID finds the process that serves the engine's socket. A socket made
// by systemd bears systemd's credentials; the engine's own pid file tells then.
func (m *Manager) enginePID(ctx context.Context) (string, error) {
	socket, local := strings.CutPrefix(m.engine.endpoint, "unix://")
	if !local {
		return "", errElsewhere
	}
	pid, err := peer(ctx, socket)
	if err != nil {
		return "", err
	}
	if pid == 0 {
		return "", errElsewhere
	}
	found := strconv.Itoa(pid)
	if program, err := m.proc.program(found); err != nil || program != "systemd" {
		return found, err
	}
	written, err := os.ReadFile("/run/docker.pid")
	if err != nil {
		return "", fmt.Errorf("%w: systemd holds its socket: %w", errElsewhere, err)
	}
	found = strings.TrimSpace(string(written))
	if program, err := m.proc.program(found); err != nil || program != "dockerd" {
		return "", errElsewhere
	}
	return found, nil
}

// peer returns the process that listens on a unix socket, 0 when it lives in
// a PID namespace that this one can't see.
func peer(ctx context.Context, socket string) (int, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var credentials *unix.Ucred
	var optErr error
	err = raw.Control(func(fd uintptr) {
		credentials, optErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := errors.Join(err, optErr); err != nil {
		return 0, err
	}
	return int(credentials.Pid), nil
}

// canLowerScore tells whether the engine may give a process a negative oom
// score. An engine that can't be looked at is trusted to: a refusal comes at
// start, and is dealt with there.
func (m *Manager) canLowerScore(ctx context.Context) (bool, string) {
	pid, err := m.enginePID(ctx)
	if err != nil {
		return true, ""
	}
	can, err := m.proc.has(pid, capSysResource)
	if err != nil || can {
		return true, ""
	}
	return false, "the engine's process lacks CAP_SYS_RESOURCE"
}
