package sources

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var suspension = Suspension{Since: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), By: "a test"}

// suspend suspends a source and takes what is sent meanwhile.
func (s *stage) suspend(name string, want ...string) {
	s.t.Helper()
	answer := make(chan error, 1)
	go func() {
		got, changed, err := s.gatherer.Suspend(s.t.Context(), name, suspension)
		if err == nil && (got != suspension || changed != (len(want) > 0)) {
			err = fmt.Errorf("it is %s, and that it changed is %v", got, changed)
		}
		answer <- err
	}()
	s.wantHeard(want...)
	if err := <-answer; err != nil {
		s.t.Errorf("suspend %s: %v", name, err)
	}
}

func TestSuspendAndResume(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.mustApply("file=1")
		s.mustApply("file=1", "git=1")
		s.wantHeard("file=1", "git=1")
		s.wantLife("file=1 runs", "git=1 runs")
		s.suspend("git", "git=1 recalled")
		s.wantLife("git=1 is through")
		s.suspend("git") // again is no other

		err := s.gatherer.Sync(t.Context(), "git", SyncRequest{})
		if !errors.Is(err, ErrSuspended) || !strings.Contains(err.Error(), "`podstead resume git`") || !strings.Contains(err.Error(), "asked for by a test") {
			t.Errorf("sync returned %v", err)
		}
		s.mustApply("file=1", "git=2") // with other settings it stays so
		s.wantHeard("git=2 recalled")
		s.wantLife()
		s.mustApply("git=2", "file=1")
		s.wantLife()

		was, err := s.gatherer.Resume(t.Context(), "git")
		if err != nil || was == nil || *was != suspension {
			t.Errorf("resume: it was %v, %v", was, err)
		}
		s.wantHeard("git=2")
		s.wantLife("git=2 runs")
		if was, err := s.gatherer.Resume(t.Context(), "git"); was != nil || err != nil {
			t.Errorf("resumed twice: %v, %v", was, err)
		}
		if left, _ := filepath.Glob(filepath.Join(s.dir, "git", "*")); len(left) != 0 {
			t.Errorf("left on disk: %v", left)
		}
		for _, words := range [][]string{{"it is suspended since", "source=git"}, {"it is resumed", "source=git"}} {
			if s.log.count(words...) != 1 {
				t.Errorf("no word of %q:\n%s", words, s.log)
			}
		}
	})
}

func TestASuspensionOutlivesTheAgent(t *testing.T) {
	tests := []struct {
		name string
		mark string // what is on disk
		want Suspension
	}{
		{name: "as written", mark: `{"since":"2026-03-01T12:00:00Z","by":"a test"}`, want: suspension},
		{name: "half of it", mark: `{"since":"20`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			onStage(t, func(t *testing.T, s *stage) {
				if err := os.Mkdir(filepath.Join(s.dir, "git"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(s.dir, "git", "suspended.json"), []byte(test.mark), 0o600); err != nil {
					t.Fatal(err)
				}
				s.mustApply("git=1", "file=1")
				s.wantHeard("file=1", "git=1 recalled")
				s.wantLife("file=1 runs")
				if got, changed, err := s.gatherer.Suspend(t.Context(), "git", Suspension{By: "another"}); err != nil || changed || got != test.want {
					t.Errorf("it is %v, %v", got, err)
				}
				// One that is configured no more is one like others, and so is one that comes back.
				s.mustApply("file=1")
				s.gatherer.Sweep()
				synctest.Wait()
				s.mustApply("file=1", "git=1")
				s.wantHeard("git=1")
			})
		})
	}
}

func TestWhatCannotBeSuspended(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.farewell = time.Hour
		s.mustApply("git=1")
		s.wantHeard("git=1")
		if _, _, err := s.gatherer.Suspend(t.Context(), "gti", suspension); !errors.Is(err, ErrUnknownSource) || !strings.Contains(err.Error(), "there are: git") {
			t.Errorf("a name that is not there: %v", err)
		}
		if _, err := s.gatherer.Resume(t.Context(), "gti"); !errors.Is(err, ErrUnknownSource) {
			t.Errorf("a name that is not there: %v", err)
		}
		if err := os.WriteFile(filepath.Join(s.dir, "git"), nil, 0o600); err != nil { // no folder, no mark
			t.Fatal(err)
		}
		if _, _, err := s.gatherer.Suspend(t.Context(), "git", suspension); err == nil {
			t.Error("it is suspended without a mark")
		}
		s.wantLife("git=1 runs")
		if err := os.Remove(filepath.Join(s.dir, "git")); err != nil {
			t.Fatal(err)
		}
		// One that does not end in time is suspended all the same, and that is told.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := s.gatherer.Suspend(ctx, "git", suspension); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a source that hangs: %v", err)
		}
		<-time.After(2 * time.Hour)
		s.wantHeard("git=1 recalled")
	})
}

// What a source recalls is what Run begins with.
func TestRecall(t *testing.T) {
	tests := []struct {
		name   string
		source func(t *testing.T) Source // one that has read the pod lamp, and whose place is gone since
	}{
		{name: "file", source: func(t *testing.T) Source {
			r := newRig(t)
			r.write("lamp.yaml", manifest("lamp", "on"))
			r.start()
			r.await("the pod", func(s Snapshot) bool { return s.Live && pods("lamp-n1").exactly(s) })
			r.stop()
			r.must(os.RemoveAll(r.dir))
			return r.source
		}},
		{name: "http", source: func(t *testing.T) Source {
			r := newHTTPRig(t).start()
			r.good("lamp-n1")
			r.stop()
			r.answers(http.StatusNotFound, "")
			source, err := NewHTTP(r.cfg)
			if err != nil {
				t.Fatal(err)
			}
			return source
		}},
		{name: "git", source: func(t *testing.T) Source {
			r := newGitRig(t)
			commit := r.push("lamp", map[string]string{"pods/lamp.yaml": manifest("lamp", "on")})
			r.start().good(commit, "lamp-n1")
			r.stop()
			source, err := NewGit(r.cfg)
			if err != nil {
				t.Fatal(err)
			}
			return source
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := test.source(t).Recall()
			if s.Live || s.Attempted || s.Revision == "" || len(s.Faults) > 0 || !slices.Equal(podNames(s), []string{"lamp-n1"}) {
				t.Errorf("it recalls %s", describe(s))
			}
		})
	}
}

// A source that never answered recalls nothing, and that is not "empty".
func TestRecallOfNothing(t *testing.T) {
	r := newRig(t)
	r.start()
	r.stop()
	r.must(os.RemoveAll(r.state))
	if s := r.source.Recall(); s.Live || s.Revision != "" || len(s.Pods) != 0 {
		t.Errorf("it recalls %s", describe(s))
	}
}

// What is in force stays in force, and no time is made up for it.
func TestMergerKeepsASuspendedSource(t *testing.T) {
	l := newLedger([]Member{{Name: "file"}})
	heard := time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
	live := Snapshot{Source: "file", Kind: KindFile, Live: true, Attempted: true, Revision: "new", Taken: heard, Heard: heard}
	l.take(live)
	l.take(Snapshot{Source: "file", Kind: KindFile, Attempted: true, Revision: "old, from disk", Suspended: &suspension})
	s := l.statuses(heard.Add(time.Hour))[0]
	if s.Revision != "new" || !s.Live || s.Suspended == nil || !s.Taken.Equal(heard) || !s.LastSuccess.Equal(heard) {
		t.Errorf("it is %+v", s)
	}
	if l.take(live); l.statuses(heard.Add(time.Hour))[0].Suspended != nil {
		t.Error("it is suspended after its end")
	}
}

// What is swept while its source has not ended yet goes when it has.
func TestASweepWaitsForASourceToEnd(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.farewell = time.Minute
		s.mustApply("git=1", "file=1")
		s.wantHeard("file=1", "git=1")
		folder := filepath.Join(s.dir, "git")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := s.apply("file=1"); err != nil {
			t.Fatal(err)
		}
		s.gatherer.Sweep()
		synctest.Wait()
		if _, err := os.Stat(folder); err != nil {
			t.Errorf("it is gone while its source runs: %v", err)
		}
		<-time.After(2 * time.Minute)
		synctest.Wait()
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("it is left: %v", err)
		}
	})
}
