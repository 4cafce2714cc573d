package sources

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// listener is a running source and what a receiver learned of it. Looks happen
// when the test asks for them.
type listener struct {
	t      *testing.T
	log    *logBook
	source Source
	stop   func()

	out     chan Snapshot
	fresh   bool // the look of the start has not been asked for
	last    Snapshot
	ledger  *ledger
	changes []string
}

// listen runs a source until it has looked once, of its own accord.
func (l *listener) listen(source Source) {
	l.t.Helper()
	l.source, l.changes, l.ledger, l.out = source, nil, newLedger([]Member{{Name: source.Name()}}), make(chan Snapshot)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- source.Run(ctx, l.out) }()
	l.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			l.t.Errorf("Run returned %v", err)
		}
	})
	l.t.Cleanup(l.stop)
	l.take(<-l.out)
	l.take(<-l.out)
	l.fresh = true
}

func (l *listener) take(s Snapshot) {
	l.last = s
	l.ledger.take(s)
	for o, _ := l.ledger.next(); o != nil; o, _ = l.ledger.next() {
		for _, c := range o.update.Changes {
			l.changes = append(l.changes, c.Op.String()+" "+c.Pod.Name)
		}
		l.ledger.settle(o)
	}
}

// look makes the source look and returns what it says then. After a start it has
// looked already.
func (l *listener) look() (Snapshot, error) {
	l.t.Helper()
	if l.fresh {
		l.fresh = false
		return l.last, l.last.trouble()
	}
	ctx, cancel := context.WithTimeout(l.t.Context(), 20*time.Second)
	defer cancel()
	looked := make(chan error, 1)
	go func() { looked <- l.source.Sync(ctx, SyncRequest{}) }()
	for {
		select {
		case s := <-l.out:
			l.take(s)
		case err := <-looked:
			if errors.Is(err, context.DeadlineExceeded) {
				l.t.Fatalf("the look did not end; log:\n%s", l.log)
			}
			return l.last, err
		}
	}
}
