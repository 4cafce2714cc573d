package cli

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// part is one entry of a tar; its content is its text, or what it links to.
type part struct {
	name string
	kind byte
	mode int64
	text string
}

func tarOf(t *testing.T, parts ...part) io.Reader {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, p := range parts {
		h := &tar.Header{Name: p.name, Typeflag: p.kind, Mode: p.mode, ModTime: time.Unix(1e9, 0)}
		switch p.kind {
		case tar.TypeReg:
			h.Size = int64(len(p.text))
		case tar.TypeSymlink, tar.TypeLink:
			h.Linkname = p.text
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := io.WriteString(w, p.text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &out
}

func dirPart(name string) part           { return part{name, tar.TypeDir, 0o755, ""} }
func filePart(name, text string) part    { return part{name, tar.TypeReg, 0o644, text} }
func linkPart(name, target string) part  { return part{name, tar.TypeSymlink, 0o777, target} }
func otherName(name, target string) part { return part{name, tar.TypeLink, 0o644, target} }

// listed is everything below a folder: files by their text, links by an arrow and
// their target, folders by a slash.
func listed(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case entry.IsDir():
			all[name] = "/"
		case entry.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[name] = "-> " + target
			return err
		default:
			text, err := os.ReadFile(path)
			all[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// extractInto unpacks in a folder and returns the warnings.
func extractInto(t *testing.T, dir string, archive io.Reader) ([]string, error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var warnings []string
	x := &extraction{root: root, skip: 1, warn: func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }}
	err = x.run(archive)
	return warnings, err
}

// B64, and CVE-2018-1002100, CVE-2019-1002101, CVE-2019-11246 of kubectl: whatever
// a container sends, nothing is written outside of the folder, and no link is made
// that leads there.
func TestExtractionStaysInItsFolder(t *testing.T) {
	top := dirPart("d/")
	cases := []struct {
		name     string
		parts    []part
		want     map[string]string
		warnings []string // what each begins with
	}{
		{"files, folders and links", []part{top, dirPart("d/a/"), filePart("d/a/b", "x"), linkPart("d/l", "a/b"), linkPart("d/a/up", "../a/b"), otherName("d/h", "d/a/b")},
			map[string]string{"a": "/", "a/b": "x", "l": "-> a/b", "a/up": "-> ../a/b", "h": "x"}, nil},
		{"folders that are left out", []part{top, filePart("d/a/b/c", "x")}, map[string]string{"a": "/", "a/b": "/", "a/b/c": "x"}, nil},
		{"names that go up", []part{top, filePart("../evil", "x"), filePart("d/../../evil", "x"), filePart("d/a/../../../evil", "x"), dirPart("d/../evil.d/")},
			map[string]string{}, []string{`left out "../evil"`, `left out "d/../../evil"`, `left out "d/a/../../../evil"`, `left out "d/../evil.d/"`}},
		{"absolute names", []part{top, filePart("/d/etc/evil", "x")}, map[string]string{"etc": "/", "etc/evil": "x"}, nil},
		{"links that lead out", []part{top, linkPart("d/abs", "/etc/passwd"), linkPart("d/up", "../evil"), linkPart("d/a", "b/../../evil"), linkPart("d/self", "..")},
			map[string]string{}, []string{"left out abs: it is a link to /etc/passwd", "left out up", "left out a", "left out self"}},
		{"writing through a link that leads out", []part{top, linkPart("d/out", "/tmp"), filePart("d/out/evil", "x")},
			map[string]string{"out": "/", "out/evil": "x"}, []string{"left out out: it is a link to /tmp"}},
		{"writing through a link that stays in", []part{top, dirPart("d/a/"), linkPart("d/l", "a"), filePart("d/l/x", "x"), linkPart("d/l/m", "../evil")},
			map[string]string{"a": "/", "l": "-> a"}, []string{"left out l/x: l is no folder", "left out l/m: l is no folder"}},
		{"two links that lead out together", []part{top, dirPart("d/a/"), linkPart("d/a/here", ".."), linkPart("d/m", "a/here/../evil")},
			map[string]string{"a": "/", "a/here": "-> .."}, []string{"left out m: it is a link to a/here/../evil"}},
		{"a file over a link", []part{top, filePart("d/a", "x"), linkPart("d/l", "a"), filePart("d/l", "y")}, map[string]string{"a": "x", "l": "y"}, nil},
		{"a second name of what is outside", []part{top, otherName("d/h", "../../etc/passwd"), otherName("d/i", "/etc/shadow"), otherName("d/j", "d")},
			map[string]string{}, []string{"left out h", "left out i", "left out j"}},
		{"a second name through a link", []part{top, dirPart("d/a/"), filePart("d/a/x", "x"), linkPart("d/l", "a"), otherName("d/h", "d/l/x")},
			map[string]string{"a": "/", "a/x": "x", "l": "-> a"}, []string{"left out h"}},
		{"devices and pipes", []part{top, {"d/null", tar.TypeChar, 0o666, ""}, {"d/disk", tar.TypeBlock, 0o666, ""}, {"d/pipe", tar.TypeFifo, 0o666, ""}},
			map[string]string{}, []string{"left out null", "left out disk", "left out pipe"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			around := t.TempDir()
			dir := filepath.Join(around, "target")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			warnings, err := extractInto(t, dir, tarOf(t, c.parts...))
			if err != nil {
				t.Fatal(err)
			}
			if beside := listed(t, around); len(beside) != len(listed(t, dir))+1 {
				t.Errorf("outside of the folder there is %v", slices.Sorted(maps.Keys(beside)))
			}
			if got := listed(t, dir); !maps.Equal(got, c.want) {
				t.Errorf("it holds %v, want %v", got, c.want)
			}
			if !slices.EqualFunc(warnings, c.warnings, strings.HasPrefix) {
				t.Errorf("warnings %q, want %q", warnings, c.warnings)
			}
		})
	}
}

// A folder of another's that is a link here is not written through.
func TestExtractionDoesNotFollowLinksThatWereThere(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	warnings, err := extractInto(t, dir, tarOf(t, dirPart("d/"), filePart("d/a/x", "x")))
	if err != nil || len(warnings) != 1 {
		t.Errorf("%q, %v", warnings, err)
	}
	if left := listed(t, elsewhere); len(left) != 0 {
		t.Errorf("written elsewhere: %v", left)
	}
}

func TestExtractionKeepsModesAndTimes(t *testing.T) {
	dir := t.TempDir()
	before, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := extractInto(t, dir, tarOf(t, part{"d/", tar.TypeDir, 0o711, ""}, part{"d/ro/", tar.TypeDir, 0o555, ""},
		part{"d/ro/run", tar.TypeReg, 0o4755, "x"}, part{"d/ro/key", tar.TypeReg, 0o600, "x"})); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "ro"), 0o700) })
	for name, mode := range map[string]fs.FileMode{"ro": fs.ModeDir | 0o555, "ro/run": 0o755, "ro/key": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode() != mode || info.ModTime().Unix() != 1e9 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if after, err := os.Stat(dir); err != nil || after.Mode() != before.Mode() {
		t.Errorf("the folder that was there is now %v, %v", after.Mode(), err)
	}
}

func TestExtractionTellsABrokenArchive(t *testing.T) {
	whole, err := io.ReadAll(tarOf(t, dirPart("d/"), filePart("d/a", strings.Repeat("x", 5000))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := extractInto(t, t.TempDir(), bytes.NewReader(whole[:3000])); err == nil {
		t.Error("an archive that breaks off is taken")
	}
	if _, err := extractInto(t, t.TempDir(), tarOf(t, filePart("d", "x"))); err == nil {
		t.Error("a file is taken for a folder")
	}
}

// What is there and is a folder is not replaced by what is none, nor the reverse.
func TestExtractionDoesNotReplaceFolders(t *testing.T) {
	for _, c := range []struct {
		name  string
		there part
		comes part
	}{
		{"a file over a folder", dirPart("d/a/"), filePart("d/a", "x")},
		{"a link over a folder", dirPart("d/a/"), linkPart("d/a", "b")},
		{"a folder over a file", filePart("d/a", "x"), dirPart("d/a/")},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := extractInto(t, dir, tarOf(t, dirPart("d/"), c.there)); err != nil {
				t.Fatal(err)
			}
			before := listed(t, dir)
			if _, err := extractInto(t, dir, tarOf(t, dirPart("d/"), c.comes)); err == nil || !maps.Equal(before, listed(t, dir)) {
				t.Errorf("%v, it holds %v", err, listed(t, dir))
			}
		})
	}
}

// What is packed here and unpacked there is the same.
func TestPackingAndExtractionFit(t *testing.T) {
	from := t.TempDir()
	for name, mode := range map[string]fs.FileMode{"a": 0o640, "sub/b": 0o755} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(from, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, name), []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("sub/b", filepath.Join(from, "l")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		root   string
		packed packing
		want   map[string]string
	}{
		{"a folder", from, packing{name: "new"}, map[string]string{"a": "a", "sub": "/", "sub/b": "sub/b", "l": "-> sub/b"}},
		{"a link to a folder", "", packing{name: "new"}, map[string]string{"a": "a", "sub": "/", "sub/b": "sub/b", "l": "-> sub/b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := c.root
			if root == "" {
				root = filepath.Join(t.TempDir(), "link")
				if err := os.Symlink(from, root); err != nil {
					t.Fatal(err)
				}
			}
			p := c.packed
			p.root, p.uid, p.gid, p.warn = root, 7, 8, func(format string, args ...any) { t.Errorf(format, args...) }
			var archive bytes.Buffer
			if err := p.run(&archive); err != nil {
				t.Fatal(err)
			}
			for r := tar.NewReader(bytes.NewReader(archive.Bytes())); ; {
				h, err := r.Next()
				if err != nil {
					break
				}
				if h.Uid != 7 || h.Gid != 8 || h.Uname != "" || !strings.HasPrefix(h.Name, "new/") {
					t.Errorf("%+v", h)
				}
			}
			dir := t.TempDir()
			if warnings, err := extractInto(t, dir, &archive); err != nil || len(warnings) > 0 {
				t.Fatal(warnings, err)
			}
			if got := listed(t, dir); !maps.Equal(got, c.want) {
				t.Errorf("it holds %v", got)
			}
		})
	}
}
