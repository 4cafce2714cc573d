package sources

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A set on disk of which only the names can be read still guards its pods: they
// run, and the first live answer must not end them all.
func TestDamagedLastGoodStillGuards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.place.says(commit("c1", "lamp", "kiln"), nil)
		r.start()
		r.stop()
		units := filepath.Join(r.cfg.dir, "lastgood", "units")
		if err := os.RemoveAll(units); err != nil {
			t.Fatal(err)
		}
		r.place.says(commit("c2"), nil)
		r.start()
		s := r.after(0)
		if !strings.Contains(s.Held, "2 of 2 pods (default/lamp-n1, default/kiln-n1)") || s.Revision != "" {
			t.Errorf("held %q: %s", s.Held, describe(s))
		}
		if state := stateOf(s); !state.Faulty[""] {
			t.Errorf("%+v: whoever judges orphans by it removes what runs", state)
		}
		if err := r.sync(SyncRequest{AllowRemoval: true}); err != nil {
			t.Errorf("Sync returned %v", err)
		}
		if s := r.after(0); s.Held != "" || s.Revision != "c2" || !healthy(s) {
			t.Errorf("allowed: %s", describe(s))
		}
	})
}

// A set that is held since only the names of what runs are known says that it is
// held, and a restart with other settings keeps what ran.
func TestHeldAgainstNamesKeepsWhatRan(t *testing.T) {
	r := startMerger(t, "git")
	r.send(keyed("1", wants("git", "lamp=1@fleet", "kiln=1@fleet")))
	r.receive("ADD lamp=1 git@fleet", "ADD kiln=1 git@fleet")
	held := wants("git")
	held.Held, held.Revision, held.Units = "too much", "", []Unit{{Name: "fleet", Newest: "c2"}}
	r.send(keyed("2", held))
	if u := r.update(nil); !u.Source.Faulty[""] {
		t.Errorf("state %+v", u.Source)
	}
}

// The age of a set is the time since its place last said so: an attempt that
// failed, or a newer version at fault, does not make it young; and a machine
// without a network knows since when.
func TestAgeIsSinceThePlaceConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.place.says(commit("c1", "lamp"), nil)
		began := time.Now()
		r.start()
		r.place.says(answer{unchanged: true}, nil)
		s := r.poll()
		same := s.Taken
		if !same.After(began) || !s.Heard.Equal(same) {
			t.Errorf("unchanged: taken %v, heard %v, began %v", same, s.Heard, began)
		}
		r.place.says(broken("c2"), nil)
		s = r.poll()
		if !s.Taken.Equal(same) || !s.Heard.After(same) {
			t.Errorf("broken: taken %v, heard %v; before %v", s.Taken, s.Heard, same)
		}
		heard := s.Heard
		r.place.says(answer{}, errRefused)
		if s = r.after(time.Hour); !s.Taken.Equal(same) || !s.Heard.Equal(heard) {
			t.Errorf("refused: taken %v, heard %v; before %v, %v", s.Taken, s.Heard, same, heard)
		}
		if got := r.ledger.statuses(time.Now())[0]; !got.Taken.Equal(same) || !got.LastSuccess.Equal(heard) {
			t.Errorf("shown: %v, %v", got.Taken, got.LastSuccess)
		}
		r.restart()
		s = r.after(time.Hour)
		if got := r.ledger.statuses(time.Now())[0]; !s.Taken.Equal(began) || !got.LastSuccess.Equal(began) {
			t.Errorf("after a restart: %v, %v; in force since %v", s.Taken, got.LastSuccess, began)
		}
	})
}

// Faults name the commit that they are of, in words and in the log; the revision
// of the source stays the one in force.
func TestFaultsNameTheirCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good, bad := strings.Repeat("a1", 20), strings.Repeat("b2", 20)
		r := newPolledRig(t)
		r.place.says(commit(good, "lamp"), nil)
		r.start()
		r.place.says(broken(bad), nil)
		s := r.poll()
		if s.Revision != good || !strings.HasSuffix(s.Units[0].Problems()[0].Message, " (at b2b2b2b)") {
			t.Errorf("%s: %v", s.Revision, s.Units[0].Problems())
		}
		if err := r.sync(SyncRequest{}); err == nil || !strings.Contains(err.Error(), "(at b2b2b2b)") {
			t.Errorf("Sync returned %v", err)
		}
		if n := r.log.count("manifest is at fault", "revision="+bad); n != 1 {
			t.Errorf("told %d times:\n%s", n, r.log)
		}
	})
}

// A URL's body that was at fault is no longer what it says once it says nothing
// that is a set.
func TestPlaceAtFaultHidesTheBodyBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.cfg.kind, r.cfg.body = KindHTTP, true
		body := func(text string) answer {
			return answer{files: []unitFile{{Name: r.cfg.unit, Data: []byte(text)}}}
		}
		r.place.says(body(manifest("lamp", "on")), nil)
		r.start()
		r.place.says(body("---\n"), nil)
		if s := r.poll(); len(s.Units[0].Faults) == 0 {
			t.Errorf("%s", describe(s))
		}
		r.place.says(answer{}, errRefused)
		if s := r.poll(); len(s.Faults) != 1 || len(s.Units[0].Faults) != 0 || !pods("lamp-n1").exactly(s) {
			t.Errorf("%v: %s", s.Units[0].Faults, describe(s))
		}
		if n := r.log.count("good again"); n > 0 {
			t.Errorf("told of what nobody said:\n%s", r.log)
		}
	})
}

// Somebody removes what is kept below a running agent: it is written again.
func TestRemovedLastGoodIsSavedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.place.says(commit("c1", "lamp"), nil)
		r.start()
		r.place.says(answer{unchanged: true}, nil)
		r.poll()
		if err := os.RemoveAll(r.cfg.dir); err != nil {
			t.Fatal(err)
		}
		r.after(goodCheck + 2*testInterval)
		r.place.says(answer{}, errRefused)
		r.restart()
		if s := r.first(); !pods("lamp-n1").exactly(s) {
			t.Errorf("%s", describe(s))
		}
	})
}
