package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/podstead/podstead/manifests"
)

// script is a place that says what the test wants.
type script struct {
	mu    sync.Mutex
	say   func(ctx context.Context, accepted mark) (answer, error)
	looks []time.Time
	marks []mark // given to each look
}

func (s *script) look(ctx context.Context, accepted mark) (answer, error) {
	s.mu.Lock()
	s.looks = append(s.looks, time.Now())
	s.marks = append(s.marks, accepted)
	say := s.say
	s.mu.Unlock()
	return say(ctx, accepted)
}

func (s *script) says(a answer, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say = func(context.Context, mark) (answer, error) { return a, err }
}

// polledRig is a polled source over a script, in a bubble, and its receiver.
type polledRig struct {
	t      *testing.T
	place  *script
	source *polled
	cfg    polledConfig
	log    *logBook
	stop   func()

	mu      sync.Mutex
	got     []Snapshot
	ledger  *ledger
	changes []string
}

const testInterval = time.Minute

func newPolledRig(t *testing.T) *polledRig {
	log := &logBook{}
	r := &polledRig{t: t, place: &script{}, log: log, cfg: polledConfig{
		name: "fleet", kind: KindGit, place: "ssh://depot/fleet", unit: "ssh://depot/fleet", interval: testInterval,
		limit: time.Minute, dir: filepath.Join(t.TempDir(), "fleet"), maxRemoval: defaultMaxRemoval, log: log.logger(),
		reader: unitReader{source: "fleet", kind: KindGit, node: testNode, limits: manifests.DefaultLimits(), unsupported: UnsupportedWarn},
	}}
	return r
}

// start runs the source until the test or stop ends it. Nothing that it sends
// has to wait.
func (r *polledRig) start() {
	r.source = newPolled(r.cfg, r.place)
	r.got, r.changes, r.ledger = nil, nil, newLedger([]Member{{Name: "fleet"}})
	out := make(chan Snapshot)
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.source.Run(ctx, out) }()
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		for s := range out {
			r.take(s)
		}
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			r.t.Errorf("Run returned %v", err)
		}
		close(out)
		<-taken
	})
	r.t.Cleanup(r.stop)
	synctest.Wait()
}

func (r *polledRig) restart() {
	r.stop()
	r.start()
}

func (r *polledRig) take(s Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, s)
	r.ledger.take(s)
	for o, _ := r.ledger.next(); o != nil; o, _ = r.ledger.next() {
		for _, c := range o.update.Changes {
			r.changes = append(r.changes, c.Op.String()+" "+c.Pod.Name)
		}
		r.ledger.settle(o)
	}
}

// after lets time pass and returns what the source said last.
func (r *polledRig) after(d time.Duration) Snapshot {
	<-time.After(d) // of the bubble's clock
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got[len(r.got)-1]
}

// first is what the source said first.
func (r *polledRig) first() Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got[0]
}

// poll is after one interval.
func (r *polledRig) poll() Snapshot { return r.after(testInterval + testInterval/10) }

func (r *polledRig) sync(req SyncRequest) error {
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Hour)
	defer cancel()
	err := r.source.Sync(ctx, req)
	synctest.Wait()
	return err
}

func (r *polledRig) wantChanges(want ...string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.changes, want) {
		r.t.Errorf("changes %q, want %q\nlog:\n%s", r.changes, want, r.log)
	}
}

// commit is an answer of one file with these pods.
func commit(revision string, pods ...string) answer {
	var all []string
	for _, name := range pods {
		all = append(all, manifest(name, "on"))
	}
	if len(pods) == 0 {
		all = []string{"apiVersion: v1\nkind: List\nitems: []\n"}
	}
	return answer{
		revision: revision, mark: mark{"commit": revision},
		files: []unitFile{{Name: "pods/all.yaml", Data: []byte(strings.Join(all, "---\n"))}},
	}
}

// broken is an answer that is at fault.
func broken(revision string) answer {
	return answer{revision: revision, mark: mark{"commit": revision}, files: []unitFile{{Name: "pods/all.yaml", Data: []byte("kind: Po")}}}
}

var errRefused = errors.New("connection refused")

// A machine that boots while its place is gone runs what it ran, says so, and
// takes the place up when it is back. A day's outage costs a look every few
// minutes and one line in the log.
func TestPlaceGoneForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.place.says(commit("c1", "lamp", "kiln"), nil)
		r.start()
		before := r.after(0)
		r.place.says(answer{}, errRefused)
		r.restart()
		first := r.first()
		if !pods("lamp-n1", "kiln-n1").exactly(first) || first.Live || first.Attempted || first.Revision != "c1" {
			t.Errorf("first: attempted %v %s", first.Attempted, describe(first))
		}
		if first.Pods[0].Origin != before.Pods[0].Origin || first.Pods[0].UID != before.Pods[0].UID {
			t.Errorf("lamp is of %+v, was of %+v", first.Pods[0].Origin, before.Pods[0].Origin)
		}
		day := r.after(24 * time.Hour)
		if day.Live || !day.Attempted || !placeFaulty("refused")(day) || !pods("lamp-n1", "kiln-n1").exactly(day) {
			t.Errorf("after a day: %s", describe(day))
		}
		if n := len(r.place.looks); n > 24*60*2/5*2 || n < 24*60/5 {
			t.Errorf("%d looks in a day", n)
		}
		if n := r.log.count("connection refused"); n != 1 {
			t.Errorf("told %d times:\n%s", n, r.log)
		}
		r.place.says(commit("c2", "lamp", "kiln", "wheel"), nil)
		back := r.after(lastBackoff)
		if !back.Live || !healthy(back) || back.Revision != "c2" {
			t.Errorf("back: %s", describe(back))
		}
		r.wantChanges("ADD lamp-n1", "ADD kiln-n1", "ADD wheel-n1")
	})
}

// An unchanged place makes the last good set live, with the mark that was kept
// over the restart.
func TestUnchangedMakesLastGoodLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.place.says(commit("c1", "lamp"), nil)
		r.start()
		r.place.says(answer{unchanged: true}, nil)
		r.restart()
		s := r.after(0)
		if !s.Live || s.Revision != "c1" || !pods("lamp-n1").exactly(s) || !healthy(s) {
			t.Errorf("%s", describe(s))
		}
		if got := r.place.marks[len(r.place.marks)-1]; got["commit"] != "c1" {
			t.Errorf("asked with %v", got)
		}
		r.wantChanges("ADD lamp-n1")
	})
}

// A set without any file is a set too: it is what an unchanged place still says.
func TestEmptySetOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.place.says(answer{revision: "c1", mark: mark{"commit": "c1"}}, nil)
		r.start()
		r.place.says(answer{unchanged: true}, nil)
		r.restart()
		if s := r.after(0); !s.Live || !healthy(s) || s.Revision != "c1" || len(s.Pods) > 0 {
			t.Errorf("%s", describe(s))
		}
	})
}

func TestUnchangedSinceNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.place.says(answer{unchanged: true}, nil)
		r.start()
		if s := r.after(0); s.Live || healthy(s) {
			t.Errorf("%s", describe(s))
		}
	})
}

// A version at fault keeps the last good one, whose mark alone is used; it is
// told once, and read once, however often it is seen.
func TestFaultOfTheUnitKeepsLastGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.place.says(commit("c1", "lamp"), nil)
		r.start()
		r.place.says(broken("c2"), nil)
		r.poll()
		r.poll()
		s := r.poll()
		if !s.Live || s.Revision != "c1" || !pods("lamp-n1").exactly(s) || len(s.Units[0].Faults) == 0 || s.Units[0].Revision != "c1" {
			t.Errorf("%s", describe(s))
		}
		if s.Units[0].Faults[0].Place.Unit != "pods/all.yaml" {
			t.Errorf("fault at %v", s.Units[0].Faults[0].Place)
		}
		if got := r.place.marks[len(r.place.marks)-1]; got["commit"] != "c1" {
			t.Errorf("asked with %v", got)
		}
		if n := r.log.count("manifest is at fault"); n != 1 {
			t.Errorf("told %d times:\n%s", n, r.log)
		}
		if err := r.sync(SyncRequest{}); err == nil || !strings.Contains(err.Error(), "pods/all.yaml") {
			t.Errorf("Sync returned %v", err)
		}
		r.restart()
		s = r.after(0)
		if !s.Live || s.Revision != "c1" || !pods("lamp-n1").exactly(s) || len(s.Units[0].Faults) == 0 {
			t.Errorf("after a restart: %s", describe(s))
		}
		r.place.says(commit("c3", "lamp"), nil)
		if err := r.sync(SyncRequest{}); err != nil {
			t.Errorf("Sync returned %v", err)
		}
		if s := r.after(0); s.Revision != "c3" || len(s.Units[0].Faults) > 0 {
			t.Errorf("mended: %s", describe(s))
		}
		r.wantChanges("ADD lamp-n1")
	})
}

// Identical content under ever new revisions is no event, no write and no line
// in the log; the newest revision is shown.
func TestSameContentUnderAnotherRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.place.says(commit("e0", "lamp"), nil)
		r.start()
		pod := r.after(0).Pods[0]
		index := filepath.Join(r.cfg.dir, "lastgood", "index.json")
		before, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		var s Snapshot
		for n := range 8 {
			r.place.says(commit(fmt.Sprintf("e%d", n+1), "lamp"), nil)
			s = r.poll()
		}
		if s.Revision != "e8" || s.Units[0].Revision != "e8" || s.Pods[0].Origin.Revision != "e8" || s.Pods[0].Pod.Pod != pod.Pod.Pod {
			t.Errorf("%s of %+v", describe(s), s.Pods[0].Origin)
		}
		r.wantChanges("ADD lamp-n1")
		if now, err := os.ReadFile(index); err != nil || string(now) != string(before) {
			t.Errorf("%v; written anew:\n%s", err, now)
		}
		if n := r.log.count("taken up"); n > 0 {
			t.Errorf("told %d times:\n%s", n, r.log)
		}
		r.restart() // which has the time to save
		if s := r.first(); s.Revision != "e8" {
			t.Errorf("after a restart: %s", s.Revision)
		}
	})
}

// Too large a removal is held, over polls and restarts, until it is allowed for
// the state of that moment, or becomes harmless.
func TestRemovalIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.place.says(commit("c1", "lamp", "kiln"), nil)
		r.start()
		r.place.says(commit("c2", "wheel"), nil)
		s := r.poll()
		want := "RemovalHeld: revision c2 would remove 2 of 2 pods (default/lamp-n1, default/kiln-n1); to let it through: podstead sync --allow-removal fleet"
		if s.Held != want || s.Revision != "c1" || !s.Live || !healthy(s) || !pods("lamp-n1", "kiln-n1").exactly(s) {
			t.Errorf("held %q: %s", s.Held, describe(s))
		}
		if err := r.sync(SyncRequest{}); err == nil || !strings.Contains(err.Error(), "would remove 2 of 2") {
			t.Errorf("Sync returned %v", err)
		}
		r.poll()
		if n := r.log.count("is held"); n != 1 {
			t.Errorf("told %d times:\n%s", n, r.log)
		}
		r.restart()
		if s := r.after(0); s.Held != want || !pods("lamp-n1", "kiln-n1").exactly(s) {
			t.Errorf("after a restart: held %q: %s", s.Held, describe(s))
		}
		r.place.says(commit("c3", "wheel", "lamp"), nil)
		if s := r.poll(); s.Held != "" || s.Revision != "c3" {
			t.Errorf("harmless: held %q: %s", s.Held, describe(s))
		}
		r.place.says(commit("c4", "rack"), nil)
		if s := r.poll(); s.Held == "" {
			t.Errorf("c4: %s", describe(s))
		}
		if err := r.sync(SyncRequest{AllowRemoval: true}); err != nil {
			t.Errorf("Sync returned %v", err)
		}
		if s := r.after(0); s.Held != "" || s.Revision != "c4" || !pods("rack-n1").exactly(s) {
			t.Errorf("allowed: held %q: %s", s.Held, describe(s))
		}
		r.place.says(commit("c5", "lamp", "kiln"), nil)
		r.poll()
		r.place.says(commit("c6", "wheel"), nil)
		if s := r.poll(); s.Held == "" {
			t.Errorf("what was allowed once is no licence for c6: %s", describe(s))
		}
	})
}

func TestRemovalAllowedByThePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.place.says(commit("c1", "lamp", "kiln"), nil)
		r.start()
		a := commit("c2")
		r.place.says(a, nil)
		if s := r.poll(); s.Held == "" {
			t.Errorf("an empty List in a commit: %s", describe(s))
		}
		a.allow = "trailer on commit c2"
		r.place.says(a, nil)
		if s := r.poll(); s.Held != "" || len(s.Pods) > 0 || s.Revision != "c2" {
			t.Errorf("held %q: %s", s.Held, describe(s))
		}
		if n := r.log.count("removal is allowed", "trailer on commit c2"); n != 1 {
			t.Errorf("told %d times:\n%s", n, r.log)
		}
	})
}

// Who asks for a look gets one that began after the call, at once, whatever the
// back-off says, and shares it with others.
func TestSyncSharesALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.place.says(answer{}, errRefused)
		r.start()
		r.after(time.Hour)
		r.place.mu.Lock()
		r.place.say = func(ctx context.Context, _ mark) (answer, error) {
			select {
			case <-time.After(10 * time.Second):
				return commit("c1", "lamp"), nil
			case <-ctx.Done():
				return answer{}, ctx.Err()
			}
		}
		looked := len(r.place.looks)
		r.place.mu.Unlock()
		began := time.Now()
		var group sync.WaitGroup
		ask := func() {
			if err := r.source.Sync(t.Context(), SyncRequest{}); err != nil {
				t.Errorf("Sync returned %v", err)
			}
		}
		group.Go(ask)
		r.after(time.Second)
		for range 5 {
			group.Go(ask) // while a look is under way, which is not theirs
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.source.Sync(impatient, SyncRequest{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Sync returned %v", err)
		}
		group.Wait()
		if took, n := time.Since(began), len(r.place.looks)-looked; took != 20*time.Second || n != 2 {
			t.Errorf("%d looks in %v", n, took)
		}
	})
}

// A look has a limit, after which the source is in error; the end of the source
// is no error and ends it at once.
func TestLookThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		r.place.say = func(ctx context.Context, _ mark) (answer, error) {
			<-ctx.Done()
			return answer{}, ctx.Err()
		}
		r.start()
		if s := r.after(59 * time.Second); s.Attempted || !healthy(s) {
			t.Errorf("%s", describe(s))
		}
		if s := r.after(2 * time.Second); !s.Attempted || !placeFaulty("no whole answer within 1m0s")(s) {
			t.Errorf("%s", describe(s))
		}
		r.after(firstBackoff)
		began := time.Now()
		r.stop()
		if took := time.Since(began); took > 0 {
			t.Errorf("the end took %v", took)
		}
	})
}

// What a server wants is honoured up to an hour, beside an error or without.
func TestRetryAfter(t *testing.T) {
	tests := []struct {
		name     string
		wish     time.Duration
		err      error
		from, to time.Duration // of the next look
	}{
		{"with an error", 30 * time.Minute, errRefused, 30 * time.Minute, 30 * time.Minute},
		{"less than the back-off", time.Nanosecond, errRefused, 500 * time.Millisecond, 5 * time.Second},
		{"for ever", 1e6 * time.Hour, errRefused, time.Hour, time.Hour},
		{"beside a set", 5 * time.Minute, nil, 5 * time.Minute, 5 * time.Minute},
		{"no wish", 0, nil, 54 * time.Second, 66 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newPolledRig(t)
				a := commit("c1", "lamp")
				a.retryAfter = tt.wish
				r.place.says(a, tt.err)
				r.start()
				s := r.after(0)
				if wait := s.NextPoll.Sub(r.place.looks[0]); wait < tt.from || wait > tt.to {
					t.Errorf("next look after %v", wait)
				}
				r.place.says(a, nil)
				r.after(time.Until(s.NextPoll))
				if n := len(r.place.looks); n != 2 || !r.place.looks[1].Equal(s.NextPoll) {
					t.Errorf("looked at %v, announced for %v", r.place.looks, s.NextPoll)
				}
			})
		})
	}
}

func TestBackoffGrowsAndEnds(t *testing.T) {
	b := newBackoff(20 * time.Second)
	limit := firstBackoff
	for n := range 20 {
		if wait := b.fail(0); wait > limit || wait < limit/10 {
			t.Errorf("wait %d is %v, want up to %v", n, wait, limit)
		}
		limit = min(2*limit, lastBackoff)
	}
	for range 100 {
		if wait := b.succeed(0); wait < 18*time.Second || wait > 22*time.Second {
			t.Errorf("interval %v", wait)
		}
	}
	if wait := b.fail(0); wait > firstBackoff {
		t.Errorf("first wait after a success is %v", wait)
	}
	short := newBackoff(time.Second)
	if wait := short.fail(0); wait > time.Second {
		t.Errorf("first wait at an interval of 1s is %v", wait)
	}
}

// A set on disk of which a part is damaged is not in force at all: never a part
// of a unit. Its mark is not used either.
func TestDamagedLastGood(t *testing.T) {
	two := commit("c1", "lamp")
	two.files = append(two.files, unitFile{Name: "pods/b/kiln.yaml", Data: []byte(manifest("kiln", "on"))})
	tests := []struct {
		name   string
		damage func(t *testing.T, root string)
	}{
		{"a file is corrupt", func(t *testing.T, root string) {
			corrupt(t, filepath.Join(root, "units", strings.TrimPrefix(fullRevision(manifest("kiln", "on")), "sha256:")))
		}},
		{"a file is lost", func(t *testing.T, root string) {
			if err := os.Remove(filepath.Join(root, "units", strings.TrimPrefix(fullRevision(manifest("kiln", "on")), "sha256:"))); err != nil {
				t.Fatal(err)
			}
		}},
		{"the index is corrupt", func(t *testing.T, root string) { corrupt(t, filepath.Join(root, "index.json")) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newPolledRig(t)
				r.place.says(two, nil)
				r.start()
				r.stop()
				tt.damage(t, filepath.Join(r.cfg.dir, "lastgood"))
				r.place.says(answer{}, errRefused)
				r.start()
				if s := r.first(); len(s.Pods)+len(s.Units) > 0 || s.Live || !placeFaulty("last good set is lost")(s) {
					t.Errorf("first: %s", describe(s))
				}
				if s := r.after(0); len(s.Faults) != 2 {
					t.Errorf("refused: %v", s.Faults)
				}
				if n := r.log.count("last good set is lost"); n != 1 || r.place.marks[len(r.place.marks)-1] != nil {
					t.Errorf("told %d times, asked with %v:\n%s", n, r.place.marks, r.log)
				}
				r.place.says(two, nil)
				if s := r.after(lastBackoff); !healthy(s) || !s.Live {
					t.Errorf("back: %s", describe(s))
				}
				r.restart()
				if s := r.first(); !pods("lamp-n1", "kiln-n1").exactly(s) {
					t.Errorf("not whole after the next save: %s", describe(s))
				}
			})
		})
	}
}

// A last good set that this agent's rules refuse is shown with its faults and is
// not in force; nobody asks what has changed since.
func TestPolledLastGoodThatIsGoodNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		a := commit("c1", "lamp")
		a.files = append(a.files, unitFile{Name: "pods/ds.yaml", Data: []byte("apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: everywhere\n")})
		r.place.says(a, nil)
		r.start()
		r.stop()
		r.cfg.reader.unsupported = UnsupportedStrict
		r.place.says(answer{}, errRefused)
		r.start()
		s := r.after(0)
		if len(s.Pods) > 0 || len(s.Units) != 1 || len(s.Units[0].Faults) == 0 || s.Units[0].Revision != "" || s.Live {
			t.Errorf("%s", describe(s))
		}
		if got := r.place.marks[len(r.place.marks)-1]; got != nil {
			t.Errorf("asked with %v", got)
		}
	})
}

func TestNoteOfThePlaceIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPolledRig(t)
		a := commit("c1", "lamp")
		a.note = "history was rewritten"
		r.place.says(a, nil)
		r.start()
		r.place.says(answer{unchanged: true}, nil)
		r.poll()
		if n := r.log.count("history was rewritten"); n != 1 {
			t.Errorf("told %d times:\n%s", n, r.log)
		}
	})
}
