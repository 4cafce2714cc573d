package runtimetest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"time"

	"github.com/podstead/podstead/runtime"
)

// Insides reach into what runs.
type Insides interface {
	FilePlace(ctx context.Context, id, path string) (runtime.FilePlace, error)
	ReadFiles(ctx context.Context, id, path string, out io.Writer) error
	WriteFiles(ctx context.Context, id, dir string, archive io.Reader) error
	Dial(ctx context.Context, sandboxID string, port int) (net.Conn, error)
	Usage(ctx context.Context, id string) (runtime.Usage, error)
}

// files go in and come out, while the container runs and when it has ended.
func (b *bench) files() {
	id := b.running(b.sandbox(), 0, b.env.Commands.Trap)
	b.until("it runs", func(pod runtime.Pod) bool { return find(pod, id).State == runtime.StateRunning })
	b.must(b.rt.WriteFiles(b.Context(), id, "/tmp", b.archive("d/", "d/a")))
	b.readBack(id)
	b.must(b.rt.Signal(b.Context(), id, "KILL"))
	b.untilEnded(id)
	b.readBack(id)

	for _, gone := range []string{"/tmp/nope", "/nope/nope"} {
		place, err := b.rt.FilePlace(b.Context(), id, gone)
		if err != nil || place.File != nil || place.Path != gone {
			b.Errorf("%s: %+v, %v", gone, place, err)
		}
		b.wants(runtime.ErrNotFound, b.rt.ReadFiles(b.Context(), id, gone, io.Discard))
	}
	b.wants(runtime.ErrNotFound, b.rt.WriteFiles(b.Context(), id, "/tmp/nope", b.archive("a")))
	_, err := b.rt.FilePlace(b.Context(), "0123456789ab", "/tmp")
	b.wants(runtime.ErrNotFound, err)
}

func (b *bench) wants(kind, err error) {
	b.Helper()
	if !errors.Is(err, kind) {
		b.Errorf("got %v, want %v", err, kind)
	}
}

// archive holds folders, which end in a slash, and files whose content is their name.
func (b *bench) archive(names ...string) io.Reader {
	b.Helper()
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, name := range names {
		h := tar.Header{Name: name, Mode: 0o750, ModTime: time.Unix(1e9, 0), Typeflag: tar.TypeDir}
		if name[len(name)-1] != '/' {
			h.Typeflag, h.Mode, h.Size = tar.TypeReg, 0o640, int64(len(name))
		}
		b.must(archive.WriteHeader(&h))
		if h.Typeflag == tar.TypeReg {
			_, err := io.WriteString(archive, name)
			b.must(err)
		}
	}
	b.must(archive.Close())
	return &out
}

// readBack looks at what files wrote.
func (b *bench) readBack(id string) {
	b.Helper()
	place, err := b.rt.FilePlace(b.Context(), id, "/tmp/d/../d/a")
	b.must(err)
	if f := place.File; place.Path != "/tmp/d/a" || f == nil || f.Mode != 0o640 || f.Size != 3 || f.ModTime.Unix() != 1e9 {
		b.Fatalf("the file is %+v, %+v", place, place.File)
	}
	if place, err = b.rt.FilePlace(b.Context(), id, "/tmp/d"); err != nil || place.File == nil || place.File.Mode != fs.ModeDir|0o750 {
		b.Fatalf("the folder is %+v, %v", place.File, err)
	}
	var out bytes.Buffer
	b.must(b.rt.ReadFiles(b.Context(), id, "/tmp/d", &out))
	got := map[string]string{}
	for archive := tar.NewReader(&out); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		b.must(err)
		content, err := io.ReadAll(archive)
		b.must(err)
		got[h.Name] = string(content)
	}
	if _, folder := got["d/"]; len(got) != 2 || !folder || got["d/a"] != "d/a" {
		b.Errorf("the archive holds %q", got)
	}
}

// usage is told of what runs, container and sandbox, and of nothing else.
func (b *bench) usage() {
	sandbox := b.sandbox()
	id := b.running(sandbox, 0, b.env.Commands.Trap)
	for _, running := range []string{sandbox, id} {
		used, err := b.rt.Usage(b.Context(), running)
		b.must(err)
		if used.WorkingSet > used.Memory {
			b.Errorf("the working set is more than all: %+v", used)
		}
	}
	b.must(b.rt.Signal(b.Context(), id, "KILL"))
	b.untilEnded(id)
	for _, other := range []string{id, "0123456789ab"} {
		_, err := b.rt.Usage(b.Context(), other)
		b.wants(runtime.ErrNotFound, err)
	}
}

// ports of a sandbox refuse while nothing listens, and are gone with it.
func (b *bench) ports() {
	sandbox := b.sandbox()
	_, err := b.rt.Dial(b.Context(), sandbox, 81)
	b.wants(runtime.ErrRefused, err)
	b.must(b.rt.Signal(b.Context(), sandbox, "KILL"))
	b.until("the sandbox has ended", func(pod runtime.Pod) bool { return pod.Sandboxes[0].State == runtime.StateExited })
	_, err = b.rt.Dial(b.Context(), sandbox, 81)
	b.wants(runtime.ErrSandboxGone, err)
}
