package sources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/podstead/podstead/durable"
)

// Suspension is that a source is not looked at, since when and by whom.
type Suspension struct {
	Since time.Time `json:"since,omitzero"` // zero when that is not known any more
	By    string    `json:"by,omitempty"`
}

// String says so.
func (s Suspension) String() string {
	text := "suspended"
	if !s.Since.IsZero() {
		text += " since " + s.Since.Local().Format(time.RFC3339)
	}
	if s.By != "" {
		text += " (asked for by " + s.By + ")"
	}
	return text
}

// ErrSuspended is wrapped by what Sync returns of a suspended source.
var ErrSuspended = errors.New("it is not looked at")

// ErrUnknownSource is wrapped where a name is that of no configured source.
var ErrUnknownSource = errors.New("no such source")

// dormant stands in for a source while that is suspended.
type dormant struct {
	Source
	suspension Suspension
	sent       chan struct{} // closed when its snapshot has been sent
}

func newDormant(s Source, why Suspension) *dormant {
	return &dormant{Source: s, suspension: why, sent: make(chan struct{})}
}

// Run implements Source: the last good set is all there is. It counts as attempted,
// for nobody has to wait for it; not as live, since its place has not been heard.
func (d *dormant) Run(ctx context.Context, out chan<- Snapshot) error {
	s := d.Recall()
	s.Attempted, s.Suspended = true, &d.suspension
	select {
	case out <- s:
		close(d.sent)
	case <-ctx.Done():
	}
	<-ctx.Done()
	return ctx.Err()
}

// Sync implements Source.
func (d *dormant) Sync(context.Context, SyncRequest) error {
	return fmt.Errorf("%w: %s; `podstead resume %s` has it looked at again", ErrSuspended, d.suspension, d.Name())
}

// Suspend has a source not looked at any more, over restarts and whatever its
// settings become, until Resume. What is in force of it stays so. It returns when
// that is durable and the source has ended; of one that is suspended already
// nothing changes, which the bool says. The error wraps ErrUnknownSource for a name that is not
// configured.
func (g *Gatherer) Suspend(ctx context.Context, name string, why Suspension) (is Suspension, changed bool, err error) {
	one, err := g.replace(ctx, name, func(one *gathered) (*gathered, error) {
		if one.suspended != nil {
			return one, nil
		}
		changed = true
		if err := g.saveSuspension(name, why); err != nil {
			return nil, err
		}
		return newGathered(one.spec, &why)
	})
	if err != nil {
		return Suspension{}, false, fmt.Errorf("suspend source %s: %w", name, err)
	}
	select {
	case <-one.source.(*dormant).sent:
		err = g.awaitPassed(ctx, one)
	case <-one.ended:
		err = errReplaced
	case <-g.stopped:
		err = errGathererStopped
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("suspend source %s: it is noted, and a look under way has not ended: %w", name, err)
	}
	return *one.suspended, changed, err
}

// Resume has a suspended source looked at again, at once. It returns since when it
// was suspended, nil if it was not, and does not wait for the look.
func (g *Gatherer) Resume(ctx context.Context, name string) (was *Suspension, err error) {
	_, err = g.replace(ctx, name, func(one *gathered) (*gathered, error) {
		if was = one.suspended; was == nil {
			return one, nil
		}
		next, err := newGathered(one.spec, nil)
		if err != nil {
			return nil, err
		}
		if g.dir == "" {
			return next, nil
		}
		return next, durable.Remove(g.suspensionPath(name))
	})
	if err != nil {
		return nil, fmt.Errorf("resume source %s: %w", name, err)
	}
	return was, nil
}

// replace exchanges one source for what next makes of it, and returns that. An
// error of next's leaves it as it is.
func (g *Gatherer) replace(ctx context.Context, name string, next func(*gathered) (*gathered, error)) (*gathered, error) {
	var now []*gathered
	select {
	case now = <-g.wanted:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	list := now
	defer func() { g.wanted <- list }()
	one := named(now, name)
	if one == nil {
		return nil, fmt.Errorf("%w; there are: %s", ErrUnknownSource, strings.Join(namesOf(now), ", "))
	}
	after, err := next(one)
	if err != nil || after == one {
		return one, err
	}
	list = make([]*gathered, len(now))
	for i, other := range now {
		if list[i] = other; other == one {
			list[i] = after
		}
	}
	g.stir()
	return after, nil
}

// suspensionPath is a file whose being there counts; what it says is for people.
// It goes with the rest of a source's state when that is configured no more.
func (g *Gatherer) suspensionPath(name string) string {
	return filepath.Join(g.dir, name, "suspended.json")
}

func (g *Gatherer) saveSuspension(name string, why Suspension) error {
	if g.dir == "" {
		return nil
	}
	data, err := json.Marshal(why)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(g.dir, name), 0o700); err != nil {
		return err
	}
	return durable.WriteFile(g.suspensionPath(name), append(data, '\n'), 0o600)
}

// loadSuspension is what an earlier life left of a source; nil for nothing.
func (g *Gatherer) loadSuspension(name string) (*Suspension, error) {
	if g.dir == "" {
		return nil, nil
	}
	data, err := os.ReadFile(g.suspensionPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find out whether it is suspended: %w", err)
	}
	var why Suspension
	_ = json.Unmarshal(data, &why) // half of it suspends too
	return &why, nil
}
