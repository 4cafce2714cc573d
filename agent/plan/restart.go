package plan

import "time"

// The kubelet's crash back-off (its doBackOff over client-go's flowcontrol).
const (
	firstBackOff = 10 * time.Second
	maxBackOff   = 300 * time.Second
	// forgiven is how long an instance must have run for the crashes before it
	// to be forgotten.
	forgiven = 600 * time.Second
)

// backOff is the delay between the end of a container's instance and the next
// one's start. The zero value is a restart at once: that of a first end.
type backOff time.Duration

// next returns the delay that follows one more end, of an instance that ran for
// so long: none after a good run, else 10 s, doubled up to 300 s. How the
// instance ended makes no difference.
func (b backOff) next(ran time.Duration) backOff {
	switch {
	case ran > forgiven:
		return 0
	case b <= 0:
		return backOff(firstBackOff)
	}
	return min(2*b, backOff(maxBackOff))
}

// within returns the delay, but at most the given one, if any: what is recorded
// goes on growing, so that another limit counts at once.
func (b backOff) within(most time.Duration) backOff {
	if most <= 0 {
		return b
	}
	return min(b, backOff(most))
}

// left returns how much of the delay remains when it counts from ended.
func (b backOff) left(ended, now Moment) time.Duration {
	d := time.Duration(b)
	return d - now.After(ended, d)
}
