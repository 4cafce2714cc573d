package volumes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
)

// B47, B134, B136, B137: what is missing is made only where the type says so,
// and a missing file never becomes a directory.
func TestHostPath(t *testing.T) {
	defer unix.Umask(unix.Umask(0o077))
	const absent, dir, file, dirLink, dangling, lonely, underFile = "absent", "dir", "file", "dirlink", "dangling", "no/parent/x", "file/x"
	tests := []struct {
		name string
		kind v1.HostPathType
		path string
		made os.FileMode // mode of what must be there afterwards; 0 for unchanged
		note bool
		err  string // end of the message
	}{
		{name: "untyped, there", kind: "", path: file},
		{name: "untyped, missing", kind: "", path: lonely, made: os.ModeDir | 0o755, note: true},
		{name: "untyped, dangling link", kind: "", path: dangling, err: "dangling is not a directory"},
		{name: "untyped, below a file", kind: "", path: underFile, err: "not a directory"},
		{name: "Directory", kind: v1.HostPathDirectory, path: dir},
		{name: "Directory behind a link", kind: v1.HostPathDirectory, path: dirLink},
		{name: "Directory, missing", kind: v1.HostPathDirectory, path: absent, err: "absent is not a directory"},
		{name: "Directory, file", kind: v1.HostPathDirectory, path: file, err: "file is not a directory"},
		{name: "File", kind: v1.HostPathFile, path: file},
		{name: "File, missing", kind: v1.HostPathFile, path: absent, err: "absent is not a file"},
		{name: "File, directory", kind: v1.HostPathFile, path: dir, err: "dir is not a file"},
		{name: "DirectoryOrCreate", kind: v1.HostPathDirectoryOrCreate, path: dir},
		{name: "DirectoryOrCreate, missing with its parents", kind: v1.HostPathDirectoryOrCreate, path: lonely, made: os.ModeDir | 0o755},
		{name: "DirectoryOrCreate, file", kind: v1.HostPathDirectoryOrCreate, path: file, err: "file is not a directory"},
		{name: "FileOrCreate", kind: v1.HostPathFileOrCreate, path: file},
		{name: "FileOrCreate, missing", kind: v1.HostPathFileOrCreate, path: absent, made: 0o644},
		{name: "FileOrCreate, parent missing", kind: v1.HostPathFileOrCreate, path: lonely, err: "no such file or directory"},
		{name: "FileOrCreate, directory", kind: v1.HostPathFileOrCreate, path: dir, err: "dir is not a file"},
		{name: "a type of later", kind: v1.HostPathSocket, path: file, err: `hostPath type "Socket" is not supported`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			host := hostTree(t)
			v := New(Config{Root: t.TempDir()})
			path := filepath.Join(host, test.path)
			pod := onPod(hostPath("h", path, test.kind))
			paths, notes, err := v.SetUp(t.Context(), Request{Pod: pod})
			if test.err != "" {
				if err == nil || !strings.HasSuffix(err.Error(), test.err) {
					t.Fatalf("error = %v, want …%s", err, test.err)
				}
				if _, err := os.Lstat(path); test.path == absent && err == nil {
					t.Error("something was made all the same")
				}
				return
			}
			if err != nil || paths["h"] != path {
				t.Fatalf("paths %v, error %v", paths, err)
			}
			if got := mode(t, path); test.made != 0 && got != test.made {
				t.Errorf("made with mode %v, want %v", got, test.made)
			}
			if (len(notes) == 1) != test.note || test.note && (notes[0].Reason != HostPathCreated || !strings.Contains(notes[0].Message, path)) {
				t.Errorf("notes = %+v", notes)
			}
			if _, again, err := v.SetUp(t.Context(), Request{Pod: pod}); err != nil || again != nil {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}

// hostTree is a directory with one of each.
func hostTree(t *testing.T) string {
	t.Helper()
	host := t.TempDir()
	if err := os.Mkdir(filepath.Join(host, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(host, "file"))
	for link, to := range map[string]string{"dirlink": "dir", "dangling": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(host, link)); err != nil {
			t.Fatal(err)
		}
	}
	return host
}

func TestHostPathIsNeverTornDown(t *testing.T) {
	host := hostTree(t)
	v := New(Config{Root: t.TempDir()})
	setUp(t, v, onPod(hostPath("h", filepath.Join(host, "dir"), v1.HostPathDirectory), emptyDir("e", "")))
	if err := v.TearDown(t.Context(), "u1"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(host, "dir")); err != nil {
		t.Error(err)
	}
}

// Kubernetes' validation lets a relative path pass; the engine refuses it.
func TestHostPathMustBeAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, kind := range []v1.HostPathType{v1.HostPathUnset, v1.HostPathDirectoryOrCreate} {
		_, _, err := New(Config{Root: t.TempDir()}).SetUp(t.Context(), Request{Pod: onPod(hostPath("h", "relative", kind))})
		if err == nil || !strings.HasSuffix(err.Error(), "hostPath relative is not absolute") {
			t.Errorf("type %q: error = %v", kind, err)
		}
		if _, err := os.Lstat("relative"); err == nil {
			t.Errorf("type %q: something was made in the working directory", kind)
		}
	}
}
