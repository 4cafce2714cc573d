package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
)

// FilePlace looks at a path in a container, be it running or not. A relative path
// is one from the container's working directory. That nothing is there is no
// error. Errors: runtime.ErrNotFound when there is no such container,
// runtime.ErrUnavailable.
func (m *Manager) FilePlace(ctx context.Context, id, name string) (runtime.FilePlace, error) {
	place, err := m.filePlace(ctx, id, name)
	if err != nil {
		return runtime.FilePlace{}, fmt.Errorf("look at %q in %s: %w", name, short(id), err)
	}
	return place, nil
}

func (m *Manager) filePlace(ctx context.Context, id, name string) (runtime.FilePlace, error) {
	found, err := m.engine.inspectContainer(ctx, id)
	if err != nil {
		return runtime.FilePlace{}, err
	}
	place := runtime.FilePlace{Path: absolute(found, name)}
	stat, err := m.engine.statPath(ctx, id, place.Path)
	switch {
	case err == nil:
		place.File = &runtime.File{Mode: stat.Mode, Size: stat.Size, ModTime: stat.Mtime, Target: target(stat)}
	case !errors.Is(err, runtime.ErrNotFound): // the container is there: it is the file that is not
		return runtime.FilePlace{}, err
	}
	place.UID, place.GID, err = m.owner(ctx, id, found.Config.User)
	return place, err
}

// absolute is a path from the root of a container's file system.
func absolute(found container.InspectResponse, name string) string {
	if !path.IsAbs(name) {
		name = path.Join("/", found.Config.WorkingDir, name)
	}
	return path.Clean(name)
}

// target is where a link leads; the engine says so of links alone.
func target(stat container.PathStat) string {
	if stat.Mode&fs.ModeSymlink == 0 {
		return ""
	}
	return stat.LinkTarget
}

// ReadFiles writes a tar of what is at a path to out, named after the last part
// of the path. The engine lets nothing else be done with the container meanwhile,
// so out must not dawdle. Errors: runtime.ErrNotFound, runtime.ErrUnavailable,
// out's own.
func (m *Manager) ReadFiles(ctx context.Context, id, name string, out io.Writer) error {
	archive, err := m.engine.readArchive(ctx, id, name)
	if err == nil {
		defer archive.Close()
		_, err = io.Copy(out, archive)
	}
	if err != nil {
		return fmt.Errorf("read %q in %s: %w", name, short(id), err)
	}
	return nil
}

// WriteFiles unpacks a tar in a directory that is there. A directory is not
// replaced by a file, nor a file by a directory. As with ReadFiles, archive must
// not dawdle. Errors: runtime.ErrReadOnly, runtime.ErrNoSpace, runtime.ErrNotFound,
// runtime.ErrUnavailable, archive's own.
func (m *Manager) WriteFiles(ctx context.Context, id, dir string, archive io.Reader) error {
	err := m.writable(ctx, id, dir)
	if err == nil {
		err = m.engine.writeArchive(ctx, id, dir, archive)
	}
	if err != nil {
		return fmt.Errorf("write to %q in %s: %w", dir, short(id), err)
	}
	return nil
}

// writable tells beforehand what the engine says only while it is sent data,
// when its answer can be lost.
func (m *Manager) writable(ctx context.Context, id, dir string) error {
	found, err := m.engine.inspectContainer(ctx, id)
	if err != nil || found.HostConfig == nil || !found.HostConfig.ReadonlyRootfs {
		return err
	}
	var writable []string
	for _, mount := range found.Mounts {
		if within(dir, mount.Destination) && mount.RW {
			return nil
		}
		if mount.RW {
			writable = append(writable, mount.Destination)
		}
	}
	if len(writable) == 0 {
		return fmt.Errorf("%w: the container has no place to write to", runtime.ErrReadOnly)
	}
	slices.Sort(writable)
	return fmt.Errorf("%w: only below %s", runtime.ErrReadOnly, strings.Join(writable, ", "))
}

func within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

func (e *engine) statPath(ctx context.Context, id, name string) (container.PathStat, error) {
	return ask(ctx, e, call{name: "container_stat_path", id: id, limit: shortLimit}, func(ctx context.Context, a api) (container.PathStat, error) {
		return a.ContainerStatPath(ctx, id, name)
	})
}

func (e *engine) readArchive(ctx context.Context, id, name string) (io.ReadCloser, error) {
	return ask(ctx, e, call{name: "container_read_archive", id: id}, func(ctx context.Context, a api) (io.ReadCloser, error) {
		archive, _, err := a.CopyFromContainer(ctx, id, name)
		return archive, err
	})
}

func (e *engine) writeArchive(ctx context.Context, id, dir string, archive io.Reader) error {
	return tell(ctx, e, call{name: "container_write_archive", id: id}, func(ctx context.Context, a api) error {
		return a.CopyToContainer(ctx, id, dir, archive, container.CopyToContainerOptions{})
	})
}
