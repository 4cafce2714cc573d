package main

import (
	"path/filepath"
	"testing"

	"github.com/podstead/podstead/test/powercut"
)

// A node that has told who it is stays that node: all that it runs hangs on it.
func TestPowerCutsInTheFirstStart(t *testing.T) {
	disk := powercut.New(t)
	root := filepath.Join(disk.Dir, "lib", "podstead")
	start := func() (identity, error) {
		unlock, err := lockRootDir(root)
		if err != nil {
			return identity{}, err
		}
		defer unlock()
		id, _, err := loadIdentity(root, "", host{Hostname: "n1", MachineID: "m1"})
		return id, err
	}
	if _, err := start(); err != nil {
		t.Fatal(err)
	}
	for _, cut := range powercut.Cuts(powercut.Number(30), disk.Steps()+1) {
		disk.Clear()
		disk.Arm(cut.Step)
		first, failed := start()
		disk.Restore(cut.Fate, cut.Chance)
		second, err := start()
		if err != nil || failed == nil && second != first {
			t.Errorf("%s: now %+v, %v; before %+v, %v", cut, second, err, first, failed)
		}
	}
}
