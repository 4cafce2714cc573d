package gitrepo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Bounds of the search for a commit that a server does not give directly.
const (
	searchDepth = 1000
	searchRefs  = 256
)

// search is what a search for a commit was done in.
type search struct {
	commit string
	refs   [sha256.Size]byte
}

// searchCommit fetches some history of the server's branches and tags to find a
// commit in it: servers of version 0 give the ends of refs only. The same search
// is not done again before the refs have changed.
func (v *Visit) searchCommit(ctx context.Context, h *holding, commit string, refusal error) error {
	refs, err := v.refs(ctx, []string{"refs/heads/", "refs/tags/"})
	if err != nil {
		return err
	}
	w := wish{depth: searchDepth}
	this, sum := search{commit: commit}, sha256.New()
	asked := map[plumbing.Hash]bool{}
	for _, r := range refs {
		line := r.hash.String() + " " + r.name + "\n"
		_, _ = sum.Write([]byte(line))
		if branchOrTag(r.name) && !asked[r.own] && len(w.want) < searchRefs {
			asked[r.own] = true
			w.want = append(w.want, r.own)
		}
	}
	this.refs = [sha256.Size]byte(sum.Sum(nil))
	notFound := fmt.Errorf("%w: the server does not give it by its name (%w), and it is not among the last %d commits of %d branches and tags",
		errHopeless, refusal, searchDepth, len(w.want))
	if len(w.want) == 0 || this == v.repo.hopeless {
		return notFound
	}
	if err := v.fetch(ctx, h, w); err != nil {
		return err
	}
	if !h.has(plumbing.NewHash(commit)) {
		v.repo.hopeless = this
		return notFound
	}
	return nil
}

func branchOrTag(name string) bool {
	return strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/tags/")
}
