package gitrepo

import (
	"errors"
	"fmt"
	"time"
)

// excess is a commit that was too large to be fetched, as far as a scope wants it.
type excess struct {
	commit, scope string
	err           error
	at            time.Time
}

// excessRest is how long such a commit is not fetched again. The line may be paid
// for by the byte, but the server may also have packed it better since.
const excessRest = time.Hour

// of returns what was wrong with a commit, nil if it may be fetched.
func (e excess) of(target Target, scope Scope) error {
	if e.commit != target.Commit || e.scope != scope.key() || time.Since(e.at) >= excessRest {
		return nil
	}
	return e.err
}

// excessive tells an error of too much being sent from one of what was read.
func excessive(err error) bool {
	var wrong *wrongCommit
	return errors.Is(err, errLimit) && !errors.As(err, &wrong)
}

// key tells scopes of one Repo from each other.
func (s Scope) key() string { return fmt.Sprintf("%q %q %q", s.Paths, s.Include, s.Exclude) }
