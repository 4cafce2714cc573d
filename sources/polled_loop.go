package sources

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/podstead/podstead/manifests"
)

// revisionSave is how often a set is saved of which only the revision or the
// mark is new: a server that makes up an ETag for each answer must not cost a
// write a poll.
const revisionSave = 10 * time.Minute

// pollLoop is a running polled source: one goroutine's, which looks itself.
// Nobody waits for a look but those who asked for it.
type pollLoop struct {
	cfg   polledConfig
	place place
	asks  <-chan syncAsk
	log   *slog.Logger

	good   *version // in force; nil if there is none
	mark   mark     // that good came with
	newest *version // what the place, or else the disk, says; nil if nothing did
	held   string   // why newest, which is faultless, is not in force
	fault  string   // of the place itself

	lost  string   // why the last good set on disk is of no use
	known []string // while nothing is in force: pods of the last good set, as far as known

	live      bool
	attempted bool
	confirmed time.Time // when the place last said what is in force
	heard     time.Time // when the place last said anything
	next      time.Time
	backoff   backoff

	saver   *saver // nil without a state folder
	set     goodSet
	saved   goodSet // handed to the saver last
	savedAt time.Time
	checked time.Time // when the set on disk was last looked for
	journal journal
	told    digest // content of the version in force that the log knows
	toldAs  string // its revision then
}

func newPollLoop(p *polled) *pollLoop {
	l := &pollLoop{
		cfg: p.cfg, place: p.ask, asks: p.asks, log: p.cfg.log,
		next: time.Now(), backoff: newBackoff(p.cfg.interval), journal: newJournal(p.cfg.log),
	}
	if p.cfg.dir != "" {
		store := newGoodStore(p.cfg.dir)
		l.recall(store)
		l.saver = newSaver(store, l.log, saveRetry)
	}
	return l
}

// recall puts the last good set in force, if it is whole and still good by the
// rules of this agent.
func (l *pollLoop) recall(store *goodStore) {
	set, errs := store.load()
	l.lost, l.known = lossOf(errs), set.Pods
	l.confirmed, l.heard = set.Taken, set.Taken
	if len(errs) > 0 || set.format() != polledFormat || l.cfg.body && len(set.Units) != 1 {
		return // nothing is kept, or it is another kind of source's
	}
	files := make([]unitFile, len(set.Units))
	for i, u := range set.Units {
		files[i] = unitFile{Name: u.Name, Data: u.Data}
	}
	if l.cfg.body {
		files[0].Name = l.cfg.unit // the URL may be shown in another way than it was
	}
	l.saved = set
	l.newest = l.read(answer{revision: set.Revision, files: files}, sumFiles(files))
	if !l.newest.faulty() {
		l.good, l.mark, l.set = l.newest, set.Mark, set
	}
}

func (l *pollLoop) close() {
	if l.saver == nil {
		return
	}
	if !l.set.same(l.saved) && l.good != nil {
		l.saver.save(l.set)
	}
	l.saver.close()
}

func (l *pollLoop) run(ctx context.Context, out chan<- Snapshot) error {
	if err := l.send(ctx, out); err != nil {
		return err
	}
	asked := l.waiting(nil)
	for {
		l.look(ctx, asked)
		if err := l.send(ctx, out); err != nil {
			return err
		}
		l.reply(asked)
		var err error
		if asked, err = l.wait(ctx); err != nil {
			return err
		}
	}
}

// send hands over what is known now, and tells the log and the disk.
func (l *pollLoop) send(ctx context.Context, out chan<- Snapshot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := l.snapshot()
	select {
	case out <- s:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.tell(s)
	l.save()
	return nil
}

// wait returns when it is time to look, with those who asked for it.
func (l *pollLoop) wait(ctx context.Context) ([]syncAsk, error) {
	timer := time.NewTimer(time.Until(l.next))
	defer timer.Stop()
	select {
	case <-timer.C:
		return l.waiting(nil), nil
	case ask := <-l.asks:
		return l.waiting([]syncAsk{ask}), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// waiting adds those who are asking at this moment: they share the next look.
func (l *pollLoop) waiting(asked []syncAsk) []syncAsk {
	for {
		select {
		case ask := <-l.asks:
			asked = append(asked, ask)
		default:
			return asked
		}
	}
}

func (l *pollLoop) reply(asked []syncAsk) {
	err := l.snapshot().trouble()
	for _, ask := range asked {
		ask.reply <- err // it has room for one
	}
}

// look asks the place and takes over what it says.
func (l *pollLoop) look(ctx context.Context, asked []syncAsk) {
	limited, cancel := context.WithTimeout(ctx, l.cfg.limit)
	defer cancel()
	a, err := l.place.look(limited, l.mark)
	now := time.Now()
	l.attempted = true
	if err == nil && a.unchanged && l.good == nil {
		err = errors.New("says that nothing has changed, but was not told since when")
	}
	if err != nil {
		if ctx.Err() == nil && limited.Err() != nil {
			err = fmt.Errorf("no whole answer within %v", l.cfg.limit)
		}
		l.fault, l.next = err.Error(), now.Add(l.backoff.fail(a.retryAfter))
		return
	}
	l.fault, l.live, l.heard = "", true, now
	l.next = now.Add(l.backoff.succeed(a.retryAfter))
	if a.note != "" {
		l.log.Info("source says", "note", a.note)
	}
	if a.unchanged {
		l.newest, l.held, l.confirmed = l.good, "", now
		return
	}
	l.take(a, slices.ContainsFunc(asked, func(ask syncAsk) bool { return ask.req.AllowRemoval }))
}

// take puts a set in force, unless it is at fault or removes too much.
func (l *pollLoop) take(a answer, allowed bool) {
	sum := sumFiles(a.files)
	l.newest, l.held = l.read(a, sum), ""
	if l.newest.faulty() {
		return
	}
	if l.held = l.guard(a, allowed); l.held != "" {
		return
	}
	l.good, l.mark, l.confirmed, l.lost, l.known = l.newest, a.mark, l.heard, "", nil
	l.set = goodSet{
		Place: l.cfg.place, Revision: l.good.unit.Revision, Mark: a.mark,
		Pods: fullNames(l.good.pods), Taken: l.heard,
	}
	for _, f := range a.files {
		l.set.Units = append(l.set.Units, newGoodUnit(f.Name, f.Data))
	}
}

// guard says why the newest version must not be put in force. Where nothing is, it
// is compared with what is known of the last good set: its pods may be running.
func (l *pollLoop) guard(a answer, allowed bool) string {
	inForce := l.known
	if l.good != nil {
		inForce = fullNames(l.good.pods)
	}
	held := heldRemoval(inForce, l.newest.pods, l.cfg.maxRemoval)
	why := a.allow
	switch {
	case held == "":
		return ""
	case allowed:
		why = "asked for"
	case why == "" && l.cfg.body && l.newest.blank():
		why = "explicit empty List"
	case why == "":
		return fmt.Sprintf("%s: revision %s %s; to let it through: podstead sync --allow-removal %s",
			removalHeld, l.newest.unit.Revision, held, l.cfg.name)
	}
	l.log.Info("removal is allowed", "removal", held, "reason", why, "revision", l.newest.unit.Revision)
	return ""
}

// read turns an answer into a version. Content that is known is not read again:
// if it is in force only its revision is new, if not nothing is, but for the
// commit that now says it.
func (l *pollLoop) read(a answer, sum digest) *version {
	switch {
	case l.good != nil && l.good.sum == sum:
		return l.good.revised(revisionOf(a, sum))
	case l.newest != nil && l.newest.sum == sum && l.cfg.body:
		return l.newest
	case l.newest != nil && l.newest.sum == sum:
		return l.newest.revised(revisionOf(a, sum))
	case !l.cfg.body:
		return l.cfg.reader.readFiles(l.cfg.unit, revisionOf(a, sum), a.files)
	}
	var data []byte
	if len(a.files) > 0 {
		data = a.files[0].Data
	}
	return l.cfg.reader.read(l.cfg.unit, data, sum).revised(revisionOf(a, sum))
}

func revisionOf(a answer, sum digest) string {
	if a.revision != "" {
		return a.revision
	}
	return sum.revision()
}

// snapshot is the whole set as it is known now.
func (l *pollLoop) snapshot() Snapshot {
	s := Snapshot{
		Source: l.cfg.name, Kind: l.cfg.kind, Place: l.cfg.place, Live: l.live, Attempted: l.attempted,
		Held: l.held, Taken: l.confirmed, Heard: l.heard, NextPoll: l.next,
	}
	if l.newest != nil {
		u := l.unit(l.newest)
		if l.fault != "" && l.cfg.body && l.good != nil {
			u = l.unit(l.good) // what the URL said before is not what it says now
		}
		s.Units, s.Revision = []Unit{u}, u.Revision
	}
	if l.good != nil {
		s.Pods, s.Objects = slices.Clone(l.good.pods), slices.Clone(l.good.objects)
	}
	for _, fault := range []string{l.fault, l.lost} {
		if fault != "" {
			s.Faults = append(s.Faults, manifests.Fault{Place: manifests.Place{Unit: l.cfg.place}, Message: fault})
		}
	}
	return s
}

// unit is the unit as it is shown: the faults are those of a version, the revision
// is the one in force.
func (l *pollLoop) unit(v *version) Unit {
	u := v.unit
	u.Newest, u.Revision = u.Revision, ""
	if l.good != nil {
		u.Revision = l.good.unit.Revision
	}
	return u
}

// tell logs what is new. The log knows a version by the revision under which its
// content came: a new name for old content is no news.
func (l *pollLoop) tell(s Snapshot) {
	if l.good != nil && (l.good.sum != l.told || l.toldAs == "") {
		l.told, l.toldAs = l.good.sum, l.good.unit.Revision
	}
	if l.newest != nil {
		s.Units = []Unit{l.unit(l.newest)}
	}
	if len(s.Units) > 0 && l.good != nil {
		s.Units[0].Revision = l.toldAs
	}
	l.journal.tell(s)
}

// save hands the set in force to the saver if what is on disk is another, or
// nothing any more.
func (l *pollLoop) save() {
	if l.saver == nil || l.good == nil {
		return
	}
	if time.Since(l.checked) >= goodCheck {
		l.checked = time.Now()
		if l.saver.store.gone() {
			l.saved, l.savedAt = goodSet{}, time.Time{}
		}
	}
	if l.set.same(l.saved) {
		return
	}
	if l.set.sameUnits(l.saved) && time.Since(l.savedAt) < revisionSave && !l.savedAt.IsZero() {
		return
	}
	l.saved, l.savedAt = l.set, time.Now()
	l.saver.save(l.set)
}
