package powercut

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// New mounts an empty disk, until the test ends. All that a test makes of it must
// be closed by then. Where there is no FUSE the test is skipped.
func New(t testing.TB) *Disk {
	t.Helper()
	if err := available(); err != nil {
		t.Skipf("there is no FUSE here, which power cuts are played with: %v", err)
	}
	dir, err := os.MkdirTemp("", "podstead-disk-")
	if err != nil {
		t.Fatal(err)
	}
	d := &Disk{Dir: dir}
	d.root = d.newInode(syscall.S_IFDIR | 0o700)
	server, err := fs.Mount(dir, &node{disk: d}, options())
	if err != nil {
		t.Fatal(errors.Join(fmt.Errorf("mount a disk: %w", err), os.Remove(dir)))
	}
	t.Cleanup(func() {
		if err := errors.Join(server.Unmount(), os.Remove(dir)); err != nil {
			t.Error(err)
		}
	})
	return d
}

// available says why no file system can be mounted here.
func available() error {
	if os.Getuid() != 0 {
		return errors.New("mounting takes root")
	}
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return device.Close()
}

// options keep the kernel from remembering anything of a life before.
func options() *fs.Options {
	never := time.Duration(0)
	return &fs.Options{
		EntryTimeout: &never, AttrTimeout: &never, NegativeTimeout: &never,
		RootStableAttr: &fs.StableAttr{Ino: 1 << 62},
		MountOptions: fuse.MountOptions{
			DirectMountStrict: true, DirectMountFlags: unix.MS_NOSUID | unix.MS_NODEV,
			FsName: "podstead-disk", Name: "powercut", DisableReadDirPlus: true, DisableXAttrs: true,
		},
	}
}
