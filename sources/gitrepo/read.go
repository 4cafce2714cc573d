package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Reading is what was read of a commit.
type Reading struct {
	Commit Commit
	Files  []File // sorted by path
	// Was is the commit that was read before, from the store; "" for none.
	Was string
	// Renewed says why the store was fetched anew, when something was wrong with
	// it; "" when nothing was, or when it could not be fetched.
	Renewed string
}

// Read returns the files in scope of a commit, and fetches what is needed for
// that. An error leaves the store as it was, or empty if it was of no use.
func (v *Visit) Read(ctx context.Context, target Target, scope Scope) (Reading, error) {
	if err := v.repo.over.of(target, scope); err != nil {
		return Reading{}, err
	}
	var got Reading
	err := limited(ctx, v.repo.cfg.FetchTimeout, "read commit "+short(target.Commit), func(ctx context.Context) error {
		v.repo.store.sweep()
		var err error
		got, err = v.read(ctx, target, scope)
		if err != nil && !settled(err) {
			v.repo.hello = nil // ask again what the server can do, the next time
		}
		return v.repo.store.place(err)
	})
	if excessive(err) {
		v.repo.over = excess{commit: target.Commit, scope: scope.key(), err: err, at: time.Now()}
	}
	return got, err
}

// settled tells whether an error will be the same as long as the server says the
// same.
func settled(err error) bool {
	var wrong *wrongCommit
	return errors.As(err, &wrong) || errors.Is(err, errHopeless) || errors.Is(err, errLimit)
}

func short(commit string) string { return commit[:min(len(commit), 12)] }

// read tries the store as it is, then with what has changed added, then anew.
func (v *Visit) read(ctx context.Context, target Target, scope Scope) (Reading, error) {
	old, err := v.repo.store.open(v.repo.at.shown)
	renewed := ""
	if err != nil {
		renewed = bare(err).Error()
	}
	was := ""
	if old != nil {
		was = old.state.Commit
		got, err := v.readFrom(ctx, old, target, scope)
		old.close()
		got.Was = was
		if err == nil || !healable(ctx, err) {
			return got, err
		}
		if !errors.Is(err, errOutgrown) {
			renewed = v.repo.store.place(err).Error()
		}
	}
	got, err := v.renew(ctx, target, scope)
	got.Was = was
	var wrong *wrongCommit
	if err == nil || errors.As(err, &wrong) {
		got.Renewed = renewed
	}
	return got, err
}

// errOutgrown is a store that is better fetched anew than added to.
var errOutgrown = errors.New("store has outgrown its use")

// errHopeless is what no other way of fetching helps against.
var errHopeless = errors.New("the commit can't be had")

// healable tells whether a fresh store may help: something is missing or broken
// in the one at hand, or the server does not want to build on it. It does not help
// against a server that can't be reached, or a transfer that breaks off: to begin
// again with all of it would make that worse.
func healable(ctx context.Context, err error) bool {
	var wrong *wrongCommit
	var broken *brokenOff
	var remote *remoteError
	if ctx.Err() != nil || errors.As(err, &wrong) || errors.As(err, &broken) || errors.Is(err, errHopeless) {
		return false
	}
	for _, curable := range []error{errOutgrown, errMissing, errCorrupt} {
		if errors.Is(err, curable) {
			return true
		}
	}
	return errors.As(err, &remote)
}

// wrongCommit is a commit that is here, and what is wrong in it.
type wrongCommit struct{ error }

func (e *wrongCommit) Unwrap() error { return e.error }

// readFrom reads a commit from a store in force, to which it adds what is
// missing.
func (v *Visit) readFrom(ctx context.Context, h *holding, target Target, scope Scope) (Reading, error) {
	next := h.state
	if !h.has(plumbing.NewHash(target.Commit)) {
		if h.grown() {
			return Reading{}, errOutgrown
		}
		lean, err := v.fetchCommit(ctx, h, target, plumbing.NewHash(h.state.Commit))
		if err != nil {
			return Reading{}, err
		}
		next.Partial = next.Partial || lean
	}
	got, err := v.complete(ctx, h, target.Commit, scope)
	if err != nil {
		return got, err
	}
	if next.Commit = got.Commit.Hash; next != h.state {
		err = h.note(next)
	}
	return got, err
}

// renew reads a commit from a store of its own, and puts that in force.
func (v *Visit) renew(ctx context.Context, target Target, scope Scope) (Reading, error) {
	h, err := v.repo.store.create()
	if err != nil {
		return Reading{}, fmt.Errorf("make a folder for what is fetched in %s: %w", v.repo.store.dir, bare(err))
	}
	got, err := v.fill(ctx, h, target, scope)
	var wrong *wrongCommit
	if err != nil && !errors.As(err, &wrong) {
		h.discard()
		return got, err
	}
	// A commit in which something is wrong stays here too: looking at it again
	// must not mean fetching it again.
	if swapErr := v.repo.store.swap(h); swapErr != nil {
		h.discard()
		return got, errors.Join(err, fmt.Errorf("put what was fetched into %s: %w", v.repo.store.dir, bare(swapErr)))
	}
	h.close()
	return got, err
}

// fill fetches a commit into an empty store. A server that leaves contents out
// and then does not give them is asked for all at once.
func (v *Visit) fill(ctx context.Context, h *holding, target Target, scope Scope) (Reading, error) {
	lean, err := v.fetchCommit(ctx, h, target, plumbing.ZeroHash)
	if err != nil {
		return Reading{}, err
	}
	got, err := v.complete(ctx, h, target.Commit, scope)
	if lean && err != nil && healable(ctx, err) {
		v.repo.whole = true
		if lean, err = v.fetchCommit(ctx, h, target, plumbing.ZeroHash); err != nil {
			return Reading{}, err
		}
		got, err = v.complete(ctx, h, target.Commit, scope)
	}
	note := state{URL: v.repo.at.shown, Commit: got.Commit.Hash, Partial: lean, First: h.size}
	return got, errors.Join(err, h.note(note))
}

// complete reads a commit whose folders are here, and fetches the contents that
// are not.
func (v *Visit) complete(ctx context.Context, h *holding, commit string, scope Scope) (Reading, error) {
	c, err := h.commit(ctx, commit)
	got := Reading{Commit: c}
	if err != nil {
		return got, inCommit(err)
	}
	w := &walk{h: h, scope: scope, limits: v.repo.cfg.Limits}
	if err := w.files(ctx, c.tree); err != nil {
		return got, inCommit(err)
	}
	if missing := w.lacks(); len(missing) > 0 {
		if err := v.fetchContents(ctx, h, missing); err != nil {
			return got, err
		}
	}
	if got.Files, err = w.read(ctx); err != nil {
		return got, inCommit(err)
	}
	return got, nil
}

// inCommit tells what is wrong in a commit from what is wrong with the store.
func inCommit(err error) error {
	if errors.Is(err, errMissing) || errors.Is(err, errCorrupt) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &wrongCommit{err}
}

// fetchCommit fetches one commit without its history, contents left out if the
// server can do that.
func (v *Visit) fetchCommit(ctx context.Context, h *holding, target Target, have plumbing.Hash) (lean bool, err error) {
	said, err := v.hello(ctx)
	if err != nil {
		return false, err
	}
	lean = said.lean() && !v.repo.whole
	err = v.fetch(ctx, h, wish{want: []plumbing.Hash{target.want}, have: have, depth: 1, lean: lean})
	var remote *remoteError
	if target.Ref == "" && errors.As(err, &remote) && strings.Contains(remote.text, "not our ref") {
		return false, v.searchCommit(ctx, h, target.Commit, remote)
	}
	return lean, err
}

// fetchContents fetches files by their names. Version 0 gives none.
func (v *Visit) fetchContents(ctx context.Context, h *holding, files []plumbing.Hash) error {
	said, err := v.hello(ctx)
	if err != nil {
		return err
	}
	if !said.v2 {
		return fmt.Errorf("object %s: %w", files[0], errMissing)
	}
	return v.fetch(ctx, h, wish{want: files})
}
