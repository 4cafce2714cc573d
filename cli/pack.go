package cli

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// packing makes a tar of a local file or folder.
type packing struct {
	root     string
	name     string // that the root gets; "" for the content of a folder
	uid, gid int    // whose the files become
	warn     func(format string, args ...any)
}

// run writes the whole tar.
func (p packing) run(archive io.Writer) error {
	root, err := filepath.EvalSymlinks(p.root) // as cp, of links what is named is followed
	if err != nil {
		return err
	}
	out := tar.NewWriter(archive)
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name := path.Join(p.name, filepath.ToSlash(rest))
		if name == "." {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return p.entry(out, name, file, info)
	})
	if err != nil {
		return err // a tar that broke off must not look like a whole one
	}
	return out.Close()
}

func (p packing) entry(out *tar.Writer, name, file string, info fs.FileInfo) error {
	var target string
	switch mode := info.Mode(); {
	case mode.IsDir():
		name += "/"
	case mode&fs.ModeSymlink != 0:
		var err error
		if target, err = os.Readlink(file); err != nil {
			return err
		}
	case !mode.IsRegular():
		p.warn("left out %s: it is neither a file nor a folder nor a link", file)
		return nil
	}
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return fmt.Errorf("pack %s: %w", file, err)
	}
	header.Name, header.Uid, header.Gid, header.Uname, header.Gname = name, p.uid, p.gid, "", ""
	if !info.Mode().IsRegular() {
		return out.WriteHeader(header)
	}
	return content(out, header, file)
}

// content writes a file as long as it is when it is opened.
func content(out *tar.Writer, header *tar.Header, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	header.Size = info.Size()
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	if _, err := io.CopyN(out, in, header.Size); errors.Is(err, io.EOF) {
		return fmt.Errorf("pack %s: it became shorter while it was read; try again", file)
	} else if err != nil {
		return err
	}
	return nil
}
