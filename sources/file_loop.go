package sources

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// lostRescan is how often a place at fault is asked again: nothing tells when
	// it comes back.
	lostRescan = 250 * time.Millisecond
	// blindRescan is how often everything is read when the kernel gives no watch.
	blindRescan = time.Second
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
	pending *Snapshot // assembled and not taken yet; nil when it must be assembled anew
}

// newFileLoop reads the last good set and sets up the watch, of nothing yet.
func newFileLoop(cfg FileConfig) *fileLoop {
	l := &fileLoop{
		cfg: cfg, log: cfg.Logger, agenda: agenda{}, journal: newJournal(cfg.Logger),
		looker: looker{limit: cfg.Limits.Bytes, writers: cfg.writers},
	}
	var stored goodSet
	if cfg.Dir != "" {
		store := newGoodStore(cfg.Dir)
		var errs []error
		stored, errs = store.load()
		for _, err := range errs {
			l.log.Warn("part of the last good set is lost", "err", err)
		}
		l.saved = stored
		l.saver = newSaver(store, l.log, saveRetry)
	}
	l.catalog = newCatalog(cfg.reader(), cfg.Path, defaultSetLimits(), stored)
	watch, err := newFolderWatch()
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
		l.catalog.answered = true
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

// hint takes a kernel event for what it is: a reason to look at one file, and
// at those that are links through it.
func (l *fileLoop) hint(event fsnotify.Event) {
	now := time.Now()
	if event.Name == l.watch.folder || l.catalog.fault != "" {
		l.rescanAt = now
		return
	}
	name := filepath.Base(event.Name)
	if l.counts(name) {
		l.agenda[name] = now
	}
	for _, linked := range l.catalog.through(name) {
		l.agenda[linked] = now
	}
}

func (l *fileLoop) counts(name string) bool {
	if l.catalog.single {
		return name == filepath.Base(l.cfg.Path)
	}
	return isManifestName(name)
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

// rescan lists the place, after it made sure that it is watched, and puts
// everything in it on the agenda.
func (l *fileLoop) rescan(now time.Time) {
	at, err := locate(l.cfg.Path)
	if err != nil {
		l.lose(err, now)
		return
	}
	l.noteWatch(l.watch.follow(at.folder, at.id))
	l.rescanAt = now.Add(l.interval())
	found, err := list(l.cfg.Path, at)
	switch {
	case err != nil:
		l.lose(err, now)
		return
	case found.id != at.id: // replaced in between: the watch is on the old one
		l.rescanAt = now
		return
	}
	names, changed := l.catalog.accept(found)
	l.changed(changed)
	if l.catalog.fault != "" {
		l.agenda, l.rescanAt = agenda{}, now.Add(lostRescan)
		return
	}
	if l.openedAt.IsZero() {
		l.openedAt = now
	}
	l.journal.listed(found)
	for _, name := range names {
		if at, waits := l.agenda[name]; !waits || at.After(now) {
			l.agenda[name] = now
		}
	}
}

func (l *fileLoop) interval() time.Duration {
	if l.blind {
		return min(l.cfg.Rescan, blindRescan)
	}
	return l.cfg.Rescan
}

// lose notes that the place can't be read. A single file that is missing gets
// the time that every file gets to come back.
func (l *fileLoop) lose(err error, now time.Time) {
	if errors.Is(err, fs.ErrNotExist) && l.catalog.single && l.catalog.listed && l.catalog.fault == "" {
		l.rescanAt = now.Add(l.interval())
		l.agenda[filepath.Base(l.cfg.Path)] = now
		return
	}
	l.agenda, l.rescanAt = agenda{}, now.Add(lostRescan)
	l.changed(l.catalog.hold(err.Error()))
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

// remove takes a file out that is gone, unless its folder went with it: then
// nothing is known of the file.
func (l *fileLoop) remove(name string, now time.Time) {
	id, err := identify(l.catalog.folder)
	switch {
	case err != nil || id != l.catalog.home:
		l.rescanAt = now
	case l.catalog.single:
		l.lose(errGone, now)
	default:
		l.catalog.remove(name)
		l.changed(true)
	}
}

// errGone is the fault of a source whose single file is missing.
var errGone = errors.New("does not exist")

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
	if l.saver == nil || !l.catalog.answered {
		return
	}
	if good := l.catalog.good(); !good.same(l.saved) {
		l.saved = good
		l.saver.save(good)
	}
}

// noteWatch says once when the kernel gives no watch, and when it does again.
func (l *fileLoop) noteWatch(err error) {
	blind := err != nil || l.watch.kernel == nil
	switch {
	case blind && !l.blind:
		l.log.Warn("the folder can't be watched, reading it every second", "err", err)
	case !blind && l.blind:
		l.log.Info("the folder is watched again")
	}
	l.blind = blind
}
