//go:build e2e

package release

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// source is a clone of the repository, whose commit stays the same, and dist where
// its release was built.
var source, dist string

// arches are those of the release.
var arches = []string{"amd64", "arm64", "armv7"}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if words := os.Getenv("PODSTEAD_RELEASE_ARCHES"); words != "" {
		arches = strings.Fields(words)
	}
	dir, err := os.MkdirTemp("", "podstead-release-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func build(dir string) error {
	source, dist = filepath.Join(dir, "source"), filepath.Join(dir, "dist")
	for _, command := range []*exec.Cmd{
		exec.Command("git", "clone", "-q", "--no-local", "../..", source),
		exec.Command(filepath.Join(source, "hack/release.sh"), append([]string{"-o", dist}, arches...)...),
	} {
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", command, err, out)
		}
	}
	return nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// git asks the clone.
func git(t *testing.T, words ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", source}, words...)...).Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

func version(t *testing.T) string {
	t.Helper()
	return git(t, "describe", "--tags", "--always")
}

// entry is one of an archive, with its content.
type entry struct {
	tar.Header
	data []byte
}

// archive reads the one of an architecture.
func archive(t *testing.T, arch string) (entries []entry) {
	t.Helper()
	file, err := os.Open(filepath.Join(dist, "podstead-"+version(t)+"-linux-"+arch+".tar.gz"))
	must(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	must(t, err)
	for r := tar.NewReader(unzipped); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		must(t, err)
		data, err := io.ReadAll(r)
		must(t, err)
		entries = append(entries, entry{*head, data})
	}
}

// program takes the one of an architecture out of its archive.
func program(t *testing.T, arch string) string {
	t.Helper()
	for _, e := range archive(t, arch) {
		if filepath.Base(e.Name) == "podstead" {
			path := filepath.Join(t.TempDir(), "podstead")
			must(t, os.WriteFile(path, e.data, 0o755))
			return path
		}
	}
	t.Fatalf("no program for %s", arch)
	return ""
}
