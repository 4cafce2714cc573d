package cli

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/podstead/podstead/agent/api"
)

// download copies from the container to this machine.
func (c copying) download(ctx context.Context, name string, to spec) error {
	place, err := c.place(ctx, name)
	if err != nil {
		return err
	}
	if place.File == nil {
		return fmt.Errorf("no %s in %s", place.Path, c.named)
	}
	if to.stream() {
		return c.client.ReadFiles(ctx, c.at(place.Path), func(archive io.Reader) error {
			_, err := io.Copy(c.t.Out, archive)
			return err
		})
	}
	switch mode := place.File.Mode; {
	case mode.IsDir():
		return c.downloadFolder(ctx, place, name, to.path)
	case mode.IsRegular():
		return c.downloadFile(ctx, place, name, to.path)
	}
	return fmt.Errorf("%s in %s is neither a file nor a folder (%s)", place.Path, c.named, place.File.Mode.Type())
}

// downloadFile writes to the very place that the user names, links in it followed,
// as cp does: it may be /dev/stdout.
func (c copying) downloadFile(ctx context.Context, place api.FilePlace, name, to string) error {
	info, err := os.Stat(to)
	switch {
	case err == nil && info.IsDir():
		to = filepath.Join(to, cmp.Or(lastPart(name), lastPart(place.Path)))
	case err != nil && strings.HasSuffix(to, "/"):
		return fmt.Errorf("no folder %s here; make it first, or name the file without the / at its end", to)
	}
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder, and a file does not replace one; name the file", to)
	}
	return c.client.ReadFiles(ctx, c.at(place.Path), func(archive io.Reader) error {
		content := tar.NewReader(archive)
		header, err := content.Next()
		if err != nil {
			return fmt.Errorf("read the file's archive: %w", err)
		}
		if header.Typeflag != tar.TypeReg {
			return fmt.Errorf("%s is no file any more", place.Path)
		}
		return writeFile(to, header, content)
	})
}

func writeFile(to string, header *tar.Header, content io.Reader) error {
	file, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		_, err = io.Copy(file, content)
	}
	if err == nil && info.Mode().IsRegular() {
		err = file.Chmod(header.FileInfo().Mode().Perm())
	}
	if err = errors.Join(err, file.Close()); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return os.Chtimes(to, header.ModTime, header.ModTime)
}

// downloadFolder makes the folder if need be and unpacks there. Nothing is written
// outside of it.
func (c copying) downloadFolder(ctx context.Context, place api.FilePlace, name, to string) error {
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		to = filepath.Join(to, lastPart(name))
	}
	err := os.Mkdir(to, 0o700)
	isNew := err == nil
	if errors.Is(err, fs.ErrExist) {
		info, statErr := os.Stat(to)
		if err = statErr; err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is no folder, and a folder does not replace it; name another place", to)
		}
	}
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	x := &extraction{root: root, skip: 1, warn: func(format string, args ...any) { c.t.Say("Warning: %s", OneLine(fmt.Sprintf(format, args...))) }}
	if place.Path == "/" {
		x.skip = 0
	}
	if isNew {
		x.made(".")
	}
	return c.client.ReadFiles(ctx, c.at(place.Path), x.run)
}
