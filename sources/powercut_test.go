package sources

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podstead/podstead/test/powercut"
)

// goodSetOf is a last good set: a unit that stays, one that changes and one that comes
// or goes.
func goodSetOf(version int) goodSet {
	set := goodSet{Place: "/manifests", Revision: fmt.Sprint(version), Units: []goodUnit{
		newGoodUnit("stays.yaml", []byte("stays")),
		newGoodUnit("changes.yaml", []byte(strings.Repeat(fmt.Sprintln("version", version), 2000))),
	}}
	if version%2 == 0 {
		set.Units = append(set.Units, newGoodUnit("comes.yaml", []byte("comes")))
	}
	return set
}

// The power may go at any step of a save: the set before is there or the new one,
// whole, and the new one once the save has succeeded.
func TestPowerCutsInASave(t *testing.T) {
	disk := powercut.New(t)
	save := func(store *goodStore, version int) error { return store.save(t.Context(), goodSetOf(version)) }
	before := func() *goodStore {
		disk.Clear()
		store := newGoodStore(filepath.Join(disk.Dir, "sources", "file"))
		for version := range 2 {
			if err := save(store, version); err != nil {
				t.Fatal(err)
			}
		}
		disk.Arm(0)
		return store
	}
	if err := save(before(), 2); err != nil {
		t.Fatal(err)
	}
	for _, cut := range powercut.Cuts(powercut.Number(30), disk.Steps()+1) {
		store := before()
		disk.Arm(cut.Step)
		done := save(store, 2) == nil
		disk.Restore(cut.Fate, cut.Chance)

		store = newGoodStore(filepath.Join(disk.Dir, "sources", "file"))
		set, errs := store.load()
		isNew := set.same(goodSetOf(2))
		if len(errs) > 0 || !isNew && !set.same(goodSetOf(1)) || done && !isNew {
			t.Errorf("%s: saved %v; left is revision %q of %d units: %v", cut, done, set.Revision, len(set.Units), errs)
		}
		// What is saved next is as good, and nothing of the cut is left.
		if err := save(store, 3); err != nil {
			t.Errorf("%s: save again: %v", cut, err)
		}
		if again, errs := newGoodStore(filepath.Join(disk.Dir, "sources", "file")).load(); len(errs) > 0 || !again.same(goodSetOf(3)) {
			t.Errorf("%s: saved again, left is revision %q: %v", cut, again.Revision, errs)
		}
		for pattern, want := range map[string]int{"*": 2, ".*": 0, "units/*": 2, "units/.*": 0} {
			if left, err := filepath.Glob(filepath.Join(store.root, pattern)); err != nil || len(left) != want {
				t.Errorf("%s: left of %s: %v, %v", cut, pattern, left, err)
			}
		}
	}
}
