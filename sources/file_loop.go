package sources

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"
)

const (
	// workSlice bounds the work between two looks at events and the receiver.
	workSlice = 20 * time.Millisecond
	// openingLimit is how long the first live snapshot waits for files that are
	// being written.
	openingLimit = 500 * time.Millisecond
)

// fileLoop is a running file source: one goroutine's. Events, listings and the
// clock put files on its agenda; a look at a file tells the catalog; the pace
// says when the catalog's set is sent.
type fileLoop struct {
	cfg     FileConfig
	log     *slog.Logger
	catalog *catalog
	watch   *folderWatch
	looker  looker
	saver   *saver // nil without a state folder

	agenda   agenda
	pace     pace
	rescanAt time.Time
	openedAt time.Time // when the place was first listed
	blind    bool      // the kernel gives no watch

	journal journal
	saved   goodSet   // handed to the saver last
	checked time.Time // when the set on disk was last looked for
	asked   []syncAsk // looks that are owed
	pending *Snapshot // assembled and not taken yet; nil when it must be assembled anew
}

// newFileLoop reads the last good set and sets up the watch, of nothing yet.
func newFileLoop(cfg FileConfig) *fileLoop {
	l := &fileLoop{
		cfg: cfg, log: cfg.Logger, agenda: agenda{}, journal: newJournal(cfg.Logger),
		looker: looker{limit: cfg.Limits.Bytes, writers: cfg.writers},
	}
	var stored goodSet
	var errs []error
	if cfg.Dir != "" {
		store := newGoodStore(cfg.Dir)
		stored, errs = store.load()
		for _, err := range errs {
			l.log.Warn("part of the last good set is lost", "err", err)
		}
		l.saved = stored
		l.saver = newSaver(store, l.log, saveRetry)
	}
	l.catalog = newCatalog(cfg.reader(), cfg.Path, defaultSetLimits(), stored)
	l.catalog.lost = lossOf(errs)
	watch, err := cfg.watch()
	l.watch = watch
	l.noteWatch(err)
	return l
}

func (l *fileLoop) close() {
	l.watch.close()
	if l.saver != nil {
		l.saver.close()
	}
}

func (l *fileLoop) run(ctx context.Context, out chan<- Snapshot) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		l.work()
		l.answerAsks()
		send, snapshot := l.offer(out)
		timer.Reset(time.Until(l.wake()))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event := <-l.watch.events:
			l.hint(event)
			l.drain()
		case err := <-l.watch.errors:
			l.log.Debug("events were missed, reading everything", "err", err)
			l.rescanAt = time.Time{}
		case send <- snapshot:
			l.sent(snapshot)
		case ask := <-l.cfg.asks:
			l.asked = append(l.asked, ask)
			l.rescanAt = time.Time{}
		case <-timer.C:
		}
	}
}

// work does what is due, up to workSlice.
func (l *fileLoop) work() {
	began := time.Now()
	if !l.rescanAt.After(began) {
		l.rescan(began)
	}
	due := l.agenda.due(began)
	for i, name := range due {
		l.look(name)
		if time.Since(began) > workSlice && i < len(due)-1 {
			return
		}
	}
	l.open()
}

// opening is true from the first listing until every file in it was looked at:
// a part of the set must not pass for the whole.
func (l *fileLoop) opening() bool {
	return l.catalog.listed && !l.catalog.answered && l.catalog.fault == ""
}

func (l *fileLoop) open() {
	if l.opening() && (!l.catalog.unread() || time.Since(l.openedAt) >= openingLimit) {
		l.catalog.answer()
		l.changed(true)
	}
}

// wake is when there is something to do if nothing happens before.
func (l *fileLoop) wake() time.Time {
	at := l.rescanAt
	if next, ok := l.agenda.next(); ok {
		at = earlier(at, next)
	}
	if l.opening() {
		return earlier(at, l.openedAt.Add(openingLimit))
	}
	if due, ok := l.pace.due(); ok && l.pending == nil {
		at = earlier(at, due)
	}
	return at
}

// answerAsks tells those who asked for a look once all that it found is taken.
func (l *fileLoop) answerAsks() {
	if len(l.asked) == 0 || l.looking(time.Now()) {
		return
	}
	if _, untold := l.pace.due(); untold {
		return
	}
	err := l.catalog.snapshot(time.Now()).trouble()
	for _, ask := range l.asked {
		ask.reply <- err // it has room for one
	}
	l.asked = nil
}

// looking is true until the place was listed and every file in it has shown what
// it holds, or that it can't: one that is looked at again and again since somebody
// is writing it counts as looked at once it is at fault for that.
func (l *fileLoop) looking(now time.Time) bool {
	if !l.rescanAt.After(now) || l.opening() {
		return true
	}
	for name, at := range l.agenda {
		if e := l.catalog.entries[name]; !at.After(now) || e == nil || e.trouble == "" {
			return true
		}
	}
	return false
}

// drain takes the events that are there already, so that a burst is one piece
// of work.
func (l *fileLoop) drain() {
	for {
		select {
		case event := <-l.watch.events:
			l.hint(event)
		default:
			return
		}
	}
}

// look reads one file and does what follows.
func (l *fileLoop) look(name string) {
	path := filepath.Join(l.catalog.folder, name)
	seen := l.looker.look(path, func(s stamp) bool {
		return l.catalog.still(name, s, time.Now())
	})
	now := time.Now()
	delete(l.agenda, name)
	verdict := l.catalog.note(name, seen, now)
	l.changed(verdict.changed)
	switch {
	case verdict.gone:
		l.remove(name, now)
	case verdict.again > 0:
		l.agenda[name] = now.Add(verdict.again)
	}
}

func (l *fileLoop) changed(yes bool) {
	if yes {
		l.pace.change(time.Now())
		l.pending = nil
	}
}

// offer returns the set and the channel to send it on, or a nil channel when it
// is not to be sent now.
func (l *fileLoop) offer(out chan<- Snapshot) (chan<- Snapshot, Snapshot) {
	now := time.Now()
	due, ok := l.pace.due()
	if !ok || due.After(now) || l.opening() {
		return nil, Snapshot{}
	}
	if l.pending == nil {
		snapshot := l.catalog.snapshot(now)
		l.pending = &snapshot
	}
	return out, *l.pending
}

// sent tells the log, and the disk, what the receiver has got.
func (l *fileLoop) sent(s Snapshot) {
	l.pace.send(time.Now())
	l.pending = nil
	l.journal.tell(s)
	l.save()
}

// save hands the set in force to the saver if what is on disk is another.
func (l *fileLoop) save() {
	if l.saver == nil || !l.catalog.answered {
		return
	}
	if good := l.catalog.good(); !good.same(l.saved) {
		good.Taken = time.Now()
		l.saved = good
		l.saver.save(good)
	}
}

// saveAgain saves the set when somebody has removed it from the disk.
func (l *fileLoop) saveAgain(now time.Time) {
	if l.saver == nil || now.Sub(l.checked) < goodCheck {
		return
	}
	l.checked = now
	if l.saver.store.gone() {
		l.saved = goodSet{}
		l.save()
	}
}
