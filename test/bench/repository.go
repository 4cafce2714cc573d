package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/podstead/podstead/test/rig"
)

// repository is a bare git repository that a row makes and serves.
type repository struct {
	*rig.Repository
	commits int
}

// newRepository makes an empty one whose HEAD is main.
func newRepository(dir string) (*repository, error) {
	r, err := rig.NewRepository(dir)
	if err != nil {
		return nil, err
	}
	_, err = r.Git(nil, "config", "http.receivepack", "false")
	return &repository{Repository: r}, err
}

// change is one file of a commit; nil content removes it.
type change struct {
	path    string
	content []byte
}

// commit adds a commit on top of main, on a branch of its own that publish
// moves main to: making it takes no time of what is measured.
func (r *repository) commit(changes ...change) error {
	r.commits++
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit refs/heads/next\ncommitter bench <bench@localhost> %d +0000\ndata 6\nchange\n", 1700000000+r.commits)
	if r.commits > 1 {
		fmt.Fprint(&in, "from refs/heads/main^0\n")
	}
	for _, c := range changes {
		writeChange(&in, c)
	}
	_, err := r.Git(&in, "fast-import", "--quiet", "--force")
	return err
}

// publish makes the commit the newest of main, as a push does.
func (r *repository) publish() error {
	_, err := r.Git(nil, "update-ref", "refs/heads/main", "refs/heads/next")
	return err
}

func writeChange(w io.Writer, c change) {
	if c.content == nil {
		fmt.Fprintf(w, "D %s\n", c.path)
		return
	}
	fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", c.path, len(c.content), c.content)
}

// addRefs makes n branches on the commit of main, packed as a server keeps them.
func (r *repository) addRefs(n int) error {
	tip, err := r.Git(nil, "rev-parse", "refs/heads/main")
	if err != nil {
		return err
	}
	var in bytes.Buffer
	for i := range n {
		fmt.Fprintf(&in, "create refs/heads/topic/%05d %s\n", i, tip)
	}
	if _, err := r.Git(&in, "update-ref", "--stdin"); err != nil {
		return err
	}
	_, err = r.Git(nil, "pack-refs", "--all")
	return err
}

// grow gives the repository a past: history bytes that no compression makes
// smaller, in files that later commits replace, then a tree of so many files
// beside the given ones. The result is packed as a server has it.
func (r *repository) grow(history int64, files int, manifests []change) error {
	cmd := exec.Command("git", "fast-import", "--quiet", "--force")
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git fast-import: %w", err)
	}
	w := bufio.NewWriterSize(pipe, 1<<20)
	r.writePast(w, history)
	r.writeTree(w, files, manifests)
	err = w.Flush()
	if closed := pipe.Close(); err == nil {
		err = closed
	}
	if ended := cmd.Wait(); err == nil {
		err = ended
	}
	if err != nil {
		return fmt.Errorf("git fast-import: %w", err)
	}
	_, err = r.Git(nil, "update-ref", "refs/heads/main", "refs/heads/next")
	return err
}

func (r *repository) writePast(w io.Writer, history int64) {
	const size = 1 << 20
	noise := rand.NewChaCha8([32]byte{1})
	block := make([]byte, size)
	for written := int64(0); written < history; written += size {
		r.commits++
		_, _ = noise.Read(block) // never fails
		fmt.Fprintf(w, "commit refs/heads/next\ncommitter bench <bench@localhost> %d +0000\ndata 5\npast\n", 1700000000+r.commits)
		writeChange(w, change{"past/blob", block})
	}
}

func (r *repository) writeTree(w io.Writer, files int, manifests []change) {
	r.commits++
	fmt.Fprintf(w, "commit refs/heads/next\ncommitter bench <bench@localhost> %d +0000\ndata 8\npresent\n", 1700000000+r.commits)
	fmt.Fprint(w, "D past/blob\n")
	for i := range files {
		writeChange(w, change{fmt.Sprintf("src/%03d/file%05d.txt", i%200, i), fmt.Appendf(nil, "file %d of a large tree, which is no manifest\n", i)})
	}
	for _, m := range manifests {
		writeChange(w, m)
	}
}

// packBytes are what a clone of the newest commit alone has to bring.
func (r *repository) packBytes() (int64, error) {
	dir, err := os.MkdirTemp(filepath.Dir(r.Dir), "clone-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	clone := exec.Command("git", "clone", "--quiet", "--bare", "--depth", "1", "file://"+r.Dir, filepath.Join(dir, "c"))
	if out, err := clone.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("git clone: %w: %s", err, out)
	}
	packs, err := filepath.Glob(filepath.Join(dir, "c", "objects", "pack", "*.pack"))
	if err != nil {
		return 0, err
	}
	var total int64
	for _, p := range packs {
		info, err := os.Stat(p)
		if err != nil {
			return 0, err
		}
		total += info.Size()
	}
	return total, nil
}
