package runtimetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/podstead/podstead/runtime"
)

// Mode is what goes wrong with a call.
type Mode int

// The modes.
const (
	Fail      Mode = iota // an error, no effect
	FailAfter             // the effect, then an error
	Hang                  // no effect and no answer until the caller gives up
	HangAfter             // the effect, but no answer until the caller gives up
	Late                  // the effect at once, the answer after Delay
	Slow                  // effect and answer after Delay; the effect comes even if the caller is gone
)

// String is the word for test names.
func (m Mode) String() string {
	return [...]string{"Fail", "FailAfter", "Hang", "HangAfter", "Late", "Slow"}[m]
}

// Fault makes a call go wrong.
type Fault struct {
	Call      string // verb; "" for any
	Container string // only calls for this container; "" for any
	Nth       int    // which call from now on, counting from 1 those that match; 0 for every one
	Mode      Mode
	Delay     time.Duration // Late and Slow
	Err       error         // Fail and FailAfter; runtime.ErrUnavailable if nil

	seen int
}

// Inject adds a fault. One with Nth is used once; one without stays until
// ClearFaults. When several match, the one injected first has its way.
func (f *Fake) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, &fault)
}

// Takes makes every call of the verb need that long.
func (f *Fake) Takes(verb string, d time.Duration) { f.Inject(Fault{Call: verb, Mode: Slow, Delay: d}) }

// Guard has may asked before every call that changes something; one that may not
// have its effect fails. nil ends that. It is for tests that count effects, or
// that take the engine away between two of them.
func (f *Fake) Guard(may func() bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.guard = may
}

// allows asks the guard.
func (f *Fake) allows(c Call) error {
	f.mu.Lock()
	may := f.guard
	f.mu.Unlock()
	if may == nil || !slices.Contains(writes[:], c.Verb) || may() {
		return nil
	}
	return fmt.Errorf("%w: guarded", runtime.ErrUnavailable)
}

// ClearFaults takes all faults away that have not happened.
func (f *Fake) ClearFaults() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// PendingFaults returns how many faults have yet to happen.
func (f *Fake) PendingFaults() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.faults)
}

func (f *Fake) faultFor(c Call) *Fault {
	var due *Fault
	for _, fault := range f.faults {
		if fault.Call != "" && fault.Call != c.Verb || fault.Container != "" && fault.Container != c.Container {
			continue
		}
		fault.seen++
		if due == nil && (fault.Nth == 0 || fault.seen == fault.Nth) {
			due = fault
		}
	}
	f.faults = slices.DeleteFunc(f.faults, func(x *Fault) bool { return x.Nth > 0 && x.seen >= x.Nth })
	return due
}

func (fault *Fault) err() error {
	if fault.Err != nil {
		return fault.Err
	}
	return fmt.Errorf("%w: injected", runtime.ErrUnavailable)
}

// meet has the effect the way the fault wants it.
func meet[T any](ctx context.Context, f *Fake, fault *Fault, effect func() (T, error)) (T, error) {
	var none T
	if fault == nil {
		return apply(f, effect)
	}
	switch fault.Mode {
	case Fail:
		return none, fault.err()
	case Hang:
		<-ctx.Done()
		return none, unanswered(ctx)
	case Slow:
		return slowly(ctx, f, fault.Delay, effect)
	}
	v, err := apply(f, effect)
	switch fault.Mode {
	case FailAfter:
		return none, fault.err()
	case HangAfter:
		<-ctx.Done()
		return none, unanswered(ctx)
	}
	late := time.NewTimer(fault.Delay)
	defer late.Stop()
	select {
	case <-late.C:
		return v, err
	case <-ctx.Done():
		return none, unanswered(ctx)
	}
}

func slowly[T any](ctx context.Context, f *Fake, delay time.Duration, effect func() (T, error)) (T, error) {
	var v T
	var err error
	done := make(chan struct{})
	time.AfterFunc(delay, func() {
		v, err = apply(f, effect)
		close(done)
	})
	select {
	case <-done:
		return v, err
	case <-ctx.Done():
		var none T
		return none, unanswered(ctx)
	}
}
