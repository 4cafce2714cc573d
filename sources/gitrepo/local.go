package gitrepo

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// connectLocal starts git's upload-pack on a repository of this machine.
func (r *Repo) connectLocal() (link, error) {
	if _, err := os.Stat(r.at.path); err != nil {
		return nil, err
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, errors.New("a repository on this machine is read by the git program, which is not installed")
	}
	cmd := exec.Command(git, "upload-pack", r.at.path)
	cmd.Env = append(withoutGit(os.Environ()), "GIT_PROTOCOL=version=2", "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it starts others
	cmd.WaitDelay = time.Second
	stderr := &tail{}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	cmd.Stdout = theirs
	err = errors.Join(cmd.Start(), theirs.Close())
	if err != nil {
		return nil, errors.Join(err, in.Close(), ours.Close())
	}
	end := func() {
		_ = in.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
		_ = ours.Close()
	}
	return &stream{in: in, out: newPktReader(idlePipe{ours, r.cfg.IdleTimeout}), stderr: stderr, end: end}, nil
}

// withoutGit drops the variables that would lead git to another repository.
func withoutGit(env []string) (kept []string) {
	for _, variable := range env {
		if !strings.HasPrefix(variable, "GIT_") {
			kept = append(kept, variable)
		}
	}
	return kept
}
