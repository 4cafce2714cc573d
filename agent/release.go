package agent

// progress is how far a worker has come, as it reports.
type progress int

const (
	progressNone     progress = iota
	progressCreated           // sandbox and containers are created, nothing started
	progressPrepared          // the sandbox is started too
	progressServing           // a container of it runs, or has run
	progressStopped           // no container of it runs any more
	progressReleased          // its sandbox has ended too, and its host ports are free
)

// waiter is a pod behind a gate, and what stands in its way.
type waiter struct {
	uid      string
	progress progress
	blockers []blocker
}

// blocker is a pod that must be gone before a waiter may start.
type blocker struct {
	uid string
	// own: the waiter replaces it, so that it goes when the waiter is ready.
	own bool
	// port: it holds a host port that the waiter needs, so that even the
	// waiter's sandbox cannot be started before it is gone.
	port bool
	// going: it has been told to end.
	going bool
}

// verdict is what a waiter may do next.
type verdict int

const (
	verdictWait    verdict = iota // stay behind the gate
	verdictWarm                   // start the sandbox: nothing else is awaited
	verdictRelease                // end those it replaces
	verdictRun                    // nothing stands in its way
)

// release decides for all waiters at once. A waiter may release its
// predecessors when it is prepared and everything else in its way is going or
// will be released with it: pods that wait for each other's predecessors in a
// ring are released together, once all of them are prepared. That is the
// greatest set in which nobody waits for a pod that nobody ends.
func release(waiters []waiter) map[string]verdict {
	ready := map[string]bool{}
	for _, w := range waiters {
		ready[w.uid] = w.progress >= progressCreated
	}
	for settled := false; !settled; {
		settled = true
		ending := endedBy(waiters, ready)
		for _, w := range waiters {
			if ready[w.uid] && w.blockedOutside(ending) {
				ready[w.uid] = false
				settled = false
			}
		}
	}
	verdicts := make(map[string]verdict, len(waiters))
	for _, w := range waiters {
		verdicts[w.uid] = w.verdict(ready[w.uid])
	}
	return verdicts
}

// endedBy is who ends if all ready waiters release their predecessors.
func endedBy(waiters []waiter, ready map[string]bool) map[string]bool {
	ending := map[string]bool{}
	for _, w := range waiters {
		for _, b := range w.blockers {
			if b.own && ready[w.uid] {
				ending[b.uid] = true
			}
		}
	}
	return ending
}

func (w waiter) blockedOutside(ending map[string]bool) bool {
	for _, b := range w.blockers {
		if !b.going && !ending[b.uid] {
			return true
		}
	}
	return false
}

func (w waiter) verdict(ready bool) verdict {
	switch {
	case len(w.blockers) == 0:
		return verdictRun
	case !ready:
		return verdictWait
	case w.mayWarm() && w.progress < progressPrepared:
		return verdictWarm
	}
	return verdictRelease
}

// mayWarm: the sandbox starts before the release only when its host ports are
// free and nobody but its own predecessors is awaited, because from then on the
// engine's DNS answers with both addresses.
func (w waiter) mayWarm() bool {
	for _, b := range w.blockers {
		if !b.own || b.port {
			return false
		}
	}
	return true
}
