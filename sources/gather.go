package sources

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Spec is a source as it is configured.
type Spec struct {
	Name string
	// Key stands for all the settings: a source whose Key differs from the one it
	// runs with is started anew. It is compared, passed on in Snapshots and shown
	// nowhere; a digest keeps it short, and keeps passwords out of it.
	Key string
	// New makes the source. It starts nothing and touches nothing that the running
	// source of the same name uses: that ends only afterwards.
	New func() (Source, error)
}

// GathererConfig is what a Gatherer needs.
type GathererConfig struct {
	// Dir has a folder for each source's state, named like it; "" for none.
	Dir    string
	Logger *slog.Logger
}

// Gatherer runs the configured sources and exchanges them while they run. Its
// methods are safe for concurrent use, and can be called before Run.
type Gatherer struct {
	log *slog.Logger
	dir string
	// wanted has one element, the sources that are to run, which is taken out by
	// whoever replaces it. The list itself is never changed.
	wanted  chan []*gathered
	changed chan struct{} // capacity 1: there is a new list
	sweeps  chan struct{} // capacity 1: a sweep is owed
	stopped chan struct{}
}

// gathered is one source in one setting, from its making to its end.
type gathered struct {
	spec   Spec
	source Source
	// suspended is why it is not looked at; nil when it is.
	suspended *Suspension
	// passed takes a word when all that the source has sent has been taken.
	passed chan struct{}
	ended  chan struct{} // closed when it is through
}

// NewGatherer returns a Gatherer without sources that does nothing until Run.
func NewGatherer(cfg GathererConfig) *Gatherer {
	g := &Gatherer{
		log:     cfg.Logger,
		dir:     cfg.Dir,
		sweeps:  make(chan struct{}, 1),
		wanted:  make(chan []*gathered, 1),
		changed: make(chan struct{}, 1),
		stopped: make(chan struct{}),
	}
	g.wanted <- nil
	return g
}

// Apply makes the specs the sources that run: those that are new are started,
// those that are gone ended, those with another Key ended and, once they are
// through, started anew; the others are not touched. It waits for none of that:
// Run does it. When a source can't be made, or the specs contradict each other,
// all stays as it was and the error names every such source.
func (g *Gatherer) Apply(ctx context.Context, specs []Spec) error {
	select {
	case now := <-g.wanted:
		next, err := g.exchange(now, specs)
		if err != nil {
			next = now
		}
		g.wanted <- next
		if err != nil {
			return fmt.Errorf("set up sources: %w", err)
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	g.stir()
	return nil
}

// stir has Run look at the list.
func (g *Gatherer) stir() {
	select {
	case g.changed <- struct{}{}:
	default: // Run has not taken the last word yet, and will find this list
	}
}

// exchange makes the sources of the specs that do not run yet as they should.
func (g *Gatherer) exchange(now []*gathered, specs []Spec) ([]*gathered, error) {
	var errs []error
	next := make([]*gathered, 0, len(specs))
	for _, spec := range specs {
		if named(next, spec.Name) != nil {
			errs = append(errs, fmt.Errorf("source %s is configured twice", spec.Name))
			continue
		}
		one := named(now, spec.Name)
		if one == nil || one.spec.Key != spec.Key {
			var err error
			if one, err = g.make(spec, one); err != nil {
				errs = append(errs, fmt.Errorf("source %s: %w", spec.Name, err))
				continue
			}
		}
		next = append(next, one)
	}
	return next, errors.Join(errs...)
}

// make makes a source that follows before, nil for none. One that is suspended
// stays so.
func (g *Gatherer) make(spec Spec, before *gathered) (*gathered, error) {
	if before != nil {
		return newGathered(spec, before.suspended)
	}
	suspended, err := g.loadSuspension(spec.Name)
	if err != nil {
		return nil, err
	}
	return newGathered(spec, suspended)
}

func newGathered(spec Spec, suspended *Suspension) (*gathered, error) {
	source, err := spec.New()
	if err != nil {
		return nil, err
	}
	if suspended != nil {
		source = newDormant(source, *suspended)
	}
	return &gathered{spec: spec, source: source, suspended: suspended, passed: make(chan struct{}), ended: make(chan struct{})}, nil
}

func named(list []*gathered, name string) *gathered {
	i := slices.IndexFunc(list, func(s *gathered) bool { return s.spec.Name == name })
	if i < 0 {
		return nil
	}
	return list[i]
}

func (g *Gatherer) list() []*gathered {
	list := <-g.wanted
	g.wanted <- list
	return list
}

// Names are the names of the sources that are to run, in their order.
func (g *Gatherer) Names() []string { return namesOf(g.list()) }

func namesOf(list []*gathered) []string {
	names := make([]string, len(list))
	for i, one := range list {
		names[i] = one.spec.Name
	}
	return names
}

// errGathererStopped is what Sync returns once Run has ended.
var errGathererStopped = errors.New("the sources have ended")

// Sync makes one source look at its place now, or with the name "" all of them,
// side by side. It returns what Source.Sync does, every error with its source's
// name, and an error for a name that is not configured.
func (g *Gatherer) Sync(ctx context.Context, name string, req SyncRequest) error {
	list := g.list()
	if name != "" {
		one := named(list, name)
		if one == nil {
			return fmt.Errorf("sync: no source is named %q, only %s", name, strings.Join(namesOf(list), ", "))
		}
		list = []*gathered{one}
	}
	answers := make([]chan error, len(list))
	for i, one := range list {
		answers[i] = make(chan error, 1)
		go func() { answers[i] <- g.syncOne(ctx, one, req) }()
	}
	var errs []error
	for i, one := range list {
		if err := <-answers[i]; err != nil {
			errs = append(errs, fmt.Errorf("sync source %s: %w", one.spec.Name, err))
		}
	}
	return errors.Join(errs...)
}

// errReplaced is what Sync returns for a source that ends under its hands.
var errReplaced = errors.New("it has ended: the configuration was read again")

// syncOne asks one source, whose end would otherwise leave the question
// unanswered.
func (g *Gatherer) syncOne(ctx context.Context, one *gathered, req SyncRequest) error {
	asking, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answer := make(chan error, 1)
	go func() { answer <- one.source.Sync(asking, req) }()
	var end error
	select {
	case err := <-answer:
		return errors.Join(err, g.awaitPassed(ctx, one))
	case <-one.ended:
		end = errReplaced
	case <-g.stopped:
		end = errGathererStopped
	}
	cancel(end)
	<-answer
	return end
}

// awaitPassed returns once what the source has sent was taken by the receiver.
func (g *Gatherer) awaitPassed(ctx context.Context, one *gathered) error {
	select {
	case one.passed <- struct{}{}:
		return nil
	case <-one.ended:
		return errReplaced
	case <-g.stopped:
		return errGathererStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}
