package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxSocketPath is what fits into a sockaddr_un beside its closing zero.
const maxSocketPath = 107

// address makes a socket's path one that the kernel takes. A path that is too
// long is named through its opened folder, which stays open until done is called.
func address(path string) (addr string, done func(), err error) {
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	dir, err := os.OpenFile(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", nil, err
	}
	addr = filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())), filepath.Base(path))
	if len(addr) > maxSocketPath {
		_ = dir.Close()
		return "", nil, fmt.Errorf("the file name has %d bytes, which no socket can have", len(filepath.Base(path)))
	}
	return addr, func() { _ = dir.Close() }, nil
}

// dial connects to the socket at path.
func dial(ctx context.Context, path string) (net.Conn, error) {
	addr, done, err := address(path)
	if err != nil {
		return nil, err
	}
	defer done()
	var d net.Dialer
	return d.DialContext(ctx, "unix", addr)
}

// listen opens the socket at path for root alone, in a folder that it makes
// (0700) when missing. What a killed agent left there is removed, but only
// after nobody answered on it.
func listen(ctx context.Context, path string) (*socket, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open socket %s: %w", path, err)
	}
	if err := clearStale(ctx, path); err != nil {
		return nil, fmt.Errorf("open socket %s: %w", path, err)
	}
	addr, done, err := address(path)
	if err != nil {
		return nil, fmt.Errorf("open socket %s: %w", path, err)
	}
	defer done()
	cfg := net.ListenConfig{Control: rootOnly}
	l, err := cfg.Listen(ctx, "unix", addr)
	if err != nil {
		return nil, fmt.Errorf("open socket %s: %w", path, err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // its address may lead through a closed folder
	made, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open socket %s: %w", path, err), l.Close())
	}
	return &socket{Listener: l, path: path, made: made}, nil
}

// rootOnly sets the mode before the socket gets its name, so that there is no
// moment in which others could connect: bind copies the mode of the descriptor.
func rootOnly(_, _ string, c syscall.RawConn) error {
	var mode error
	err := c.Control(func(fd uintptr) { mode = unix.Fchmod(int(fd), 0o600) })
	return errors.Join(err, mode)
}

// clearStale removes a socket on which nobody listens. It is an error when
// somebody does, or when the path is anything else than a socket.
func clearStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errors.New("the path exists and is not a socket; remove it or choose another with --socket")
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := dial(ctx, path)
	if err == nil {
		return errors.Join(errors.New("another agent listens there; stop it or choose another --root-dir or --socket"), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}

// socket is a listener that takes its name away with it.
type socket struct {
	net.Listener
	path string
	made fs.FileInfo
}

// Close ends the listener and removes the socket, unless another has taken its place.
func (s *socket) Close() error {
	err := s.Listener.Close()
	if now, statErr := os.Lstat(s.path); statErr == nil && os.SameFile(now, s.made) {
		err = errors.Join(err, os.Remove(s.path))
	}
	return err
}
