package sources

import (
	"slices"
	"strings"
	"testing"

	"github.com/podstead/podstead/manifests"
)

// configure puts sources in force.
func (r *running) configure(list ...Member) {
	r.t.Helper()
	if err := r.merger.Configure(r.t.Context(), list); err != nil {
		r.t.Fatal(err)
	}
}

// receiveOrder takes the update of a configuration that was read again.
func (r *running) receiveOrder(order string, want ...string) {
	r.t.Helper()
	u := r.receive(want...)
	if u.Source.Name != "" || u.Source.Live || strings.Join(u.Order, " ") != order {
		r.t.Errorf("order %q with the state %+v, want %q and none", u.Order, u.Source, order)
	}
}

// shown are the sources that are listed, those that are retired with a minus.
func (r *running) shown() []string {
	r.t.Helper()
	statuses, err := r.merger.Statuses(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	var names []string
	for _, s := range statuses {
		if s.Retired {
			s.Source = "-" + s.Source
		}
		names = append(names, s.Source)
	}
	return names
}

func (r *running) wantShown(want ...string) {
	r.t.Helper()
	if got := r.shown(); !slices.Equal(got, want) {
		r.t.Errorf("sources %q, want %q", got, want)
	}
}

// notLive is a snapshot of a source that has not heard from its place.
func notLive(s Snapshot) Snapshot {
	s.Live = false
	s.Faults = []manifests.Fault{{Message: "away"}}
	return s
}

// keyed is a snapshot under other settings.
func keyed(key string, s Snapshot) Snapshot {
	s.Key = key
	return s
}

// A source that is renamed restarts nothing: its pods stay until the other name
// has answered, and are the same then.
func TestRenamedSourceRestartsNothing(t *testing.T) {
	r := startMerger(t, "git", "file")
	r.send(wants("git", "lamp=1", "kiln=1").using("m").with("m=1"))
	r.receiveWith("ADD lamp=1 git@lamp.yaml []", "ADD kiln=1 git@kiln.yaml [m=1]")
	r.send(wants("file", "wheel=1"))
	r.receive("ADD wheel=1 file@wheel.yaml")

	r.configure(members([]string{"fleet", "file"})...)
	r.receiveOrder("fleet file")
	r.silent()
	r.wantShown("fleet", "file", "-git")
	r.send(notLive(wants("fleet")))
	r.receive()
	r.send(wants("fleet", "lamp=1", "kiln=1").using("m").with("m=1"))
	r.receiveWith("UPDATE lamp=1 fleet@lamp.yaml []", "UPDATE kiln=1 fleet@kiln.yaml [m=1]")
	r.silent()
	r.wantShown("fleet", "file")
	if n := r.log.count("source is gone", "git"); n != 1 {
		t.Errorf("%d messages:\n%s", n, r.log)
	}
}

// The same with a receiver that is busy all the while: what it is told in the
// end leads from one name to the other, and not by way of nothing.
func TestRenamedSourceAndASlowReceiver(t *testing.T) {
	r := startMerger(t, "git", "file")
	r.send(wants("git", "lamp=1"))
	r.receive("ADD lamp=1 git@lamp.yaml")
	r.send(wants("file", "wheel=1"))
	r.configure(members([]string{"fleet", "file"})...)
	r.send(wants("fleet", "lamp=1"))
	r.receive("ADD wheel=1 file@wheel.yaml")
	r.receive("UPDATE lamp=1 fleet@lamp.yaml")
	r.silent()
	r.wantShown("fleet", "file")
}

// A source that is started under its new name before the merger has heard of it
// is not told before.
func TestSourceSpeaksBeforeItIsConfigured(t *testing.T) {
	r := startMerger(t, "git")
	r.send(wants("git", "lamp=1"))
	r.receive("ADD lamp=1 git@lamp.yaml")
	r.send(wants("fleet", "lamp=1", "kiln=1"))
	r.silent()
	r.wantShown("git")
	r.configure(members([]string{"fleet"})...)
	r.receive("ADD kiln=1 fleet@kiln.yaml", "UPDATE lamp=1 fleet@lamp.yaml")
	r.silent()
	r.wantShown("fleet")

	r.send(wants("other", "kiln=2"))
	r.configure(members([]string{"fleet"})...)
	r.configure(members([]string{"fleet", "other"})...)
	r.receiveOrder("fleet other")
	r.silent() // a configuration without it has forgotten it
}

// A source that is taken away goes with its pods at once if all others have
// answered, and else when they have.
func TestRemovedSource(t *testing.T) {
	t.Run("all others have answered", func(t *testing.T) {
		r := startMerger(t, "file", "git")
		r.send(wants("file", "lamp=1"))
		r.receive("ADD lamp=1 file@lamp.yaml")
		r.send(wants("git", "kiln=1", "lamp=2"))
		r.receive("ADD kiln=1 git@kiln.yaml")
		r.configure(Member{Name: "git"})
		r.receiveOrder("git", "REMOVE lamp=1 file@lamp.yaml", "ADD lamp=2 git@lamp.yaml")
		r.silent()
		r.wantShown("git")
	})
	t.Run("another has not", func(t *testing.T) {
		r := startMerger(t, "file", "git", "http")
		r.send(wants("file", "lamp=1"))
		r.receive("ADD lamp=1 file@lamp.yaml")
		r.send(notLive(wants("git", "kiln=1")))
		r.receive("ADD kiln=1 git@kiln.yaml")
		r.configure(members([]string{"git", "http"})...)
		r.receiveOrder("git http")
		r.send(wants("http", "lamp=2")) // whoever is configured wins
		r.receive("REMOVE lamp=1 file@lamp.yaml", "ADD lamp=2 http@lamp.yaml")
		r.send(notLive(wants("http", "wheel=1")))
		r.receive()
		r.wantShown("git", "http", "-file")
		r.send(wants("git", "kiln=1"))
		r.receive()
		r.wantShown("git", "http")
	})
	t.Run("which never spoke", func(t *testing.T) {
		r := startMerger(t, "file", "git")
		r.configure(Member{Name: "file"})
		r.receiveOrder("file")
		r.wantShown("file")
	})
	t.Run("and put back in time", func(t *testing.T) {
		r := startMerger(t, "file", "git")
		r.send(wants("file", "lamp=1"))
		r.receive("ADD lamp=1 file@lamp.yaml")
		r.configure(Member{Name: "git"})
		r.receiveOrder("git")
		r.configure(Member{Name: "git"}, Member{Name: "file"})
		if u := r.receive(); u.Source.Name != "file" || !u.Source.Live || strings.Join(u.Order, " ") != "git file" {
			t.Errorf("order %q with the state %+v: whoever heard that file is gone has forgotten it", u.Order, u.Source)
		}
		r.send(wants("git"))
		r.receive()
		r.silent()
		r.wantShown("git", "file")
	})
	t.Run("two of them keep their order", func(t *testing.T) {
		r := startMerger(t, "a", "b", "c")
		r.send(wants("b", "lamp=b"))
		r.receive("ADD lamp=b b@lamp.yaml")
		r.send(wants("a", "lamp=a"))
		r.receive("REMOVE lamp=b b@lamp.yaml", "ADD lamp=a a@lamp.yaml")
		r.configure(Member{Name: "c"}, Member{Name: "b"})
		r.receiveOrder("c b", "REMOVE lamp=a a@lamp.yaml", "ADD lamp=b b@lamp.yaml")
		r.configure(Member{Name: "c"})
		r.receiveOrder("c")
		r.wantShown("c", "-b", "-a")
		r.send(wants("c"))
		r.receive("REMOVE lamp=b b@lamp.yaml")
	})
}

// Sources that change places: the loser wins, and a configuration that changes
// nothing is not told.
func TestOrderOfSourcesIsReadAgain(t *testing.T) {
	r := startMerger(t, "file", "git")
	r.send(wants("file", "lamp=1", "kiln=1"))
	r.receive("ADD lamp=1 file@lamp.yaml", "ADD kiln=1 file@kiln.yaml")
	r.send(wants("git", "lamp=2", "kiln=1"))
	r.receive()
	r.configure(members([]string{"file", "git"})...)
	r.silent()
	r.configure(members([]string{"git", "file"})...)
	r.receiveOrder("git file", "REMOVE lamp=1 file@lamp.yaml", "ADD lamp=2 git@lamp.yaml", "UPDATE kiln=1 git@kiln.yaml")
	r.silent()
}

// A source that is started anew keeps what it said until its place answers; and
// a source is not gone before one that may have taken over its pods has answered
// under the settings of now.
func TestSourceWithOtherSettings(t *testing.T) {
	r := startMerger(t)
	r.configure(Member{Name: "git", Key: "1"}, Member{Name: "file", Key: "1"})
	r.receiveOrder("git file")
	r.send(keyed("1", wants("git", "lamp=1").using("m").with("m=1")))
	r.receiveWith("ADD lamp=1 git@lamp.yaml [m=1]")
	r.send(keyed("1", wants("file", "kiln=1")))
	r.receive("ADD kiln=1 file@kiln.yaml")

	r.configure(Member{Name: "git", Key: "2"})
	r.receiveOrder("git")
	r.send(keyed("2", notLive(wants("git"))))
	r.receive() // it is at fault
	r.send(keyed("1", wants("git", "lamp=1").using("m").with("m=1")))
	r.receive()
	r.wantShown("git", "-file")
	r.send(keyed("2", wants("git", "kiln=1", "lamp=1").using("m").with("m=1")))
	r.receive("UPDATE kiln=1 git@kiln.yaml")
	r.wantShown("git")
}

// A source that is started anew with stricter settings, by which nothing of what
// it wants is good, not even its last good set: it is at fault, and what runs
// runs on. What it does not name any more is removed all the same.
func TestSourceWithStricterSettings(t *testing.T) {
	atFault := func(s Snapshot, units ...string) Snapshot {
		for _, name := range units {
			s.Units = append(s.Units, Unit{Name: name, Faults: []manifests.Fault{{Message: "violates its policy"}}})
		}
		return s
	}
	t.Run("a repository", func(t *testing.T) {
		r := startMerger(t, "git")
		r.send(keyed("1", wants("git", "lamp=1@fleet", "kiln=1@fleet").using("m").with("m=1")))
		r.receiveWith("ADD lamp=1 git@fleet []", "ADD kiln=1 git@fleet [m=1]")
		r.send(keyed("2", notLive(atFault(wants("git"), "fleet"))))
		r.receive()
		for range 2 {
			r.send(keyed("2", atFault(wants("git"), "fleet@other")))
			if u := r.update(nil); len(u.Changes) != 0 || !u.Source.Live || !u.Source.Faulty["fleet@other"] {
				t.Errorf("update %q with the state %+v", words(u.Changes), u.Source)
			}
			r.send(keyed("2", notLive(wants("git"))))
			r.receive()
		}
		r.send(keyed("2", wants("git", "lamp=2@fleet")))
		r.receive("REMOVE lamp=1 git@fleet", "REMOVE kiln=1 git@fleet", "ADD lamp=2 git@fleet")
	})
	t.Run("a folder", func(t *testing.T) {
		r := startMerger(t, "file")
		r.send(keyed("1", wants("file", "kiln=1", "lamp=1", "wheel=1")))
		r.receive("ADD kiln=1 file@kiln.yaml", "ADD lamp=1 file@lamp.yaml", "ADD wheel=1 file@wheel.yaml")
		r.send(keyed("2", atFault(wants("file", "wheel=1"), "lamp.yaml")))
		r.receive("REMOVE kiln=1 file@kiln.yaml")
		r.send(keyed("2", wants("file", "wheel=1")))
		r.receive("REMOVE lamp=1 file@lamp.yaml")
	})
}

// Whoever looks into a source for objects still sees them while its pods stay.
func TestObjectsOfARetiredSource(t *testing.T) {
	r := startMerger(t)
	r.configure(Member{Name: "apps", ObjectsFrom: []string{"shared"}}, Member{Name: "shared"})
	r.receiveOrder("apps shared")
	r.send(wants("shared").with("m=1", "k=1"))
	r.receive()
	r.send(wants("apps", "lamp").using("k", "m"))
	r.receiveWith("ADD lamp= apps@lamp.yaml [k=1 m=1]")
	r.configure(Member{Name: "apps", ObjectsFrom: []string{"common"}}, Member{Name: "common"})
	r.receiveOrder("apps common")
	r.send(notLive(wants("common").with("m=2")))
	r.receiveWith("RECONCILE lamp= apps@lamp.yaml [k=1 m=2]")
	r.send(wants("common").with("m=2"))
	r.receiveWith("RECONCILE lamp= apps@lamp.yaml [m=2]")
	r.wantShown("apps", "common")
}

func TestConfigureRefusesAsAWhole(t *testing.T) {
	r := startMerger(t, "file")
	err := r.merger.Configure(t.Context(), []Member{{Name: "git"}, {Name: ""}, {Name: "git"}, {Name: "http", ObjectsFrom: []string{"gti"}}})
	for _, words := range []string{"no name", "git is configured twice", `takes objects from "gti"`} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v does not say %q", err, words)
		}
	}
	r.wantShown("file")
	r.silent()
	r.stop()
	for range r.out {
	}
	if err := r.merger.Configure(t.Context(), members([]string{"git"})); err == nil {
		t.Error("a merger that has stopped was configured")
	}
}

// All is settled once every configured source has answered and nothing is left of
// the others; that is told once for each configuration.
func TestSettledIsToldOncePerConfiguration(t *testing.T) {
	r := startMerger(t, "file", "git")
	settled := func(want int32) {
		t.Helper()
		r.silent()
		if got := r.settled.Load(); got != want {
			t.Errorf("settled was told %d times, want %d", got, want)
		}
	}
	r.send(wants("file", "lamp=1"))
	r.receive("ADD lamp=1 file@lamp.yaml")
	settled(0)
	r.send(notLive(wants("git", "kiln=1")))
	r.receive("ADD kiln=1 git@kiln.yaml")
	settled(0)
	r.send(wants("git", "kiln=1"))
	r.receive()
	settled(1)
	r.send(wants("git", "kiln=2"))
	r.receive("REMOVE kiln=1 git@kiln.yaml", "ADD kiln=2 git@kiln.yaml")
	settled(1)
	r.configure(members([]string{"file", "web"})...)
	r.receiveOrder("file web")
	settled(1) // git is retired, and web has not answered
	r.send(wants("web", "kiln=2"))
	r.receive("UPDATE kiln=2 web@kiln.yaml")
	settled(2)
}
