package sources

import (
	"math/rand/v2"
	"time"
)

const (
	// firstBackoff is the first wait after an error, if the interval is not
	// shorter still.
	firstBackoff = 5 * time.Second
	// lastBackoff is the longest, if the interval is not longer still.
	lastBackoff = 5 * time.Minute
	// maxRetryAfter bounds how long a server can send a source away.
	maxRetryAfter = time.Hour
)

// backoff is how long a polled source waits: its interval after a success, and
// after errors ever longer. Both are jittered, so that a fleet does not ask in
// step.
type backoff struct {
	interval time.Duration
	wait     time.Duration // after the last error; 0 when the last look went well
}

func newBackoff(interval time.Duration) backoff { return backoff{interval: interval} }

// succeed returns the interval, give or take a tenth, or what the place wants if
// that is more.
func (b *backoff) succeed(retryAfter time.Duration) time.Duration {
	b.wait = 0
	tenth := b.interval / 10
	return max(b.interval-tenth+upTo(2*tenth), min(retryAfter, maxRetryAfter))
}

// fail returns any time up to a limit that doubles with each error in a row (but
// at least a tenth of it, so that chance makes no hammer), or what the place
// wants if that is more.
func (b *backoff) fail(retryAfter time.Duration) time.Duration {
	first, last := min(b.interval, firstBackoff), max(b.interval, lastBackoff)
	b.wait = min(max(2*b.wait, first), last)
	return max(b.wait/10+upTo(b.wait-b.wait/10), min(retryAfter, maxRetryAfter))
}

// upTo is a random time between 0 and limit.
func upTo(limit time.Duration) time.Duration {
	return time.Duration(rand.Int64N(int64(max(limit, 0)) + 1))
}
