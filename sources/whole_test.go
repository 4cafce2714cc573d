package sources

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestAFileIsReadWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if _, _, err := ReadWhole(path, 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("kind: Half"); err != nil {
		t.Fatal(err)
	}
	if data, _, err := ReadWhole(path, 100); !errors.Is(err, ErrBeingWritten) || data != nil {
		t.Errorf("while it is written: %q, %v", data, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if data, sure, err := ReadWhole(path, 100); string(data) != "kind: Half" || !sure || err != nil {
		t.Errorf("afterwards: %q, sure %v, %v", data, sure, err)
	}
	if _, _, err := ReadWhole(path, 5); err == nil || errors.Is(err, ErrBeingWritten) {
		t.Errorf("over the limit: %v", err)
	}
}
