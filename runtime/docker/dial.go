package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
	"golang.org/x/sys/unix"
)

// dialLimit is how long a server that is there may take to accept.
const dialLimit = 10 * time.Second

// Dial connects to a TCP port of a running sandbox on its loopback address, IPv4
// before IPv6, so that a server is reached that listens on 127.0.0.1 only. Where
// the sandbox's network cannot be entered from here (an engine on another machine,
// an agent in a container), its address is dialled instead. The caller closes the
// connection, which has a CloseWrite. Errors: runtime.ErrRefused when nothing
// listens on the loopback address, runtime.ErrSandboxGone, runtime.ErrNotFound, runtime.ErrUnavailable.
func (m *Manager) Dial(ctx context.Context, sandboxID string, port int) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	conn, err := m.dial(ctx, sandboxID, port)
	if err != nil {
		return nil, fmt.Errorf("connect to port %d of sandbox %s: %w", port, short(sandboxID), err)
	}
	return conn, nil
}

func (m *Manager) dial(ctx context.Context, sandboxID string, port int) (net.Conn, error) {
	found, err := m.engine.inspectContainer(ctx, sandboxID)
	if err != nil {
		return nil, err
	}
	if !found.State.Running {
		return nil, runtime.ErrSandboxGone
	}
	conn, err := m.dialInside(ctx, found, port)
	if outside := (outsideError{}); errors.As(err, &outside) {
		return m.dialAddress(ctx, found, port, outside)
	}
	return conn, err
}

// outsideError says why a sandbox's network cannot be entered.
type outsideError struct{ why error }

func (e outsideError) Error() string { return e.why.Error() }

func (e outsideError) Unwrap() error { return e.why }

func (m *Manager) dialInside(ctx context.Context, found container.InspectResponse, port int) (net.Conn, error) {
	ns, err := m.networkNamespace(ctx, found)
	if err != nil {
		return nil, err
	}
	defer ns.Close()
	var conn net.Conn
	onThrowawayThread(func() {
		if err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			err = outsideError{fmt.Errorf("enter its network: %w", err)}
			return
		}
		conn, err = dialLoopback(ctx, port)
	})
	return conn, err
}

// networkNamespace opens that of a sandbox's process. The process's number is
// worth something only in the engine's own PID namespace, and only while the
// process lives: it is asked for again when the namespace is open.
func (m *Manager) networkNamespace(ctx context.Context, found container.InspectResponse) (*os.File, error) {
	if err := m.samePIDs(ctx); err != nil {
		return nil, outsideError{err}
	}
	ns, err := os.Open(m.proc.path(strconv.Itoa(found.State.Pid), "ns", "net"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, outsideError{err}
	}
	again, inspectErr := m.engine.inspectContainer(ctx, found.ID)
	switch {
	case inspectErr != nil:
		err = inspectErr
	case !again.State.Running || again.State.Pid != found.State.Pid:
		err = runtime.ErrSandboxGone
	case err != nil:
		err = outsideError{err}
	}
	if err != nil && ns != nil {
		_ = ns.Close() // nothing was written
	}
	return ns, err
}

// samePIDs is nil when the engine's process numbers are ours too.
func (m *Manager) samePIDs(ctx context.Context) error {
	pid, err := m.enginePID(ctx)
	if err != nil {
		return err
	}
	engines, err := m.proc.pidNamespace(pid)
	if err != nil {
		return err
	}
	ours, err := m.proc.pidNamespace(self)
	if err == nil && engines != ours {
		err = errElsewhere
	}
	return err
}

// dialLoopback tries both families, as the kubelet's runtimes do. That there is
// no IPv6 is no reason why a port refuses.
func dialLoopback(ctx context.Context, port int) (net.Conn, error) {
	conn, err := dialTCP(ctx, "127.0.0.1", port)
	if err == nil {
		return conn, nil
	}
	if conn, sixErr := dialTCP(ctx, "::1", port); sixErr == nil {
		return conn, nil
	}
	return nil, err
}

// dialTCP makes the socket in the calling thread, as it must in a network that
// only this thread is in: the address is a literal one, and nothing is resolved.
func dialTCP(ctx context.Context, host string, port int) (net.Conn, error) {
	conn, err := (&net.Dialer{FallbackDelay: -1}).DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if errors.Is(err, unix.ECONNREFUSED) {
		return nil, fmt.Errorf("%w by %s", runtime.ErrRefused, host)
	}
	return conn, err
}

// dialAddress reaches a sandbox from outside.
func (m *Manager) dialAddress(ctx context.Context, found container.InspectResponse, port int, outside outsideError) (net.Conn, error) {
	hosts := addresses(found.NetworkSettings)
	if found.HostConfig.NetworkMode.IsHost() {
		hosts = []string{m.engineHost()}
	}
	why := "it has no address"
	for _, host := range hosts {
		conn, err := dialTCP(ctx, host, port)
		if err == nil {
			return conn, nil
		}
		why = err.Error() // not as an error: who is refused here may not be inside
	}
	return nil, fmt.Errorf("%s (from outside the pod, where only what listens on its address is reached: %w)", why, outside)
}

// engineHost is where the engine's machine is.
func (m *Manager) engineHost() string {
	if u, err := url.Parse(m.engine.endpoint); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return "127.0.0.1"
}
