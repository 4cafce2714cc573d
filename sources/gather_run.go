package sources

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// courses is what Run knows of the sources that it started.
type courses struct {
	running map[*gathered]context.CancelFunc
	ending  map[string]*gathered // told to end and not through yet, by name
	ends    chan end
}

// end is how a source ended.
type end struct {
	one *gathered
	err error
}

// Run runs the sources until ctx ends or one of them returns an error of its
// own, and returns when all that it started has ended; it is called once. It
// sends their snapshots to out, each with its source's Key. A source never waits
// for the receiver: while that is busy its newest snapshot replaces the one
// before. What a source sent before it was told to end, and nobody took, is
// dropped; its successor of the same name starts after its end.
func (g *Gatherer) Run(ctx context.Context, out chan<- Snapshot) error {
	defer close(g.stopped)
	ctx, cancel := context.WithCancel(ctx)
	c := courses{running: map[*gathered]context.CancelFunc{}, ending: map[string]*gathered{}, ends: make(chan end)}
	defer func() { // every deferred end is waited for
		cancel()
		for len(c.running)+len(c.ending) > 0 {
			c.forget(<-c.ends)
		}
	}()
	owed := false // a sweep, until those have ended that were on their way
	for {
		g.arrange(ctx, c, out)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-g.changed:
		case <-g.sweeps:
			owed = g.sweep(c)
		case e := <-c.ends:
			if owed {
				g.Sweep()
			}
			if told := c.forget(e); !told && e.err != nil {
				return fmt.Errorf("source %s: %w", e.one.spec.Name, e.err)
			}
		}
	}
}

// arrange ends what is not wanted any more and starts what is wanted and free to.
func (g *Gatherer) arrange(ctx context.Context, c courses, out chan<- Snapshot) {
	list := g.list()
	for one, stop := range c.running {
		if next := named(list, one.spec.Name); next != one {
			g.log.Info("source is ended", "source", one.spec.Name, "reason", whyEnded(one, next))
			stop()
			delete(c.running, one)
			c.ending[one.spec.Name] = one
		}
	}
	for _, one := range list {
		_, runs := c.running[one]
		if runs || c.ending[one.spec.Name] != nil || one.over() {
			continue
		}
		if one.suspended != nil {
			g.log.Info("source is not looked at", "source", one.spec.Name, "reason", one.suspended.String())
		} else {
			g.log.Info("source starts", "source", one.spec.Name, "kind", one.source.Kind())
		}
		ctx, stop := context.WithCancel(ctx)
		c.running[one] = stop
		go func() { c.ends <- end{one, one.run(ctx, out)} }()
	}
}

// Sweep has Run take away the state of sources that are configured no more: last
// good sets, in which there may be Secrets, and what was fetched. It returns at
// once. The time for it is when nothing of such a source is left.
func (g *Gatherer) Sweep() {
	select {
	case g.sweeps <- struct{}{}:
	default: // one is owed already
	}
}

// sweep runs between two arrangements, so that no source starts meanwhile. It
// reports whether something is left since its source has not ended yet.
func (g *Gatherer) sweep(c courses) (left bool) {
	if g.dir == "" {
		return false
	}
	entries, err := os.ReadDir(g.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		g.log.Warn("state of former sources is not removed", "err", err)
	}
	list := g.list()
	for _, entry := range entries {
		name := entry.Name()
		if named(list, name) != nil {
			continue
		}
		if c.lives(name) {
			left = true
			continue
		}
		if err := os.RemoveAll(filepath.Join(g.dir, name)); err != nil {
			g.log.Warn("state of a former source is not removed", "source", name, "err", err)
			continue
		}
		g.log.Info("state of a source that is configured no more is removed", "source", name)
	}
	return left
}

// lives reports that a source of that name has not ended yet.
func (c courses) lives(name string) bool {
	for one := range c.running {
		if one.spec.Name == name {
			return true
		}
	}
	return c.ending[name] != nil
}

func whyEnded(one, next *gathered) string {
	switch {
	case next == nil:
		return "it is not configured any more"
	case next.suspended != nil && one.suspended == nil:
		return "it is " + next.suspended.String()
	case next.suspended == nil && one.suspended != nil:
		return "it is resumed"
	}
	return "its settings have changed"
}

// forget notes an end and tells whether the source had been told to.
func (c courses) forget(e end) (told bool) {
	name := e.one.spec.Name
	if c.ending[name] == e.one {
		delete(c.ending, name)
		return true
	}
	c.running[e.one]()
	delete(c.running, e.one)
	return false
}

// over is true once the source has ended.
func (one *gathered) over() bool {
	select {
	case <-one.ended:
		return true
	default:
		return false
	}
}

// run runs the source and carries its newest snapshot to out.
func (one *gathered) run(ctx context.Context, out chan<- Snapshot) error {
	defer close(one.ended)
	in, end := make(chan Snapshot), make(chan error, 1)
	go func() { end <- one.source.Run(ctx, in) }()
	var newest Snapshot
	var send chan<- Snapshot // nil while there is nothing to send
	var passed <-chan struct{} = one.passed
	for {
		select {
		case newest = <-in:
			newest.Key = one.spec.Key
			send, passed = out, nil
		case send <- newest:
			newest, send, passed = Snapshot{}, nil, one.passed
		case <-passed:
		case err := <-end:
			return err
		case <-ctx.Done():
			return <-end
		}
	}
}
