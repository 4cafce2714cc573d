package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/podstead/podstead/durable"
)

// errLocked is wrapped when another agent works on the root-dir.
var errLocked = errors.New("another agent works on it")

// lockRootDir makes the root-dir (0700) and locks it against a second agent.
// The lock lasts until close is called or the process ends, however it ends;
// the file holds the process id for people to read. What is in the directory is
// durable from then on.
func lockRootDir(dir string) (unlock func(), err error) {
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make root-dir: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep root-dir to root: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock root-dir: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock root-dir %s: %w (process %s); stop it, or give this one another --root-dir", dir, errLocked, holder(file))
		}
		return nil, fmt.Errorf("lock root-dir %s: %w", dir, err)
	}
	if err := errors.Join(writeHolder(file), durable.Settle(dir)); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock root-dir %s: %w", dir, err)
	}
	return func() { _ = file.Close() }, nil
}

// holder is the process id in the lock file.
func holder(file *os.File) string {
	text, err := io.ReadAll(io.LimitReader(file, 32))
	if pid, convErr := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && convErr == nil {
		return strconv.Itoa(pid)
	}
	return "unknown"
}

func writeHolder(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}
