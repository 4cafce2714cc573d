package sources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podstead/podstead/manifests"
)

// wants is a snapshot of a live source, its pods written name or name=version;
// each stands in a unit of its own, after "@" if that is not the name's.
func wants(source string, names ...string) Snapshot {
	s := Snapshot{Source: source, Kind: Kind(source), Live: true, Attempted: true, Taken: time.Unix(1, 0), Heard: time.Unix(1, 0)}
	for _, name := range names {
		s.Pods = append(s.Pods, madePod(source, name))
	}
	return s
}

func madePod(source, word string) Pod {
	var name, version, unit string
	name, unit, _ = strings.Cut(word, "@")
	name, version, _ = strings.Cut(name, "=")
	if unit == "" {
		unit = name + ".yaml"
	}
	pod := &v1.Pod{}
	pod.Namespace, pod.Name, pod.UID = "default", name, types.UID(name+"="+version)
	return Pod{Pod: manifests.Pod{Pod: pod}, Origin: Origin{Source: source, Kind: Kind(source), Unit: unit, Document: 1}}
}

// running is a Merger with its channels.
type running struct {
	t      *testing.T
	log    *logBook
	merger *Merger
	// settled counts how often that was told.
	settled atomic.Int32
	in      chan Snapshot
	out     chan PodUpdate
	stop    context.CancelFunc
	ended   chan error
}

func startMerger(t *testing.T, order ...string) *running {
	t.Helper()
	log := &logBook{}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{
		t: t, log: log, stop: cancel,
		in: make(chan Snapshot), out: make(chan PodUpdate), ended: make(chan error, 1),
	}
	r.merger = NewMerger(MergerConfig{Sources: members(order), Settled: func() { r.settled.Add(1) }, Logger: log.logger()})
	go func() { r.ended <- r.merger.Run(ctx, r.in, r.out) }()
	t.Cleanup(func() {
		cancel()
		<-r.ended
	})
	return r
}

func (r *running) send(s Snapshot) {
	r.t.Helper()
	select {
	case r.in <- s:
	case <-time.After(5 * time.Second):
		r.t.Fatal("the merger holds up a source")
	}
}

func (r *running) receive(want ...string) PodUpdate {
	r.t.Helper()
	u := r.update(want)
	if got := words(u.Changes); !slices.Equal(got, want) {
		r.t.Errorf("update of %s: %q, want %q", u.Source.Name, got, want)
	}
	return u
}

// update is the next one, whatever it says.
func (r *running) update(want []string) PodUpdate {
	r.t.Helper()
	select {
	case u, open := <-r.out:
		if !open {
			r.t.Fatal("the updates ended")
		}
		return u
	case <-time.After(5 * time.Second):
		r.t.Fatalf("no update, want %q", want)
	}
	return PodUpdate{}
}

// silent is true when there is no update to come: a status is answered after
// all that was sent before.
func (r *running) silent() {
	r.t.Helper()
	if _, err := r.merger.Statuses(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	select {
	case u := <-r.out:
		r.t.Errorf("update of %s: %q, want none", u.Source.Name, words(u.Changes))
	default:
	}
}

func words(changes []Change) []string {
	w := []string{}
	for _, c := range changes {
		w = append(w, fmt.Sprintf("%s %s %s@%s", c.Op, c.Pod.UID, c.Pod.Origin.Source, c.Pod.Origin.Unit))
	}
	return w
}

func TestMergerTellsWhatChanged(t *testing.T) {
	r := startMerger(t, "file", "git")
	r.send(wants("file", "lamp=1", "kiln=1"))
	r.receive("ADD lamp=1 file@lamp.yaml", "ADD kiln=1 file@kiln.yaml")
	r.send(wants("file", "lamp=2", "kiln=1@moved.yaml"))
	r.receive("REMOVE lamp=1 file@lamp.yaml", "ADD lamp=2 file@lamp.yaml", "UPDATE kiln=1 file@moved.yaml")
	r.send(wants("file", "lamp=2", "kiln=1@moved.yaml"))
	r.silent()
	r.send(wants("file"))
	r.receive("REMOVE lamp=2 file@lamp.yaml", "REMOVE kiln=1 file@moved.yaml")
}

// B13: an update comes also when a source first speaks, and when what is known
// of it changes; an unchanged one is no news, whatever its revision (B43).
func TestMergerTellsOfSources(t *testing.T) {
	r := startMerger(t, "file")
	stored := wants("file", "lamp")
	stored.Live = false
	stored.Faults = []manifests.Fault{{Message: "gone"}}
	r.send(stored)
	if u := r.receive("ADD lamp= file@lamp.yaml"); u.Source.Live || !u.Source.Attempted || !u.Source.Faulty[""] {
		t.Errorf("state %+v", u.Source)
	}
	live := wants("file", "lamp")
	live.Units = []Unit{{Name: "lamp.yaml", Faults: []manifests.Fault{{Message: "bad"}}}}
	r.send(live)
	if u := r.receive(); !u.Source.Live || u.Source.Faulty[""] || !u.Source.Faulty["lamp.yaml"] {
		t.Errorf("state %+v", u.Source)
	}
	live.Revision, live.Taken = "another", time.Unix(2, 0)
	r.send(live)
	r.silent()
	r.send(wants("file", "lamp"))
	if u := r.receive(); len(u.Source.Faulty) != 0 {
		t.Errorf("state %+v", u.Source)
	}
	empty := startMerger(t, "file")
	empty.send(wants("file"))
	if u := empty.receive(); u.Source.Name != "file" || !u.Source.Live {
		t.Errorf("state %+v", u.Source)
	}
}

// A source that was live stays known as such when it falls back to its disk.
func TestMergerRemembersLive(t *testing.T) {
	r := startMerger(t, "file")
	r.send(wants("file"))
	r.receive()
	stored := wants("file")
	stored.Live, stored.Attempted = false, false
	r.send(stored)
	r.silent()
}

// B02: over sources the first in order wins a name, within one the first place;
// the loser is shown, and takes over when the winner goes. The same pod with
// another winner is not restarted.
func TestMergerSettlesNames(t *testing.T) {
	r := startMerger(t, "file", "git")
	r.send(wants("git", "lamp=1", "kiln=git"))
	r.receive("ADD lamp=1 git@lamp.yaml", "ADD kiln=git git@kiln.yaml")
	r.send(wants("file", "lamp=1", "kiln=file", "kiln=double@z.yaml"))
	r.receive("REMOVE kiln=git git@kiln.yaml", "ADD kiln=file file@kiln.yaml", "UPDATE lamp=1 file@lamp.yaml")

	statuses, err := r.merger.Statuses(t.Context())
	if err != nil || len(statuses) != 2 {
		t.Fatal(statuses, err)
	}
	var losers []string
	for _, s := range statuses {
		for _, l := range s.Losers {
			losers = append(losers, fmt.Sprintf("%s: %s@%s after %s@%s", l.Name, l.Pod.Source, l.Pod.Unit, l.Winner.Source, l.Winner.Unit))
		}
	}
	want := []string{
		"default/kiln: file@z.yaml after file@kiln.yaml",
		"default/lamp: git@lamp.yaml after file@lamp.yaml",
		"default/kiln: git@kiln.yaml after file@kiln.yaml",
	}
	if !slices.Equal(losers, want) {
		t.Errorf("losers %q, want %q", losers, want)
	}
	if n := r.log.count("its name is taken"); n != 3 {
		t.Errorf("%d conflicts logged:\n%s", n, r.log)
	}

	r.send(wants("file"))
	u := r.receive("REMOVE kiln=file file@kiln.yaml", "ADD kiln=git git@kiln.yaml", "UPDATE lamp=1 git@lamp.yaml")
	if u.Source.Name != "file" {
		t.Errorf("caused by %s", u.Source.Name)
	}
	r.silent()
	if n := r.log.count("its name is taken"); n != 3 {
		t.Errorf("%d conflicts logged:\n%s", n, r.log)
	}
}

// A receiver that is busy holds up nobody, and gets in the end what leads from
// what it has to what is wanted, source by source.
func TestMergerWithSlowReceiver(t *testing.T) {
	r := startMerger(t, "file", "git")
	r.send(wants("file", "lamp=1"))
	r.receive("ADD lamp=1 file@lamp.yaml")
	for i := 2; i < 100; i++ {
		r.send(wants("file", fmt.Sprintf("lamp=%d", i)))
		r.send(wants("git", fmt.Sprintf("kiln=%d", i)))
	}
	r.receive("REMOVE lamp=1 file@lamp.yaml", "ADD lamp=99 file@lamp.yaml")
	r.receive("ADD kiln=99 git@kiln.yaml")
	r.silent()

	r.send(wants("file", "lamp=100"))
	r.send(wants("file", "lamp=99"))
	r.silent() // there and back again is no change
}

func TestMergerEnds(t *testing.T) {
	t.Run("with its context", func(t *testing.T) {
		r := startMerger(t, "file")
		r.send(wants("file", "lamp"))
		r.stop()
		for range r.out {
		}
		err := <-r.ended
		r.ended <- err
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		if _, err := r.merger.Statuses(t.Context()); !errors.Is(err, errMergerStopped) {
			t.Errorf("Statuses returned %v", err)
		}
	})
	t.Run("with its input, once all is told", func(t *testing.T) {
		r := startMerger(t, "file")
		r.send(wants("file", "lamp"))
		close(r.in)
		r.receive("ADD lamp= file@lamp.yaml")
		if _, open := <-r.out; open {
			t.Error("more than was said")
		}
		err := <-r.ended
		r.ended <- err
		if err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
}

// B46: every configured source is listed under its name, spoken or not.
func TestStatusesListEverySource(t *testing.T) {
	r := startMerger(t, "file", "http", "git")
	git := wants("git", "lamp")
	git.Place = "https://example.com/fleet.git"
	r.send(git)
	r.receive("ADD lamp= git@lamp.yaml")
	broken := git
	broken.Taken, broken.Faults = time.Unix(9, 0), []manifests.Fault{{Message: "away"}}
	r.send(broken)
	r.receive()
	statuses, err := r.merger.Statuses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range statuses {
		names = append(names, s.Source)
	}
	if !slices.Equal(names, []string{"file", "http", "git"}) {
		t.Errorf("sources %v", names)
	}
	if s := statuses[2]; s.Place != git.Place || len(s.Pods) != 1 || !s.LastSuccess.Equal(git.Taken) || len(s.Faults) != 1 {
		t.Errorf("status %+v", s)
	}
	if s := statuses[0]; s.Attempted || !s.LastSuccess.IsZero() {
		t.Errorf("status %+v of a source that has not spoken", s)
	}
}

// members are sources that see no objects but their own.
func members(order []string) []Member {
	all := make([]Member, len(order))
	for i, name := range order {
		all[i] = Member{Name: name}
	}
	return all
}
