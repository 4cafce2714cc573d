package sources

import "time"

// How long a file may take.
const (
	// vanishWait is how long a name may be away before its file counts as
	// removed: editors and git replace by unlink and create.
	vanishWait = 100 * time.Millisecond
	// stillWait is how long a file must not change to count as whole where no
	// lease can tell.
	stillWait = 50 * time.Millisecond
	// stuckAfter is when a file that is still being written is shown as a fault.
	stuckAfter = time.Second
	// firstRetry and lastRetry bound the time between two looks at a file that is
	// being written: its end gives no event.
	firstRetry = 5 * time.Millisecond
	lastRetry  = 50 * time.Millisecond
)

// entry is what is known of one file.
type entry struct {
	newest *version // what the file holds; nil until it was whole once
	good   *version // in force; nil if there was none
	over   bool     // newest is refused for a limit of the source, not for itself

	trouble string    // why the file can't be read now
	busy    time.Time // since when it is being written
	retry   time.Duration
	gone    time.Time // since when its name or its target is missing
	// stamp and stamped are the file's last known state and since when it is in
	// it, where no lease can tell.
	stamp   stamp
	stamped time.Time
	through string // see observation
	lost    string // why its last good version could not be read back
}

// unread is true until anything is known of the file.
func (e *entry) unread() bool { return e.newest == nil && e.trouble == "" }

// still notes a stamp and tells whether the file has had it for long enough.
func (e *entry) still(s stamp, now time.Time) bool {
	if e.stamp != s || e.stamped.IsZero() {
		e.stamp, e.stamped = s, now
	}
	return now.Sub(e.stamped) >= stillWait
}

// readable forgets what was wrong with the file and tells whether that shows.
func (e *entry) readable() (changed bool) {
	changed = e.trouble != "" || !e.gone.IsZero()
	e.trouble, e.busy, e.retry, e.gone = "", time.Time{}, 0, time.Time{}
	return changed
}

// away is true while the file is missing and may come back.
func (e *entry) away() bool { return e.good != nil && !e.gone.IsZero() && e.trouble == "" }

// waitForWriter notes that the file is being written and returns when to look
// again, and whether that shows: it does once it has taken too long.
func (e *entry) waitForWriter(settling bool, now time.Time) (again time.Duration, changed bool) {
	if e.busy.IsZero() {
		e.busy = now
	}
	if !e.gone.IsZero() {
		e.gone, changed = time.Time{}, true
	}
	if now.Sub(e.busy) >= stuckAfter {
		changed = e.blame(beingWritten) || changed
	}
	if settling {
		return stillWait, changed
	}
	e.retry = min(max(2*e.retry, firstRetry), lastRetry)
	return e.retry, changed
}

// beingWritten is the fault of a file that is not whole.
const beingWritten = "is being written: some process has it open for writing or keeps changing it"

// waitForReturn notes that the file is missing and returns how much longer it
// may be; 0 when it is gone.
func (e *entry) waitForReturn(now time.Time) time.Duration {
	e.busy, e.retry = time.Time{}, 0
	if e.gone.IsZero() {
		e.gone = now
	}
	return max(vanishWait-now.Sub(e.gone), 0)
}

// refuse notes that the file is there but can't be read, and tells whether that
// is new.
func (e *entry) refuse(why string) (changed bool) {
	e.busy, e.retry, e.gone = time.Time{}, 0, time.Time{}
	return e.blame(why)
}

// blame notes why the file can't be read and tells whether that is new.
func (e *entry) blame(trouble string) (changed bool) {
	changed = e.trouble != trouble
	e.trouble = trouble
	return changed
}

// unknown is true of a file that came just now and is still being written:
// there is nothing to tell of it yet.
func (e *entry) unknown() bool { return e.unread() && e.good == nil && e.lost == "" }

// fault is what is wrong when it is not in the file's newest version; "" for
// nothing.
func (e *entry) fault() string {
	if e.trouble == "" && e.newest == nil {
		return e.lost
	}
	return e.trouble
}
