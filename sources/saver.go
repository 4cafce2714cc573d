package sources

import (
	"context"
	"log/slog"
	"time"
)

// saveRetry is how long a save that failed (a full disk) waits for its next try,
// unless there is a newer set to save before.
const saveRetry = 20 * time.Second

// saveGrace is how long the end of the source waits for a save under way. One
// that is cut short leaves the set before.
const saveGrace = 500 * time.Millisecond

// goodCheck is how often it is made sure that the last good set is still there.
const goodCheck = 3 * time.Minute

// saver writes last good sets beside the source's loop, which must not wait for
// a slow disk. The newest set wins.
type saver struct {
	store  *goodStore
	log    *slog.Logger
	sets   chan goodSet // one slot: only the newest matters
	done   chan struct{}
	cancel context.CancelFunc // cuts a save short
}

// newSaver starts a saver that knows what is on disk. The caller must close it.
func newSaver(store *goodStore, log *slog.Logger, retry time.Duration) *saver {
	s := &saver{store: store, log: log, sets: make(chan goodSet, 1), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go s.run(ctx, retry)
	return s
}

// save hands over a set without waiting. One goroutine calls it.
func (s *saver) save(set goodSet) {
	select {
	case s.sets <- set:
		return
	default:
	}
	select {
	case <-s.sets:
	default:
	}
	s.sets <- set // the slot is free: nobody else fills it
}

// close returns when the newest set is on disk, or could not be written in time.
func (s *saver) close() {
	close(s.sets)
	timer := time.AfterFunc(saveGrace, s.cancel)
	<-s.done
	timer.Stop()
	s.cancel()
}

func (s *saver) run(ctx context.Context, retry time.Duration) {
	defer close(s.done)
	var pending goodSet
	var again <-chan time.Time
	failing := false
	for {
		select {
		case set, open := <-s.sets:
			if !open {
				return
			}
			pending = set
		case <-again:
		}
		again = nil
		err := s.store.save(ctx, pending)
		switch {
		case err != nil:
			again = time.After(retry)
			if !failing {
				s.log.Warn("last good set is not saved, the one before stays; will retry", "err", err)
			}
		case failing:
			s.log.Info("last good set is saved again")
		}
		failing = err != nil
	}
}
