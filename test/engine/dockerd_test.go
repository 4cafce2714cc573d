//go:build e2e

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/podstead/podstead/test/rig"
)

// Images of hack/images.sh. They are one busybox; /version holds the tag.
const (
	image1 = "podstead-test/busybox:1"
	image2 = "podstead-test/busybox:2"
)

// dockerd is a private engine, with all its state in one folder, that a test may
// do anything to. Its methods fail the test that owns it.
type dockerd struct {
	t     *testing.T
	dir   string
	flags []string // it is started with: --live-restore
	client
}

// script knows how to start one and to take it away.
const script = "engine.sh"

// newDockerd starts an engine that has the images. Everything of it is taken
// away when the test ends, in whatever state it is then.
func newDockerd(t *testing.T, flags ...string) *dockerd {
	t.Helper()
	d := absentDockerd(t, flags...)
	d.up()
	d.loadImages()
	return d
}

// absentDockerd is an engine that was never started.
func absentDockerd(t *testing.T, flags ...string) *dockerd {
	t.Helper()
	dir := filepath.Join(memory(t), "engine")
	d := &dockerd{t: t, dir: dir, flags: flags, client: newClient(filepath.Join(dir, "docker.sock"))}
	t.Cleanup(d.takeAway)
	return d
}

// memory is a new folder in memory, quick and nobody else's disk, with the short
// path that sockets need. Its mounts are
// shared, as those of a machine with systemd are: on any other dockerd mounts
// its data over itself, and hides from its next life what was mounted by then.
func memory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "podstead-dockerd-")
	must(t, err)
	t.Cleanup(func() { _ = os.Remove(dir) })
	must(t, unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1g,mode=0700"))
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	must(t, unix.Mount("", dir, "", unix.MS_SHARED, ""))
	return dir
}

// in is the engine in the hands of another test.
func (d *dockerd) in(t *testing.T) *dockerd {
	other := *d
	other.t = t
	return &other
}

// takeAway starts an engine that is down once more: its containers, networks
// and mounts are for it to remove.
func (d *dockerd) takeAway() {
	if d.t.Failed() {
		log, _ := os.ReadFile(filepath.Join(d.dir, "dockerd.log"))
		d.t.Logf("end of dockerd's log:\n%s", tail(log, 30))
	}
	d.recover()
	if _, err := rig.Hack("", script, "private-stop", d.dir); err != nil {
		d.t.Error(err)
	}
}

// recover brings the engine back from whatever was done to it.
func (d *dockerd) recover() {
	if d.pid() != 0 {
		d.signal(syscall.SIGCONT)
	}
	d.up()
}

// up starts the engine unless it runs, and returns when it answers.
func (d *dockerd) up() {
	d.t.Helper()
	_, err := rig.Hack("", script, append([]string{"private", d.dir}, d.flags...)...)
	must(d.t, err)
}

// pid is dockerd's, 0 when it does not run.
func (d *dockerd) pid() int { return runningPID(filepath.Join(d.dir, "docker.pid")) }

func (d *dockerd) signal(s syscall.Signal) {
	d.t.Helper()
	must(d.t, syscall.Kill(d.pid(), s))
}

// terminate ends dockerd as an init system does. Without live-restore its
// containers end first, with it they run on.
func (d *dockerd) terminate() {
	d.t.Helper()
	d.end(syscall.SIGTERM)
}

// kill ends dockerd at once. Its containers run on, whatever its settings: it
// is the next dockerd that ends them, without live-restore.
func (d *dockerd) kill() {
	d.t.Helper()
	d.end(syscall.SIGKILL)
}

func (d *dockerd) end(s syscall.Signal) {
	d.t.Helper()
	d.signal(s)
	until(d.t, "dockerd and its containerd are gone", func() error {
		if d.pid() != 0 || runningPID(filepath.Join(d.dir, "exec", "containerd", "containerd.pid")) != 0 {
			return errors.New("still there")
		}
		return nil
	})
}

// hang keeps dockerd from doing anything until resume. On a busy machine the
// signal takes a while to reach all of its threads.
func (d *dockerd) hang() {
	d.t.Helper()
	d.signal(syscall.SIGSTOP)
	until(d.t, "dockerd has stopped", func() error {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", d.pid()))
		for _, thread := range threads {
			text, _ := os.ReadFile(thread) // one that has ended does nothing either
			if len(text) > 0 && !bytes.Contains(text, []byte("State:\tT")) {
				err = errors.New("a thread still runs")
			}
		}
		return err
	})
}

func (d *dockerd) resume() { d.t.Helper(); d.signal(syscall.SIGCONT) }

// runningPID reads a PID file, and returns 0 when no such process runs. One that
// nobody reaps does not.
func runningPID(file string) int {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil || strings.Contains(string(status), "State:\tZ") {
		return 0
	}
	return pid
}

// archive is what `docker save` made of the images, for all engines but the
// first, on which hack/images.sh makes them.
var archive struct {
	once sync.Once
	data []byte
}

func (d *dockerd) loadImages() {
	d.t.Helper()
	archive.once.Do(func() {
		_, err := rig.Hack(d.Socket, "images.sh")
		must(d.t, err)
		archive.data = d.docker(nil, "docker", "save", image1, image2)
	})
	d.docker(archive.data, "docker", "load", "-q")
}

// docker runs a command that speaks to this engine, and returns its output.
func (d *dockerd) docker(in []byte, command ...string) []byte {
	d.t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "DOCKER_HOST=unix://"+d.Socket)
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &errs
	out, err := cmd.Output()
	if err != nil {
		d.t.Fatalf("%s: %v\n%s%s", strings.Join(command, " "), err, tail(out, 10), errs.Bytes())
	}
	return out
}

// absent reports whether a file is not there.
func absent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// tail is the last lines of a text.
func tail(text []byte, lines int) []byte {
	all := bytes.SplitAfter(text, []byte("\n"))
	return bytes.Join(all[max(0, len(all)-lines):], nil)
}
