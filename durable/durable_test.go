package durable

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFileReplacesAndLeavesNothingBeside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pod.json")
	for _, want := range []string{"one", "two, which is longer", ""} {
		if err := WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Fatalf("read %q, %v; want %q", got, err, want)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
	onlyFile(t, dir, "pod.json")
}

func TestWriteFileKeepsTheOldFileOnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pod.json")
	// A directory in the way makes the rename fail after the data was written.
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := WriteFile(path, []byte("new"), 0o600)
	if err == nil {
		t.Fatal("no error although the file cannot be replaced")
	}
	if again := WriteFile(path, []byte("new"), 0o600); again.Error() != err.Error() {
		t.Errorf("the same fault reads differently: %v, before %v", again, err)
	}
	onlyFile(t, dir, "pod.json")
}

func TestWriteFileNeedsItsDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone", "pod.json")
	err := WriteFile(path, nil, 0o600)
	if err == nil {
		t.Fatal("no error although the directory is missing")
	}
	if want := "write " + path + ": no such file or directory"; err.Error() != want {
		t.Errorf("%q, want %q at each try", err, want)
	}
}

func TestRemoveTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pod.json")
	if err := WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := Remove(filepath.Join(t.TempDir(), "gone", "pod.json")); err != nil {
		t.Fatalf("a missing directory is not success: %v", err)
	}
}

func onlyFile(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != name {
		t.Fatalf("directory holds %v, %v; want only %s", entries, err, name)
	}
}
