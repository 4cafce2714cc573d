package volumes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// errKilled is what a killed agent would say.
var errKilled = errors.New("killed")

// mortal is a disk that does some steps whole, one half, and then nothing.
type mortal struct {
	*os.Root
	left  int
	steps int
}

func (m *mortal) step(whole, half func() error) error {
	m.left--
	switch {
	case m.left > 0:
		m.steps++
		return whole()
	case m.left == 0 && half != nil:
		_ = half()
	}
	return errKilled
}

func (m *mortal) Mkdir(name string, perm fs.FileMode) error {
	return m.step(func() error { return m.Root.Mkdir(name, perm) }, nil)
}

func (m *mortal) Chmod(name string, mode fs.FileMode) error {
	return m.step(func() error { return m.Root.Chmod(name, mode) }, nil)
}

func (m *mortal) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return m.step(func() error { return m.Root.WriteFile(name, data, perm) },
		func() error { return m.Root.WriteFile(name, data[:len(data)/2], perm) })
}

func (m *mortal) Symlink(target, name string) error {
	return m.step(func() error { return m.Root.Symlink(target, name) }, nil)
}

func (m *mortal) Rename(from, to string) error {
	return m.step(func() error { return m.Root.Rename(from, to) }, nil)
}

func (m *mortal) Remove(name string) error {
	return m.step(func() error { return m.Root.Remove(name) }, nil)
}

func (m *mortal) RemoveAll(name string) error {
	return m.step(func() error { return m.Root.RemoveAll(name) }, func() error {
		dir, err := m.Open(name)
		if err != nil {
			return err
		}
		defer dir.Close()
		names, err := dir.Readdirnames(1)
		if err != nil {
			return err
		}
		return m.Root.RemoveAll(path.Join(name, names[0]))
	})
}

// writeSteps writes through a disk that ends after some steps; it returns how
// many were done.
func writeSteps(t *testing.T, dir string, files payload, steps int) (int, error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	m := &mortal{Root: root, left: steps + 1}
	err = writer{root: root, disk: m}.write(files)
	return m.steps, err
}

func of(texts map[string]string) payload {
	files := payload{}
	for name, text := range texts {
		files[name] = file{[]byte(text), 0o644}
	}
	return files
}

// seen are the files below a directory, links at its top followed, as a
// container's process would find them.
func seen(t *testing.T, dir string) payload {
	t.Helper()
	found := payload{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ownPrefix) {
			addSeen(t, found, dir, entry.Name())
		}
	}
	return found
}

func addSeen(t *testing.T, found payload, dir, name string) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return // a name whose file is not there, or not any more
	}
	if err != nil {
		t.Fatal(err)
	}
	if !info.IsDir() {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		found[name] = file{data, info.Mode()}
		return
	}
	entries, err := os.ReadDir(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		addSeen(t, found, dir, path.Join(name, entry.Name()))
	}
}

// tidy checks that a volume holds the files and nothing else.
func tidy(t *testing.T, dir string, want payload) {
	t.Helper()
	if got := seen(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("the volume holds %v, want %v", got, want)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(want.tops())+2 {
		t.Errorf("something is left behind: %v", entries)
	}
}

// Killed after any step, half of one included, the agent leaves the old files or
// the new ones, and its next lives make the rest.
func TestWriteThatIsCutShort(t *testing.T) {
	modes := of(map[string]string{"a": "1", "b": "2"})
	modes["a"] = file{[]byte("1"), 0o400}
	transitions := []struct {
		name        string
		before, now payload
	}{
		{name: "first", now: of(map[string]string{"a": "new a", "d/e/f": "new f"})},
		{name: "first and empty", now: payload{}},
		{name: "content", before: of(map[string]string{"a": "1", "b": "2"}), now: of(map[string]string{"a": "one", "b": "two"})},
		{name: "names", before: of(map[string]string{"a": "1", "old/x": "2"}), now: of(map[string]string{"a": "1", "new/y": "3", "z": "4"})},
		{name: "a file becomes a folder", before: of(map[string]string{"a": "1", "b": "2"}), now: of(map[string]string{"a/b": "1"})},
		{name: "a folder becomes a file", before: of(map[string]string{"a/b": "1", "a/c": "2"}), now: of(map[string]string{"a": "1"})},
		{name: "modes", before: of(map[string]string{"a": "1", "b": "2"}), now: modes},
		{name: "to nothing", before: of(map[string]string{"a": "1", "b/c": "2"}), now: payload{}},
		{name: "nothing", before: of(map[string]string{"a": "1"}), now: of(map[string]string{"a": "1"})},
	}
	for _, test := range transitions {
		t.Run(test.name, func(t *testing.T) {
			for steps := 0; ; steps++ {
				if done := cutShort(t, test.before, test.now, steps); done {
					break
				}
			}
		})
	}
}

// cutShort stops a write after some steps and the next one too, and lets the third
// end; it reports that the first needed no more steps.
func cutShort(t *testing.T, before, now payload, steps int) (done bool) {
	t.Helper()
	dir, old := t.TempDir(), payload{}
	if before != nil {
		old = before
		if err := writeVolume(dir, before, nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err := writeSteps(t, dir, now, steps)
	oldOrNew(t, dir, old, now)
	_, _ = writeSteps(t, dir, now, steps/2)
	oldOrNew(t, dir, old, now)
	end := now
	if steps%2 == 1 { // the objects may be the old ones again
		end = old
	}
	if err := writeVolume(dir, end, nil); err != nil {
		t.Fatal(err)
	}
	tidy(t, dir, end)
	if t.Failed() {
		t.Fatalf("after %d steps", steps)
	}
	return err == nil
}

func oldOrNew(t *testing.T, dir string, old, now payload) {
	t.Helper()
	if got := seen(t, dir); !reflect.DeepEqual(got, old) && !reflect.DeepEqual(got, now) {
		t.Errorf("neither the old files nor the new: %v", got)
	}
}

func TestWriteOfTheSameDoesNothing(t *testing.T) {
	dir := t.TempDir()
	files := of(map[string]string{"a": "1", "b/c": "2"})
	if err := writeVolume(dir, files, nil); err != nil {
		t.Fatal(err)
	}
	if steps, err := writeSteps(t, dir, files, 100); steps != 0 || err != nil {
		t.Errorf("%d steps, %v; want none", steps, err)
	}
}

// After a power cut files may be short or gone although links lead to them; and
// whatever else is wrong is put right, too.
func TestWriteHeals(t *testing.T) {
	files := of(map[string]string{"a": "1", "b/c": "2"})
	for _, test := range []struct {
		name  string
		spoil func(dir string) error
	}{
		{name: "a file is cut", spoil: func(dir string) error { return os.Truncate(dir+"/a", 0) }},
		{name: "a file is zeroed", spoil: func(dir string) error { return os.WriteFile(dir+"/a", []byte{0}, 0) }},
		{name: "a file is gone", spoil: func(dir string) error { return os.Remove(dir + "/b/c") }},
		{name: "a mode differs", spoil: func(dir string) error { return os.Chmod(dir+"/a", 0o600) }},
		{name: "a folder's mode differs", spoil: func(dir string) error { return os.Chmod(dir+"/b", 0o700) }},
		{name: "a file too many", spoil: func(dir string) error { return os.WriteFile(dir+"/..data/x", nil, 0o600) }},
		{name: "a link for a file", spoil: func(dir string) error {
			return errors.Join(os.Remove(dir+"/..data/a"), os.Symlink("/etc/passwd", dir+"/..data/a"))
		}},
		{name: "a name is gone", spoil: func(dir string) error { return os.Remove(dir + "/a") }},
		{name: "a name too many", spoil: func(dir string) error { return os.Symlink("..data/x", dir+"/x") }},
		{name: "the link to all is gone", spoil: func(dir string) error { return os.Remove(dir + "/..data") }},
		{name: "the link to all leads outside", spoil: func(dir string) error {
			return errors.Join(os.Remove(dir+"/..data"), os.Symlink("../", dir+"/..data"))
		}},
		{name: "all is gone", spoil: func(dir string) error {
			target, err := os.Readlink(dir + "/..data")
			return errors.Join(err, os.RemoveAll(filepath.Join(dir, target)))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := writeVolume(dir, files, nil); err != nil {
				t.Fatal(err)
			}
			if err := test.spoil(dir); err != nil {
				t.Fatal(err)
			}
			if err := writeVolume(dir, files, nil); err != nil {
				t.Fatal(err)
			}
			tidy(t, dir, files)
		})
	}
}

func TestWriteStopsAtWhatIsNotItsOwn(t *testing.T) {
	dir := t.TempDir()
	old := of(map[string]string{"b": "2"})
	if err := writeVolume(dir, old, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir+"/a", 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/a/precious")
	if err := writeVolume(dir, of(map[string]string{"a": "1"}), nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error = %v", err)
	}
	there(t, dir+"/a/precious")
	there(t, dir+"/b")
}

func TestModesHoldWhateverTheUmask(t *testing.T) {
	defer unix.Umask(unix.Umask(0o077))
	dir := t.TempDir()
	files := payload{"open": {nil, 0o777}, "closed": {nil, 0o400}, "d/odd": {nil, 0o462}}
	if err := writeVolume(dir, files, nil); err != nil {
		t.Fatal(err)
	}
	for name, f := range files {
		if got := mode(t, filepath.Join(dir, name)); got != f.mode {
			t.Errorf("mode of %s = %o, want %o", name, got, f.mode)
		}
	}
	for _, name := range []string{"d", "..data"} {
		if got := mode(t, filepath.Join(dir, name)).Perm(); got != 0o755 {
			t.Errorf("mode of %s = %o, want 755", name, got)
		}
	}
	if steps, err := writeSteps(t, dir, files, 100); steps != 0 || err != nil {
		t.Errorf("again: %d steps, %v; want none", steps, err)
	}
}

// A process that reads while the files are exchanged sees one whole set.
func TestReadersSeeWholeSets(t *testing.T) {
	dir := t.TempDir()
	const sets, names = 25, 8
	set := func(n int) payload {
		texts := map[string]string{}
		for i := range names {
			texts[fmt.Sprintf("d%d/f", i)] = strings.Repeat(fmt.Sprintf("%03d ", n), 500)
		}
		return of(texts)
	}
	if err := writeVolume(dir, set(0), nil); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			whole := 0
			for {
				select {
				case <-done:
					if whole == 0 {
						t.Error("no set was read")
					}
					return
				default:
					whole += readSet(t, dir, names)
				}
			}
		})
	}
	for n := 1; n <= sets; n++ {
		if err := writeVolume(dir, set(n), nil); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
	tidy(t, dir, set(sets))
}

// readSet reads all files of the set that counts now; 0 if it was taken away
// meanwhile.
func readSet(t *testing.T, dir string, names int) int {
	target, err := os.Readlink(filepath.Join(dir, dataLink))
	if err != nil {
		t.Errorf("there was no set: %v", err)
		return 0
	}
	first := ""
	for i := range names {
		data, err := os.ReadFile(filepath.Join(dir, target, fmt.Sprintf("d%d/f", i)))
		if errors.Is(err, fs.ErrNotExist) {
			if now, _ := os.Readlink(filepath.Join(dir, dataLink)); now == target {
				t.Error("a file of the set that counts is missing")
			}
			return 0
		}
		if err != nil || len(data) != 2000 || strings.Count(string(data), string(data[:4])) != 500 {
			t.Errorf("half a file: %d bytes, %v", len(data), err)
		}
		if first == "" {
			first = string(data)
		} else if first != string(data) {
			t.Errorf("files of two sets in one: %s and %s", first[:3], data[:3])
		}
	}
	return 1
}

func TestPathsStayInTheVolume(t *testing.T) {
	long := strings.Repeat("n", 256)
	for _, test := range []struct {
		path, want, clean string
	}{
		{path: "", want: `path "" names no file`},
		{path: ".", want: `path "." names no file`},
		{path: "./", want: `path "./" names no file`},
		{path: "/etc/passwd", want: `path "/etc/passwd" is not relative`},
		{path: "..", want: `path ".." begins with two dots`},
		{path: "../x", want: `path "../x" begins with two dots`},
		{path: "..data", want: `path "..data" begins with two dots`},
		{path: "./..data/x", want: `path "./..data/x" begins with two dots`},
		{path: "a/../b", want: `path "a/../b" holds a name of two dots`},
		{path: "a/../../b", want: `path "a/../../b" begins with two dots`},
		{path: "a\x00b", want: `path "a\x00b" holds bytes that are no text`},
		{path: "a\xff", want: `path "a\xff" holds bytes that are no text`},
		{path: "a/" + long, want: `path "a/` + long[:38] + `"… holds a name of more than 255 bytes`},
		{path: strings.Repeat("a/", 2049), want: `path "` + strings.Repeat("a/", 20) + `"… is longer than 4096 bytes`},
		{path: "a", clean: "a"},
		{path: "./a//b/", clean: "a/b"},
		{path: "a/..b", clean: "a/..b"},
		{path: ".hidden", clean: ".hidden"},
	} {
		t.Run(fmt.Sprintf("%.20q", test.path), func(t *testing.T) {
			files := payload{}
			err := files.add(test.path, file{})
			if test.want != "" {
				if err == nil || err.Error() != test.want {
					t.Errorf("error = %v\nwant    %s", err, test.want)
				}
				return
			}
			if _, ok := files[test.clean]; err != nil || !ok {
				t.Errorf("got %v, %v; want %s", files, err, test.clean)
			}
		})
	}
	err := writeVolume(t.TempDir(), of(map[string]string{"a": "1", "a/b/c": "2"}), nil)
	if err == nil || !strings.HasSuffix(err.Error(), `path "a/b/c" lies in "a", which is a file`) {
		t.Errorf("error = %v", err)
	}
}
