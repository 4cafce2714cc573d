package api

import (
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheSocketIsRootsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "podstead.sock")
	_, stop := serveAt(t, path, Handlers{})
	for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: mode %o, want %o", name, got, want)
		}
	}
	stop()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is left behind: %v", err)
	}
}

func TestAPathThatNoSocketCanHaveIsOpenedThroughItsFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("long/", 30), "podstead.sock")
	c, stop := serveAt(t, path, Handlers{Version: func() Version { return Version{Version: "v1"} }})
	defer stop()
	if v, err := c.Version(t.Context()); err != nil || v.Version != "v1" {
		t.Errorf("Version: %+v, %v", v, err)
	}
}

func TestWhatIsAtTheSocketsPath(t *testing.T) {
	cases := []struct {
		name    string
		prepare func(t *testing.T, path string)
		want    string // part of the error; "" for none
	}{
		{name: "nothing", prepare: func(*testing.T, string) {}},
		{name: "a socket left by a killed agent", prepare: func(t *testing.T, path string) {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
			if err != nil {
				t.Fatal(err)
			}
			l.SetUnlinkOnClose(false)
			_ = l.Close()
		}},
		{name: "another agent", want: "another agent listens there", prepare: func(t *testing.T, path string) {
			_, stop := serveAt(t, path, Handlers{})
			t.Cleanup(stop)
		}},
		{name: "a file", want: "is not a socket", prepare: func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s")
			c.prepare(t, path)
			l, err := listen(t.Context(), path)
			if err == nil {
				defer l.Close()
			}
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("listen: %v, want %q", err, c.want)
			}
		})
	}
}

func TestANameTooLongForAnySocketIsRefused(t *testing.T) {
	if _, err := listen(t.Context(), filepath.Join(t.TempDir(), strings.Repeat("n", 120))); err == nil {
		t.Error("listened")
	}
}

func TestWithoutAnAgentTheClientSaysWhatToDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	_, err := NewClient(path).Pods(t.Context())
	if !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "podstead run") {
		t.Errorf("Pods: %v", err)
	}
}

func TestAServerNeedsASocketAndALogger(t *testing.T) {
	if _, err := New(Config{Logger: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("made without a socket")
	}
	if _, err := New(Config{Socket: "/s"}); err == nil {
		t.Error("made without a logger")
	}
}
