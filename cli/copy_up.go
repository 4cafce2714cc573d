package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// upload copies from this machine to the container.
func (c copying) upload(ctx context.Context, from spec, to string) error {
	place, err := c.place(ctx, to)
	if err != nil {
		return err
	}
	isDir := place.File != nil && place.File.Mode.IsDir()
	if from.stream() {
		if !isDir {
			return c.noFolder(place.Path)
		}
		return c.client.WriteFiles(ctx, c.at(place.Path), func(archive io.Writer) error {
			_, err := io.Copy(archive, c.t.In)
			return err
		})
	}
	info, err := os.Stat(from.path)
	if err != nil {
		return err
	}
	p := packing{root: from.path, uid: place.UID, gid: place.GID, warn: func(format string, args ...any) { c.t.Say("Warning: "+format, args...) }}
	dir := place.Path
	switch {
	case isDir:
		p.name = lastPart(filepath.ToSlash(from.path))
	case info.IsDir() && place.File != nil:
		return fmt.Errorf("%s in %s is no folder, and a folder does not replace it; name another place", place.Path, c.named)
	case !info.IsDir() && strings.HasSuffix(to, "/"):
		return c.noFolder(place.Path)
	default:
		dir, p.name = path.Split(place.Path)
		if dir, err = c.folder(ctx, path.Clean(dir)); err != nil {
			return err
		}
	}
	if err := c.fits(ctx, path.Join(dir, p.name), info.IsDir()); err != nil {
		return err
	}
	return c.client.WriteFiles(ctx, c.at(dir), p.run)
}

// folder is a folder in the container, links followed.
func (c copying) folder(ctx context.Context, name string) (string, error) {
	place, err := c.place(ctx, name)
	if err == nil && (place.File == nil || !place.File.Mode.IsDir()) {
		err = c.noFolder(name)
	}
	return place.Path, err
}

func (c copying) noFolder(name string) error {
	return fmt.Errorf("no folder %s in %s; make it first: podstead exec %s -n %s -c %s -- mkdir -p %s",
		name, c.named, c.of.Pod, c.of.Namespace, c.of.Container, name)
}

// fits refuses what the engine would only refuse when it has half of it: a folder
// in the place of a file, a file in the place of a folder.
func (c copying) fits(ctx context.Context, name string, folder bool) error {
	place, err := c.client.FilePlace(ctx, c.at(name))
	if err != nil || place.File == nil || place.File.Mode.IsDir() == folder {
		return err
	}
	if folder {
		return fmt.Errorf("%s in %s is no folder, and a folder does not replace it; name another place", name, c.named)
	}
	return fmt.Errorf("%s in %s is a folder, and a file does not replace one; name the file", name, c.named)
}
