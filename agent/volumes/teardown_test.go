package volumes

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
)

func gone(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", path, err)
	}
}

func there(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}

func TestTearDownLeavesTheRecordAlone(t *testing.T) {
	v := New(Config{Root: t.TempDir()})
	dir := v.cfg.Root + "/pods/u1"
	path := setUp(t, v, onPod(emptyDir("data", "")))["data"]
	if _, err := v.MessageFile("u1", "main"); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(path, "file"))
	write(t, filepath.Join(dir, "pod.json"))
	write(t, filepath.Join(dir, ".pod.json.123")) // of a record write cut short
	for range 2 {
		if err := v.TearDown(t.Context(), "u1"); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 || entries[0].Name() != "pod.json" {
			t.Fatalf("left: %v, %v; want the record alone", entries, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "pod.json")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := v.TearDown(t.Context(), "u1"); err != nil {
			t.Fatal(err)
		}
		gone(t, dir)
	}
}

func TestTearDownFollowsNoLink(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "precious"))
	v := New(Config{Root: t.TempDir()})
	path := setUp(t, v, onPod(emptyDir("data", "")))["data"]
	for name, to := range map[string]string{"dir": outside, "file": filepath.Join(outside, "precious"), "loop": "."} {
		if err := os.Symlink(to, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.TearDown(t.Context(), "u1"); err != nil {
		t.Fatal(err)
	}
	there(t, filepath.Join(outside, "precious"))

	if err := os.Symlink(outside, v.cfg.Root+"/pods/u2"); err != nil {
		t.Fatal(err)
	}
	if err := v.TearDown(t.Context(), "u2"); err == nil {
		t.Error("a link was taken for a pod's directory")
	}
	there(t, filepath.Join(outside, "precious"))
}

// A container may nest directories deeper than any path and any number of open
// files can follow, and fill one with more names than are read at once.
func TestTearDownOfDeepAndWideTrees(t *testing.T) {
	v := New(Config{Root: t.TempDir()})
	path := setUp(t, v, onPod(emptyDir("data", "")))["data"]
	at, err := unix.Open(path, unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 1100 {
		if err := unix.Mkdirat(at, "d", 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(at, "d", unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(at)
		at = next
	}
	unix.Close(at)
	for i := range chunk + 100 {
		name := filepath.Join(path, "w", strings.Repeat("n", i%50+1)+string(rune('a'+i/50)))
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.TearDown(t.Context(), "u1"); err != nil {
		t.Fatal(err)
	}
	gone(t, v.cfg.Root+"/pods/u1")
}

func TestTearDownGoesOnAfterAnEarlierLife(t *testing.T) {
	v := New(Config{Root: t.TempDir()})
	dir := v.cfg.Root + "/pods/u1"
	for _, left := range []string{".gone-1/a/b", ".gone-2", ".gone-3/c", "volumes/x/y"} {
		if err := os.MkdirAll(filepath.Join(dir, left), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, ".gone-4"))
	if err := v.TearDown(t.Context(), "u1"); err != nil {
		t.Fatal(err)
	}
	gone(t, dir)
}

func TestTearDownStopsWithItsContext(t *testing.T) {
	v := New(Config{Root: t.TempDir()})
	path := setUp(t, v, onPod(emptyDir("data", "")))["data"]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.TearDown(ctx, "u1"); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	there(t, path)
}

func TestTearDownRefusesAStrangersMount(t *testing.T) {
	v := New(Config{Root: t.TempDir(), CanMount: canMount})
	mounts := &table{}
	v.cfg.Mounter = mounts
	paths := setUp(t, v, onPod(emptyDir("data", ""), emptyDir("m", v1.StorageMediumMemory)))
	write(t, filepath.Join(paths["data"], "precious"))
	for _, strange := range []Mount{
		{Path: filepath.Join(paths["data"], "usb"), Type: "vfat"},
		{Path: filepath.Join(paths["m"], "in"), Type: tmpfs},
		{Path: v.cfg.Root + "/pods/u1", Type: tmpfs},
	} {
		mounts.mounts = append(mounts.mounts, strange)
		err := v.TearDown(t.Context(), "u1")
		if err == nil || !strings.Contains(err.Error(), strange.Path+" is a mount that podstead did not make") {
			t.Errorf("error = %v", err)
		}
		there(t, filepath.Join(paths["data"], "precious"))
		mounts.mounts = mounts.mounts[:len(mounts.mounts)-1]
		if len(mounts.mounts) != 1 {
			t.Error("our own mount went although the pod stays")
		}
	}
	if err := v.TearDown(t.Context(), "u1"); err != nil || len(mounts.mounts) != 0 {
		t.Errorf("left %v, %v", mounts.mounts, err)
	}
}

func TestTearDownOfAnotherPodsMounts(t *testing.T) {
	v := New(Config{Root: t.TempDir()})
	mounts := &table{mounts: []Mount{{Path: v.cfg.Root + "/pods/u10/volumes/kubernetes.io~empty-dir/m", Type: tmpfs}}}
	v.cfg.Mounter = mounts
	setUp(t, v, onPod(emptyDir("e", "")))
	if err := v.TearDown(t.Context(), "u1"); err != nil || len(mounts.mounts) != 1 {
		t.Errorf("u10's mounts: %v, %v", mounts.mounts, err)
	}
}

func TestTearDownOfABusyMountIsLazyAndSaysSo(t *testing.T) {
	var log bytes.Buffer
	v := New(Config{Root: t.TempDir(), CanMount: canMount, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	mounts := &table{busy: map[string]bool{}}
	v.cfg.Mounter = mounts
	path := setUp(t, v, onPod(emptyDir("m", v1.StorageMediumMemory)))["m"]
	mounts.busy[path] = true
	if err := v.TearDown(t.Context(), "u1"); err != nil {
		t.Fatal(err)
	}
	if len(mounts.lazy) != 1 || !strings.Contains(log.String(), "still in use") || !strings.Contains(log.String(), "uid=u1") {
		t.Errorf("lazy %v, log %s", mounts.lazy, log.String())
	}
}
