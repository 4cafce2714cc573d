package runtimetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/podstead/podstead/runtime"
)

// Call is one call of a verb, as the journal keeps it.
type Call struct {
	Verb      string // CreateSandbox, List, …
	UID       string // of the pod, "" where the verb has none
	Container string // name; "" for a sandbox
	ID        string // of what was asked for; of what was made once it is
	Detail    string // the signal, the image reference
	At        time.Time
	Done      bool
	Err       error
}

// writes are the verbs that change something on the engine.
var writes = [...]string{"CreateSandbox", "StartSandbox", "CreateContainer", "StartContainer", "Signal", "Remove", "Pull"}

// Calls returns the calls made so far, in order. Run is none.
func (f *Fake) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]Call, len(f.journal))
	for i, c := range f.journal {
		all[i] = *c
	}
	return all
}

// Count returns how many calls of the verbs were made; of all, without one.
func (f *Fake) Count(verbs ...string) int {
	n := 0
	for _, c := range f.Calls() {
		if len(verbs) == 0 || slices.Contains(verbs, c.Verb) {
			n++
		}
	}
	return n
}

// Writes returns how many calls asked for a change.
func (f *Fake) Writes() int { return f.Count(writes[:]...) }

// ForgetCalls empties the journal, so that what follows can be counted.
func (f *Fake) ForgetCalls() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.journal = nil
}

// callTimeout is when a short call gives up on an engine that does not answer,
// as the Manager does by itself.
const callTimeout = 30 * time.Second

// long are the verbs without a deadline of their own.
func (c Call) long() bool { return c.Verb == "Pull" || c.Verb == "Logs" }

// call makes one call: it is written down, meets its fault if one is due, and
// has its effect under the lock.
func call[T any](ctx context.Context, f *Fake, c Call, effect func() (T, error)) (T, error) {
	var none T
	if !c.long() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callTimeout)
		defer cancel()
	}
	entry, fault := f.begin(c)
	v, err := none, f.answers(ctx)
	if err == nil {
		err = f.allows(c)
	}
	if err == nil {
		v, err = meet(ctx, f, fault, effect)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", c.words(), err)
	}
	f.finish(entry, v, err)
	return v, err
}

// words names the call in an error: verb, object, identity.
func (c Call) words() string {
	var verb strings.Builder
	for i, r := range c.Verb {
		if i > 0 && unicode.IsUpper(r) {
			verb.WriteByte(' ')
		}
		verb.WriteRune(unicode.ToLower(r))
	}
	object := cmp.Or(c.Container, c.ID[:min(len(c.ID), 12)], c.Detail, c.UID)
	return strings.TrimSpace(verb.String() + " " + object)
}

// begin writes the call down and looks up its fault.
func (f *Fake) begin(c Call) (*Call, *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.objects[c.ID]; o != nil {
		c.UID = o.uid
		if o.cfg != nil {
			c.Container = o.cfg.Name
		}
	}
	c.At = f.clock()
	f.journal = append(f.journal, &c)
	return &c, f.faultFor(c)
}

func (f *Fake) finish(c *Call, v any, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.Done, c.Err = true, err
	if m, ok := v.(created); ok && err == nil {
		c.ID = m.id
	}
}

// answers waits while the engine is frozen.
func (f *Fake) answers(ctx context.Context) error {
	f.mu.Lock()
	frozen := f.frozen
	f.mu.Unlock()
	if frozen != nil {
		select {
		case <-frozen:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return unanswered(ctx)
	}
	return nil
}

// apply has the effect, unless the engine is away.
func apply[T any](f *Fake, effect func() (T, error)) (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		var none T
		return none, fmt.Errorf("%w: connection refused", runtime.ErrUnavailable)
	}
	return effect()
}

// unanswered is what a caller gets whose time ran out; one that went away gets
// its own context's error, which says nothing of the engine.
func unanswered(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", runtime.ErrUnavailable, context.Cause(ctx))
}
