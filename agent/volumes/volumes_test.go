package volumes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func setUp(t *testing.T, v *Volumes, pod *v1.Pod) map[string]string {
	t.Helper()
	paths, _, err := v.SetUp(t.Context(), Request{Pod: pod})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEmptyDirIsOpenAndKeepsItsContent(t *testing.T) {
	defer unix.Umask(unix.Umask(0o077))
	v := New(Config{Root: t.TempDir()})
	pod := onPod(emptyDir("data", ""), v1.Volume{Name: "bare"})
	paths := setUp(t, v, pod)
	want := v.cfg.Root + "/pods/u1/volumes/kubernetes.io~empty-dir/data"
	if paths["data"] != want {
		t.Fatalf("path = %s, want %s", paths["data"], want)
	}
	for name, path := range paths {
		if got := mode(t, path).Perm(); got != 0o777 {
			t.Errorf("mode of %s = %o, want 777", name, got)
		}
	}
	write(t, filepath.Join(want, "kept"))
	if err := os.Chmod(want, 0o700); err != nil { // a container may make it its own
		t.Fatal(err)
	}
	if again := setUp(t, v, pod); !reflect.DeepEqual(again, paths) {
		t.Errorf("again: %v, want %v", again, paths)
	}
	if _, err := os.Stat(filepath.Join(want, "kept")); err != nil || mode(t, want).Perm() != 0o700 {
		t.Errorf("an existing volume was changed: %v, %v", err, mode(t, want))
	}
}

func TestEmptyDirHalfMadeByAnEarlierLife(t *testing.T) {
	v := New(Config{Root: t.TempDir()})
	raw := v.cfg.Root + "/pods/u1/volumes/kubernetes.io~empty-dir/.data"
	if err := os.MkdirAll(raw, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := mode(t, setUp(t, v, onPod(emptyDir("data", "")))["data"]).Perm(); got != 0o777 {
		t.Errorf("mode = %o, want 777", got)
	}
	if _, err := os.Lstat(raw); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the half-made directory is still there: %v", err)
	}
}

func TestOnlyMountedVolumesAreMade(t *testing.T) {
	v := New(Config{Root: t.TempDir()})
	pod := onPod(emptyDir("data", ""))
	pod.Spec.Volumes = append(pod.Spec.Volumes, emptyDir("idle", ""), hostPath("gone", "/no/such/path", v1.HostPathFile))
	pod.Spec.InitContainers = []v1.Container{{Name: "prepare", VolumeMounts: []v1.VolumeMount{{Name: "early"}}}}
	pod.Spec.Volumes = append(pod.Spec.Volumes, emptyDir("early", ""))
	paths := setUp(t, v, pod)
	if len(paths) != 2 || paths["data"] == "" || paths["early"] == "" {
		t.Errorf("paths = %v, want data and early", paths)
	}
}

func TestEveryVolumeIsTried(t *testing.T) {
	v := New(Config{Root: t.TempDir()})
	paths, _, err := v.SetUp(t.Context(), Request{Pod: onPod(
		hostPath("a", "/no/such/file", v1.HostPathFile),
		emptyDir("b", ""),
		v1.Volume{Name: "c", VolumeSource: v1.VolumeSource{NFS: &v1.NFSVolumeSource{}}},
	)})
	want := `MountVolume.SetUp failed for volume "a" : hostPath type check failed: /no/such/file is not a file
MountVolume.SetUp failed for volume "c" : volumes of its type are not supported`
	if err == nil || err.Error() != want {
		t.Errorf("error = %v\nwant %s", err, want)
	}
	var one *Error
	if !errors.As(err, &one) || one.Volume != "a" {
		t.Errorf("the error names no volume: %v", one)
	}
	if len(paths) != 1 || paths["b"] == "" {
		t.Errorf("paths = %v, want b alone", paths)
	}
}

func TestSetUpEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := New(Config{Root: t.TempDir()}).SetUp(ctx, Request{Pod: onPod(emptyDir("a", ""))})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

func TestNamesCannotLeaveTheirDirectory(t *testing.T) {
	root := t.TempDir()
	v := New(Config{Root: filepath.Join(root, "inner")})
	if err := os.MkdirAll(v.cfg.Root, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", ".", "..", "../x", "a/b", "../../outside", "/etc", ".hidden", "a\x00b"} {
		t.Run(fmt.Sprintf("%q", bad), func(t *testing.T) {
			if _, _, err := v.SetUp(t.Context(), Request{Pod: onPod(emptyDir(bad, ""))}); err == nil {
				t.Error("a volume was made")
			}
			if err := v.TearDown(t.Context(), bad); err == nil {
				t.Error("a pod was torn down")
			}
			if _, err := v.MessageFile("u1", bad); err == nil {
				t.Error("a message file was made")
			}
			if _, err := v.MessageFile(bad, "main"); err == nil {
				t.Error("a message file was made")
			}
		})
	}
	if entries, _ := os.ReadDir(root); len(entries) != 1 {
		t.Errorf("something was made outside: %v", entries)
	}
}

func TestMemoryEmptyDir(t *testing.T) {
	limits := func(memory string) v1.ResourceRequirements {
		return v1.ResourceRequirements{Limits: v1.ResourceList{v1.ResourceMemory: resource.MustParse(memory)}}
	}
	tests := []struct {
		name    string
		limit   string // sizeLimit
		regular []string
		init    string
		want    string
	}{
		{name: "unlimited", regular: []string{"0"}, want: "mode=777,noswap"},
		{name: "own limit", limit: "8Mi", regular: []string{"0"}, want: "mode=777,size=8388608,noswap"},
		{name: "pod's limit is smaller", limit: "8Mi", regular: []string{"1Mi", "2Mi"}, want: "mode=777,size=3145728,noswap"},
		{name: "pod's limit is larger", limit: "1Mi", regular: []string{"8Mi"}, want: "mode=777,size=1048576,noswap"},
		{name: "an init container may be the largest", regular: []string{"1Mi"}, init: "4Mi", want: "mode=777,size=4194304,noswap"},
		{name: "one without a limit lifts the pod's", limit: "8Mi", regular: []string{"1Mi", "0"}, want: "mode=777,size=8388608,noswap"},
		{name: "a limit of zero is none", limit: "0", regular: []string{"0"}, want: "mode=777,noswap"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			volume := emptyDir("m", v1.StorageMediumMemory)
			if test.limit != "" {
				limit := resource.MustParse(test.limit)
				volume.EmptyDir.SizeLimit = &limit
			}
			pod := onPod(volume)
			pod.Spec.Containers[0].Resources = limits(test.regular[0])
			for _, l := range test.regular[1:] {
				pod.Spec.Containers = append(pod.Spec.Containers, v1.Container{Resources: limits(l)})
			}
			if test.init != "" {
				pod.Spec.InitContainers = []v1.Container{{Resources: limits(test.init)}}
			}
			mounts := &table{}
			v := New(Config{Root: t.TempDir(), CanMount: canMount, Mounter: mounts})
			setUp(t, v, pod)
			setUp(t, v, pod)
			if want := []string{test.want}; !reflect.DeepEqual(mounts.options, want) {
				t.Errorf("mounts %q, want %q and once", mounts.options, want)
			}
		})
	}
}

func TestMemoryEmptyDirOnAnOlderKernel(t *testing.T) {
	mounts := &table{oldKernel: true}
	setUp(t, New(Config{Root: t.TempDir(), CanMount: canMount, Mounter: mounts}), onPod(emptyDir("m", v1.StorageMediumMemory)))
	if want := []string{"mode=777,noswap", "mode=777"}; !reflect.DeepEqual(mounts.options, want) {
		t.Errorf("mounts %q, want %q", mounts.options, want)
	}
}

func TestMemoryEmptyDirIsRefusedWhereTheEngineWouldNotSeeIt(t *testing.T) {
	cannot := func(context.Context) (bool, string) { return false, "the agent runs in a mount namespace of its own" }
	v := New(Config{Root: t.TempDir(), CanMount: cannot})
	_, _, err := v.SetUp(t.Context(), Request{Pod: onPod(emptyDir("m", v1.StorageMediumMemory))})
	if err == nil || !strings.HasSuffix(err.Error(), `: the agent runs in a mount namespace of its own`) {
		t.Errorf("error = %v", err)
	}
}

func TestMemoryEmptyDirUnderAStrangersMount(t *testing.T) {
	v := New(Config{Root: t.TempDir(), CanMount: canMount})
	path := v.cfg.Root + "/pods/u1/volumes/kubernetes.io~empty-dir/m"
	v.cfg.Mounter = &table{mounts: []Mount{{Path: path, Type: "ext4"}}}
	if _, _, err := v.SetUp(t.Context(), Request{Pod: onPod(emptyDir("m", v1.StorageMediumMemory))}); err == nil {
		t.Error("a stranger's mount was taken for ours")
	}
}

func TestPodsAreListed(t *testing.T) {
	v := New(Config{Root: t.TempDir()})
	if uids, err := v.Pods(); uids != nil || err != nil {
		t.Errorf("without a directory: %v, %v", uids, err)
	}
	for _, uid := range []string{"b", "a", ".tmp"} {
		if err := os.MkdirAll(filepath.Join(v.cfg.Root, "pods", uid), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, v.cfg.Root+"/pods/file")
	if uids, err := v.Pods(); err != nil || !reflect.DeepEqual(uids, []string{"a", "b"}) {
		t.Errorf("got %v, %v; want a and b", uids, err)
	}
}

// canMount is a machine on which the agent's mounts reach the engine.
func canMount(context.Context) (bool, string) { return true, "" }
