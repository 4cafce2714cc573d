package volumes

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// onTmpfs mounts a tmpfs for the test, or skips it where that is not allowed.
func onTmpfs(t *testing.T, path, options string) {
	t.Helper()
	if err := unix.Mount(tmpfs, path, tmpfs, 0, options); err != nil {
		t.Skipf("needs to mount (root): %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(path, unix.MNT_DETACH) })
}

// B133: memory is shared, limited, and outlives everything but the pod.
func TestKernelMemoryEmptyDir(t *testing.T) {
	root := t.TempDir()
	onTmpfs(t, root, "size=1m")
	link := filepath.Join(t.TempDir(), "root")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	volume := emptyDir("m", v1.StorageMediumMemory)
	limit := resource.MustParse("8Mi")
	volume.EmptyDir.SizeLimit = &limit
	pod := onPod(volume)
	path := setUp(t, New(Config{Root: link, CanMount: canMount}), pod)["m"]
	if got := mode(t, path).Perm(); got != 0o777 {
		t.Errorf("mode = %o, want 777", got)
	}
	if err := os.WriteFile(filepath.Join(path, "fits"), make([]byte, 7<<20), 0o600); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(path, "too-much"), make([]byte, 2<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("9 MiB of 8: %v", err)
	}

	next := New(Config{Root: link, CanMount: canMount}) // the agent's next life
	setUp(t, next, pod)
	there(t, filepath.Join(path, "fits"))
	if mounts, err := (kernel{}).Mounts(); err != nil || countBelow(mounts, root) != 1 {
		t.Errorf("%d mounts, %v; want one", countBelow(mounts, root), err)
	}

	if err := unix.Unmount(path, 0); err != nil { // as a reboot would
		t.Fatal(err)
	}
	setUp(t, next, pod)
	gone(t, filepath.Join(path, "fits"))
	if mounts, _ := (kernel{}).Mounts(); countBelow(mounts, root) != 1 {
		t.Error("not mounted again")
	}

	held, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for range 2 {
		if err := next.TearDown(t.Context(), "u1"); err != nil {
			t.Fatal(err)
		}
	}
	gone(t, root+"/pods/u1")
	if mounts, _ := (kernel{}).Mounts(); countBelow(mounts, root) != 0 {
		t.Error("the mount is left behind")
	}
}

func countBelow(mounts []Mount, root string) int {
	n := 0
	for _, m := range mounts {
		if strings.HasPrefix(m.Path, root+"/") {
			n++
		}
	}
	return n
}

// Even with a mount table that hides it, nothing is removed through a mount.
func TestKernelHoldsMountPoints(t *testing.T) {
	precious := t.TempDir()
	write(t, filepath.Join(precious, "file"))
	v := New(Config{Root: t.TempDir(), Mounter: &table{}})
	data := setUp(t, v, onPod(emptyDir("data", "")))["data"]
	inside := data + "/deep/inside"
	if err := os.MkdirAll(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(precious, inside, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("needs to mount (root): %v", err)
	}
	t.Cleanup(func() { unmountBelow(v.cfg.Root) })
	err := v.TearDown(t.Context(), "u1")
	if err == nil || !strings.Contains(err.Error(), "unmount it first") {
		t.Errorf("error = %v", err)
	}
	there(t, filepath.Join(precious, "file"))
}

// A full disk fails with the path and the kernel's words, leaves nothing half
// made, and works as soon as there is room.
func TestKernelFullDisk(t *testing.T) {
	root := t.TempDir()
	onTmpfs(t, root, "size=64k,nr_inodes=6") // pods, u1, volumes, kubernetes.io~empty-dir and the root itself
	filler := filepath.Join(root, "filler")
	write(t, filler)
	v := New(Config{Root: root})
	pod := onPod(emptyDir("data", ""))
	_, _, err := v.SetUp(t.Context(), Request{Pod: pod})
	if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "no space left on device") {
		t.Fatalf("error = %v", err)
	}
	if _, err := v.MessageFile("u1", "main"); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("error = %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if got := mode(t, setUp(t, v, pod)["data"]).Perm(); got != 0o777 {
		t.Errorf("mode = %o", got)
	}
	if err := v.TearDown(t.Context(), "u1"); err != nil {
		t.Error(err)
	}
}

// unmountBelow takes away a mount wherever it has been lifted to.
func unmountBelow(root string) {
	mounts, _ := (kernel{}).Mounts()
	for _, m := range mounts {
		if strings.HasPrefix(m.Path, root+"/") {
			_ = unix.Unmount(m.Path, unix.MNT_DETACH)
		}
	}
}

// A change that finds no room leaves the old files whole and nothing half made.
func TestKernelNoRoomForAChange(t *testing.T) {
	run := t.TempDir()
	onTmpfs(t, run, "size=256k")
	if memory, err := inMemory(run); !memory || err != nil {
		t.Errorf("tmpfs is in memory: %v, %v", memory, err)
	}
	v := New(Config{Root: t.TempDir(), Run: run})
	v.room.stat = memoryOf(0, 0, 0, 0) // the kernel is to say it
	req := known(secretVolume("login", nil))
	paths, _, err := v.SetUp(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	old := seen(t, paths["v"])
	small := req.Secrets
	req.Secrets = map[string]*v1.Secret{"login": {Data: map[string][]byte{"user": []byte("new"), "zzz": make([]byte, 300<<10)}}}
	_, _, err = v.SetUp(t.Context(), req)
	var fault *Error
	if !errors.Is(err, unix.ENOSPC) || !errors.As(err, &fault) || !fault.Stale {
		t.Errorf("error = %v, want one of no space, and stale", err)
	}
	if got := seen(t, paths["v"]); !reflect.DeepEqual(got, old) {
		t.Errorf("the volume holds %v, want %v", got, old)
	}
	v.room.stat = statMemory
	if _, _, err = v.SetUp(t.Context(), req); !errors.As(err, &fault) || !fault.Stale || !strings.Contains(err.Error(), "no room in memory") {
		t.Errorf("error = %v, want one of no room, and stale", err)
	}
	req.Secrets = small
	if _, _, err := v.SetUp(t.Context(), req); err != nil {
		t.Error(err)
	}
	tidy(t, paths["v"], old)
}
