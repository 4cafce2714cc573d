package sources

import (
	"errors"
	"io/fs"
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
)

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
	l.catalog.heard = now
	l.saveAgain(now)
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
