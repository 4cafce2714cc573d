package durable_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/podstead/podstead/durable"
	"github.com/podstead/podstead/test/powercut"
)

// What was written once is there from then on, in its old form or its new one.
func TestPowerCutLeavesTheOldFileOrTheNew(t *testing.T) {
	disk := powercut.New(t)
	file := filepath.Join(disk.Dir, "deep", "down", "file")
	old, written := bytes.Repeat([]byte{'o'}, 10000), bytes.Repeat([]byte{'n'}, 20000)
	prepare := func() {
		disk.Clear()
		must(t, durable.MkdirAll(filepath.Dir(file), 0o700))
		must(t, durable.WriteFile(file, old, 0o600))
		disk.Arm(0)
	}
	prepare()
	must(t, durable.WriteFile(file, written, 0o600))
	for _, cut := range powercut.Cuts(powercut.Number(30), disk.Steps()+1) {
		prepare()
		disk.Arm(cut.Step)
		done := durable.WriteFile(file, written, 0o600) == nil
		disk.Restore(cut.Fate, cut.Chance)
		got, err := os.ReadFile(file)
		if isNew := bytes.Equal(got, written); err != nil || !isNew && !bytes.Equal(got, old) || done && !isNew {
			t.Errorf("%s: written %v; %d bytes are left: %v", cut, done, len(got), err)
		}
		must(t, durable.Settle(filepath.Dir(file)))
		if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
			t.Errorf("%s: left beside the file: %v, %v", cut, left, err)
		}
	}
}

// What was removed stays removed, and what was never removed stays.
func TestPowerCutLeavesTheRemovedFileRemoved(t *testing.T) {
	disk := powercut.New(t)
	file := filepath.Join(disk.Dir, "file")
	for _, cut := range powercut.Cuts(powercut.Number(9), 3) {
		disk.Clear()
		must(t, durable.WriteFile(file, []byte("old"), 0o600))
		disk.Arm(cut.Step)
		done := durable.Remove(file) == nil
		disk.Restore(cut.Fate, cut.Chance)
		_, err := os.Stat(file)
		if gone := errors.Is(err, fs.ErrNotExist); done && !gone || cut.Step == 1 && gone {
			t.Errorf("%s: removed %v; now %v", cut, done, err)
		}
	}
}

// A life that reads what the one before had written and not yet synced, because
// it was killed, acts on it: from then on it must stay.
func TestPowerCutAfterAKill(t *testing.T) {
	disk := powercut.New(t)
	file := filepath.Join(disk.Dir, "file")
	must(t, durable.WriteFile(file, []byte("old"), 0o600))
	killed := filepath.Join(disk.Dir, ".file.1.new")
	must(t, os.WriteFile(killed, []byte("new"), 0o600))
	f, err := os.Open(killed)
	must(t, err)
	must(t, errors.Join(f.Sync(), f.Close(), os.Rename(killed, file)))

	must(t, durable.Settle(filepath.Join(disk.Dir, "missing"), disk.Dir))
	must(t, durable.Settle(disk.Dir))
	disk.Restore(powercut.Dropped, nil)
	if got, err := os.ReadFile(file); err != nil || string(got) != "new" {
		t.Errorf("left %q, %v", got, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
