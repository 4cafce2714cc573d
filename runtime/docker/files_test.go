package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"github.com/podstead/podstead/runtime"
)

// filesAPI is an engine with one container.
type filesAPI struct {
	fakeAPI
	found container.InspectResponse
	stats map[string]container.PathStat
	files map[string]string
	wrote string // where it was written to
}

func newFilesAPI(user, dir string) *filesAPI {
	return &filesAPI{found: container.InspectResponse{
		ContainerJSONBase: &container.ContainerJSONBase{HostConfig: &container.HostConfig{}},
		Config:            &container.Config{User: user, WorkingDir: dir},
	}}
}

func (f *filesAPI) ContainerInspect(context.Context, string) (container.InspectResponse, error) {
	return f.found, nil
}

func (f *filesAPI) ContainerStatPath(_ context.Context, _, path string) (container.PathStat, error) {
	if stat, ok := f.stats[path]; ok {
		return stat, nil
	}
	return container.PathStat{}, refusal{"", cerrdefs.ErrNotFound}
}

func (f *filesAPI) CopyFromContainer(_ context.Context, _, path string) (io.ReadCloser, container.PathStat, error) {
	text, ok := f.files[path]
	if !ok {
		return nil, container.PathStat{}, refusal{"Could not find the file", cerrdefs.ErrNotFound}
	}
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	_ = archive.WriteHeader(&tar.Header{Name: "x", Size: int64(len(text)), Mode: 0o644})
	_, _ = io.WriteString(archive, text)
	return io.NopCloser(&out), container.PathStat{}, archive.Close()
}

func (f *filesAPI) CopyToContainer(_ context.Context, _, dir string, _ io.Reader, _ container.CopyToContainerOptions) error {
	f.wrote = dir
	return nil
}

func TestFilePlaceIsAbsolute(t *testing.T) {
	for _, test := range []struct{ name, dir, path, want string }{
		{name: "absolute", dir: "/srv", path: "/a//b/../c", want: "/a/c"},
		{name: "relative", dir: "/srv", path: "a", want: "/srv/a"},
		{name: "relative, no working directory", path: "a", want: "/a"},
		{name: "above the root", dir: "/srv", path: "../../../etc", want: "/etc"},
		{name: "the root", path: "/", want: "/"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newTestManager(t, newFilesAPI("", test.dir))
			place, err := m.FilePlace(t.Context(), "0123456789abcdef", test.path)
			if err != nil || place.Path != test.want || place.File != nil {
				t.Errorf("%+v, %v", place, err)
			}
		})
	}
}

func TestFilePlaceTellsWhereALinkLeads(t *testing.T) {
	api := newFilesAPI("", "")
	api.stats = map[string]container.PathStat{
		"/link": {Mode: fs.ModeSymlink | 0o777, LinkTarget: "/file"}, "/file": {Mode: 0o640, Size: 7},
	}
	m := newTestManager(t, api)
	link, err := m.FilePlace(t.Context(), "0123456789abcdef", "/link")
	if err != nil || link.File == nil || link.File.Target != "/file" {
		t.Errorf("%+v, %v", link, err)
	}
	file, err := m.FilePlace(t.Context(), "0123456789abcdef", "/file")
	if err != nil || file.File == nil || file.File.Size != 7 || file.File.Mode != 0o640 || file.File.Target != "" {
		t.Errorf("%+v, %v", file, err)
	}
}

// Files that come are the user's that the container runs as, as if it had made them.
func TestWhoseFilesAre(t *testing.T) {
	passwd := "root:x:0:0:root:/:/bin/sh\nweb:x:101:102::/:/bin/false\nbroken\n"
	group := "root:x:0:\nstaff:x:50:web\n"
	for _, test := range []struct {
		name, user string
		bare       bool // the image has no list of users
		uid, gid   int
	}{
		{name: "none"},
		{name: "number", user: "7", uid: 7},
		{name: "number of a known user", user: "101", uid: 101, gid: 102},
		{name: "number and group", user: "7:8", uid: 7, gid: 8},
		{name: "name", user: "web", uid: 101, gid: 102},
		{name: "name and group's name", user: "web:staff", uid: 101, gid: 50},
		{name: "number and group's name", user: "9:staff", uid: 9, gid: 50},
		{name: "unknown name", user: "nobody"},
		{name: "number, no list", user: "7", bare: true, uid: 7},
		{name: "name, no list", user: "web", bare: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := newFilesAPI(test.user, "")
			if !test.bare {
				api.files = map[string]string{"/etc/passwd": passwd, "/etc/group": group}
			}
			place, err := newTestManager(t, api).FilePlace(t.Context(), "0123456789abcdef", "/")
			if err != nil || place.UID != test.uid || place.GID != test.gid {
				t.Errorf("%d:%d, %v", place.UID, place.GID, err)
			}
		})
	}
}

func TestAReadOnlyContainerTakesFilesInItsVolumes(t *testing.T) {
	mounts := []container.MountPoint{{Destination: "/data", RW: true}, {Destination: "/conf"}}
	for _, test := range []struct {
		name   string
		dir    string
		mounts []container.MountPoint
		want   string // of the refusal, "" for none
	}{
		{name: "a volume", dir: "/data", mounts: mounts},
		{name: "in a volume", dir: "/data/a", mounts: mounts},
		{name: "beside it", dir: "/database", mounts: mounts, want: "only below /data"},
		{name: "a read-only volume", dir: "/conf", mounts: mounts, want: "only below /data"},
		{name: "nowhere", dir: "/", want: "no place to write to"},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := newFilesAPI("", "")
			api.found.HostConfig.ReadonlyRootfs, api.found.Mounts = true, test.mounts
			err := newTestManager(t, api).WriteFiles(t.Context(), "0123456789abcdef", test.dir, strings.NewReader(""))
			switch {
			case test.want == "" && (err != nil || api.wrote != test.dir):
				t.Errorf("%v, wrote to %q", err, api.wrote)
			case test.want != "" && (!errors.Is(err, runtime.ErrReadOnly) || !strings.Contains(err.Error(), test.want) || api.wrote != ""):
				t.Errorf("%v, wrote to %q", err, api.wrote)
			}
		})
	}
}
