package runtimetest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/podstead/podstead/runtime"
)

// file is one file of a container, by its absolute path in object.files.
type file struct {
	header tar.Header // Name is not used
	data   []byte
}

// PutFile puts a file into a container, as its own process would; its directory
// need not be there. A mode with fs.ModeSymlink makes a link that leads to data.
func (f *Fake) PutFile(id, name string, mode fs.FileMode, data string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[id]
	if o == nil {
		return
	}
	for dir := path.Dir(name); o.file(dir) == nil; dir = path.Dir(dir) {
		o.put(dir, file{header: tar.Header{Typeflag: tar.TypeDir, Mode: 0o755, ModTime: f.clock()}})
	}
	made := file{header: tar.Header{Typeflag: tar.TypeReg, Mode: int64(mode.Perm()), ModTime: f.clock(), Size: int64(len(data))}, data: []byte(data)}
	switch {
	case mode.IsDir():
		made = file{header: tar.Header{Typeflag: tar.TypeDir, Mode: int64(mode.Perm()), ModTime: f.clock()}}
	case mode&fs.ModeSymlink != 0:
		made = file{header: tar.Header{Typeflag: tar.TypeSymlink, Mode: 0o777, ModTime: f.clock(), Linkname: data}}
	}
	o.put(name, made)
}

// ReadFile returns a file of a container, and its header as it was written there.
func (f *Fake) ReadFile(id, name string) (tar.Header, string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.objects[id]; o != nil {
		if found := o.file(name); found != nil {
			return found.header, string(found.data), true
		}
	}
	return tar.Header{}, "", false
}

// RunAs says as whom a container runs, and in which directory.
func (f *Fake) RunAs(id string, uid, gid int, dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.objects[id]; o != nil {
		o.uidGid, o.workDir = [2]int{uid, gid}, dir
	}
}

func (o *object) put(name string, what file) {
	o.populate()
	o.files[path.Clean(name)] = what
}

// file is nil when there is none.
func (o *object) file(name string) *file {
	o.populate()
	if found, ok := o.files[path.Clean(name)]; ok {
		return &found
	}
	return nil
}

// populate makes what every container has.
func (o *object) populate() {
	if o.files != nil {
		return
	}
	hostname := o.ref().Name + "\n"
	dir := func(mode int64) file {
		return file{header: tar.Header{Typeflag: tar.TypeDir, Mode: mode, ModTime: o.createdAt}}
	}
	o.files = map[string]file{
		"/": dir(0o755), "/etc": dir(0o755), "/tmp": dir(0o1777),
		"/etc/hostname": {header: tar.Header{Typeflag: tar.TypeReg, Mode: 0o644, ModTime: o.createdAt, Size: int64(len(hostname))}, data: []byte(hostname)},
	}
}

// FilePlace looks at a path in a container.
func (f *Fake) FilePlace(ctx context.Context, id, name string) (runtime.FilePlace, error) {
	return call(ctx, f, Call{Verb: "FilePlace", ID: id, Detail: name}, func() (runtime.FilePlace, error) {
		o := f.objects[id]
		if o == nil {
			return runtime.FilePlace{}, runtime.ErrNotFound
		}
		if !path.IsAbs(name) {
			name = path.Join("/", o.workDir, name)
		}
		place := runtime.FilePlace{Path: path.Clean(name), UID: o.uidGid[0], GID: o.uidGid[1]}
		if found := o.file(name); found != nil {
			h := found.header
			place.File = &runtime.File{Mode: h.FileInfo().Mode(), Size: h.Size, ModTime: h.ModTime}
			if h.Typeflag == tar.TypeSymlink {
				place.File.Target = absoluteTarget(place.Path, h.Linkname)
			}
		}
		return place, nil
	})
}

func absoluteTarget(link, target string) string {
	if path.IsAbs(target) {
		return path.Clean(target)
	}
	return path.Join(path.Dir(link), target)
}

// ReadFiles writes a tar of a path in a container, named after its last part.
func (f *Fake) ReadFiles(ctx context.Context, id, name string, out io.Writer) error {
	archive, err := call(ctx, f, Call{Verb: "ReadFiles", ID: id, Detail: name}, func() ([]byte, error) {
		o := f.objects[id]
		if o == nil || o.file(name) == nil {
			return nil, runtime.ErrNotFound
		}
		return o.archive(path.Clean(name))
	})
	if err != nil {
		return err
	}
	_, err = out.Write(archive)
	return err
}

func (o *object) archive(root string) ([]byte, error) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(o.files)) {
		rest, below := strings.CutPrefix(name, root)
		if !below || rest != "" && root != "/" && rest[0] != '/' {
			continue
		}
		found := o.file(name)
		h := found.header
		h.Name = path.Join(path.Base(root), rest)
		if h.Typeflag == tar.TypeDir {
			h.Name += "/"
		}
		if err := archive.WriteHeader(&h); err != nil {
			return nil, err
		}
		if _, err := archive.Write(found.data); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), archive.Close()
}

// WriteFiles unpacks a tar in a directory of a container.
func (f *Fake) WriteFiles(ctx context.Context, id, dir string, archive io.Reader) error {
	files, err := unpack(archive)
	if err != nil {
		return err
	}
	_, err = call(ctx, f, Call{Verb: "WriteFiles", ID: id, Detail: dir}, func() (struct{}, error) {
		o := f.objects[id]
		if o == nil {
			return struct{}{}, runtime.ErrNotFound
		}
		if d := o.file(dir); d == nil || d.header.Typeflag != tar.TypeDir {
			return struct{}{}, fmt.Errorf("%w: directory %s", runtime.ErrNotFound, dir)
		}
		for _, made := range files {
			o.put(path.Join(dir, made.header.Name), made)
		}
		return struct{}{}, nil
	})
	return err
}

func unpack(archive io.Reader) ([]file, error) {
	var files []file
	for reader := tar.NewReader(archive); ; {
		h, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read archive: %w", err)
		}
		data, err := io.ReadAll(reader)
		if err != nil {
			return nil, fmt.Errorf("read archive: %w", err)
		}
		files = append(files, file{header: *h, data: data})
	}
}
