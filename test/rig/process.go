package rig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Process is a program that runs beside the test that started it.
type Process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // of its end, to be read after that
}

// Start runs a command whose output is appended to a log file. Whoever starts it
// ends it: with End, or in a way of its own.
func Start(cmd *exec.Cmd, log string) (*Process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.err = cmd.Wait()
	}()
	return p, nil
}

// PID is its number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended is closed when the process is gone and reaped.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err says how it ended, nil for exit code 0. Read it after Ended.
func (p *Process) Err() error {
	<-p.ended
	return p.err
}

// Signal sends a signal; it is an error when the process has ended.
func (p *Process) Signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// errWell is an end with exit code 0, where it was not asked for.
var errWell = errors.New("exit status 0")

// errStays is the end of a process that does not come.
var errStays = errors.New("the process does not end")

// End sends a signal and waits for the end at most so long. It returns how long
// that took and how the process ended; that it had ended before is an error.
func (p *Process) End(s syscall.Signal, limit time.Duration) (took time.Duration, err error) {
	began := time.Now()
	if err := p.Signal(s); err != nil {
		return 0, fmt.Errorf("%w: %w", err, cmp.Or(p.Err(), errWell))
	}
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-p.ended:
		return time.Since(began), p.err
	case <-late.C:
		return time.Since(began), fmt.Errorf("%w after %s", errStays, s)
	}
}

// Until is the function Until, given up when the process ends by itself.
func (p *Process) Until(ctx context.Context, every time.Duration, ask func() error) error {
	return until(ctx, every, p.ended, ask)
}
