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
)

// actor is a source that does as it is told.
type actor struct {
	name     string
	says     string        // revision of the one snapshot that it sends
	farewell time.Duration // that its end takes
	breaks   chan error    // ends Run with an error of its own; nil for never
	asks     chan syncAsk
	answer   func(SyncRequest) error
	life     *life
}

// life is what actors did, in order.
type life struct {
	mu    sync.Mutex
	lines []string
}

func (l *life) note(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *life) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

func (a *actor) Name() string { return a.name }
func (a *actor) Kind() Kind   { return KindFile }

func (a *actor) Run(ctx context.Context, out chan<- Snapshot) error {
	a.note("runs")
	defer a.note("is through")
	select {
	case out <- Snapshot{Source: a.name, Revision: a.says}:
	case <-ctx.Done():
	}
	for {
		select {
		case err := <-a.breaks:
			return err
		case ask := <-a.asks:
			select {
			case out <- Snapshot{Source: a.name, Revision: a.says + " asked"}:
				ask.reply <- a.answer(ask.req)
			case <-ctx.Done():
			}
		case <-ctx.Done():
			if a.farewell > 0 {
				<-time.After(a.farewell)
			}
			return ctx.Err()
		}
	}
}

func (a *actor) Recall() Snapshot { return Snapshot{Source: a.name, Revision: a.says + " recalled"} }

func (a *actor) Sync(ctx context.Context, req SyncRequest) error { return askSync(ctx, a.asks, req) }

func (a *actor) note(what string) { a.life.note(a.name + "=" + a.says + " " + what) }

// stage is a Gatherer in a bubble, with a receiver that takes what the test lets
// it take.
type stage struct {
	t        *testing.T
	log      *logBook
	dir      string
	gatherer *Gatherer
	out      chan Snapshot
	stop     context.CancelFunc
	ended    chan error
	life     life
	farewell time.Duration
	breaks   chan error
	answer   func(SyncRequest) error
}

// onStage runs a test in a bubble, and ends what it started.
func onStage(t *testing.T, act func(t *testing.T, s *stage)) {
	synctest.Test(t, func(t *testing.T) {
		log := &logBook{}
		ctx, cancel := context.WithCancel(context.Background())
		s := &stage{
			t: t, log: log, dir: t.TempDir(),
			out: make(chan Snapshot), stop: cancel, ended: make(chan error, 1),
			answer: func(SyncRequest) error { return nil },
		}
		s.gatherer = NewGatherer(GathererConfig{Dir: s.dir, Logger: log.logger()})
		go func() { s.ended <- s.gatherer.Run(ctx, s.out) }()
		act(t, s)
		cancel()
		if err := <-s.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
	})
}

// spec is a source whose key is what it says.
func (s *stage) spec(word string) Spec {
	name, says, _ := strings.Cut(word, "=")
	return Spec{Name: name, Key: says, New: func() (Source, error) {
		if says == "bad" {
			return nil, errors.New("no such thing")
		}
		return &actor{name: name, says: says, farewell: s.farewell, breaks: s.breaks, asks: make(chan syncAsk), answer: s.answer, life: &s.life}, nil
	}}
}

func (s *stage) apply(words ...string) error {
	var specs []Spec
	for _, word := range words {
		specs = append(specs, s.spec(word))
	}
	return s.gatherer.Apply(s.t.Context(), specs)
}

func (s *stage) mustApply(words ...string) {
	s.t.Helper()
	if err := s.apply(words...); err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
}

// heard takes all that there is to take just now.
func (s *stage) heard() []string {
	words := []string{}
	for {
		synctest.Wait()
		select {
		case got := <-s.out:
			if !strings.HasPrefix(got.Revision, got.Key) {
				s.t.Errorf("%s of %s has the key %s", got.Revision, got.Source, got.Key)
			}
			words = append(words, got.Source+"="+got.Revision)
		default:
			slices.Sort(words)
			return words
		}
	}
}

func (s *stage) wantHeard(want ...string) {
	s.t.Helper()
	if got := s.heard(); !slices.Equal(got, want) {
		s.t.Errorf("heard %q, want %q", got, want)
	}
}

func (s *stage) wantLife(want ...string) {
	s.t.Helper()
	synctest.Wait()
	if got := s.life.take(); !slices.Equal(got, want) {
		s.t.Errorf("life %q, want %q", got, want)
	}
}

// Sources come, change and go; those that are not named differently are not
// touched.
func TestGathererExchangesSources(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.mustApply("file=1")
		s.wantLife("file=1 runs")
		s.wantHeard("file=1")
		s.mustApply("git=1", "file=1")
		s.wantLife("git=1 runs")
		s.wantHeard("git=1")
		s.mustApply("git=2", "file=1")
		s.wantLife("git=1 is through", "git=2 runs")
		s.wantHeard("git=2")
		if names := s.gatherer.Names(); !slices.Equal(names, []string{"git", "file"}) {
			t.Errorf("names %q", names)
		}
		s.mustApply("git=2", "file=1")
		s.wantLife()
		s.mustApply("git=2")
		s.wantLife("file=1 is through")
		s.mustApply()
		s.wantLife("git=2 is through")
		s.wantHeard()
		for _, words := range [][]string{{"source starts", "git"}, {"its settings have changed", "git"}, {"not configured any more", "file"}} {
			if s.log.count(words...) == 0 {
				t.Errorf("no word of %q:\n%s", words, s.log)
			}
		}
	})
}

// Before Run the sources are made, so that what is wrong is known, and not
// started.
func TestGathererStartsNothingBeforeRun(t *testing.T) {
	s := &stage{t: t, gatherer: NewGatherer(GathererConfig{Logger: (&logBook{}).logger()})}
	if err := s.apply("file=bad"); err == nil {
		t.Error("a source that can't be made is no error")
	}
	if err := s.apply("file=1"); err != nil {
		t.Fatal(err)
	}
	if names := s.gatherer.Names(); !slices.Equal(names, []string{"file"}) || len(s.life.take()) > 0 {
		t.Errorf("names %q, and something runs", names)
	}
}

// A source that can't be made leaves all as it was.
func TestGathererRefusesAsAWhole(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.mustApply("file=1")
		s.mustApply("file=1", "git=1")
		s.wantLife("file=1 runs", "git=1 runs")
		err := s.apply("file=2", "http=bad", "other=bad", "file=3")
		for _, words := range []string{"source http: no such thing", "source other: no such thing", "source file is configured twice"} {
			if err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%v does not say %q", err, words)
			}
		}
		s.wantLife()
		if names := s.gatherer.Names(); !slices.Equal(names, []string{"file", "git"}) {
			t.Errorf("names %q", names)
		}
	})
}

// Successor and predecessor share a folder: one is through before the other
// starts, however long that takes and however often the settings change
// meanwhile. Nobody else waits for that.
func TestSuccessorWaitsForItsPredecessor(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.farewell = time.Minute
		s.mustApply("git=1")
		s.wantHeard("git=1")
		s.wantLife("git=1 runs")
		s.mustApply("git=2")
		s.mustApply()
		s.mustApply("git=3", "file=1")
		s.wantLife("file=1 runs")
		<-time.After(2 * time.Minute)
		s.wantLife("git=1 is through", "git=3 runs")
		s.wantHeard("file=1", "git=3")
	})
}

// What is on disk of a source goes when the word for it comes, and not while a
// source of that name runs or has not come to its end.
func TestSweepTakesWhatIsNobodysAnyMore(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.farewell = time.Minute
		for _, name := range []string{"file", "git", "web"} {
			secret := filepath.Join(s.dir, name, "lastgood", "units", "x")
			if err := errors.Join(os.MkdirAll(filepath.Dir(secret), 0o700), os.WriteFile(secret, []byte("hunter2"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		left := func() string {
			synctest.Wait()
			entries, err := os.ReadDir(s.dir)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return strings.Join(names, " ")
		}
		s.mustApply("file=1", "git=1")
		if got := left(); got != "file git web" {
			t.Errorf("left before any sweep: %s", got)
		}
		s.mustApply("file=1") // git is given its minute
		s.gatherer.Sweep()
		if got := left(); got != "file git" {
			t.Errorf("left while git ends: %s", got)
		}
		<-time.After(2 * time.Minute)
		s.gatherer.Sweep()
		if got := left(); got != "file" {
			t.Errorf("left at last: %s", got)
		}
		if s.log.count("configured no more is removed", "web") != 1 {
			t.Errorf("no word of web:\n%s", s.log)
		}
	})
}

// What a source said and nobody took is not told once another has its name.
func TestNothingIsHeardOfTheOldSelf(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.mustApply("git=1", "file=1")
		s.mustApply("git=2", "file=1") // the receiver is busy all the time
		s.wantHeard("file=1", "git=2")
	})
}

// A receiver that takes nothing holds up neither a change of the sources nor
// their end, and hears the newest of each.
func TestSlowReceiverHoldsUpNobody(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		for i := range 10 {
			s.mustApply(fmt.Sprintf("git=%d", i))
		}
		go func() { _ = s.gatherer.Sync(t.Context(), "git", SyncRequest{}) }()
		synctest.Wait()
		s.wantHeard("git=9 asked")
	})
}

// A source that breaks for good is named, and ends all.
func TestBrokenSourceEndsRun(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.mustApply("file=1")
		s.breaks = make(chan error, 1)
		s.mustApply("file=1", "git=1")
		s.breaks <- errors.New("no room")
		err := <-s.ended
		if err == nil || err.Error() != "source git: no room" {
			t.Errorf("Run returned %v", err)
		}
		if lived := s.life.take(); len(lived) != 4 {
			t.Errorf("life %q, want both through", lived)
		}
		if err := s.gatherer.Sync(t.Context(), "file", SyncRequest{}); err == nil {
			t.Error("a sync of what has ended went well")
		}
		s.ended <- context.Canceled
	})
}

func TestGathererSync(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		var removals int
		s.answer = func(req SyncRequest) error {
			if req.AllowRemoval {
				removals++
			}
			return nil
		}
		s.mustApply("file=1")
		s.answer = func(SyncRequest) error { return errors.New("is away") }
		s.mustApply("file=1", "git=1", "http=1")
		s.wantHeard("file=1", "git=1", "http=1")

		answer := make(chan error, 1)
		ask := func(name string, req SyncRequest) {
			go func() { answer <- s.gatherer.Sync(t.Context(), name, req) }()
		}
		ask("file", SyncRequest{AllowRemoval: true})
		synctest.Wait()
		if len(answer) > 0 {
			t.Error("answered before anybody took what was found")
		}
		s.wantHeard("file=1 asked")
		if err := <-answer; err != nil || removals != 1 {
			t.Errorf("sync returned %v after %d removals", err, removals)
		}
		ask("", SyncRequest{})
		s.wantHeard("file=1 asked", "git=1 asked", "http=1 asked")
		if err := <-answer; err == nil || err.Error() != "sync source git: is away\nsync source http: is away" {
			t.Errorf("sync of all returned %v", err)
		}
		err := s.gatherer.Sync(t.Context(), "gti", SyncRequest{})
		if err == nil || !strings.Contains(err.Error(), `"gti", only file, git, http`) {
			t.Errorf("sync of a name that is not there returned %v", err)
		}
	})
}

// A question is not left unanswered when the configuration takes the source away
// that it went to, or when whoever asked gives up.
func TestSyncOfASourceThatEnds(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		s.mustApply("git=1")
		answer := make(chan error, 1)
		go func() { answer <- s.gatherer.Sync(t.Context(), "git", SyncRequest{}) }()
		synctest.Wait() // what it found is not taken
		s.mustApply("git=2")
		if err := <-answer; !errors.Is(err, errReplaced) {
			t.Errorf("sync returned %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.gatherer.Sync(ctx, "git", SyncRequest{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("sync returned %v", err)
		}
	})
}
