package sources

import (
	"errors"
	"fmt"
	"io/fs"
)

// ErrBeingWritten is of a file that some process has open for writing.
var ErrBeingWritten = errors.New(beingWritten)

// ReadWhole reads a file that nobody writes, other than manifests too; of one
// that is being written the error is ErrBeingWritten. sure is false where the
// kernel cannot tell: then who asks should see the file stand unchanged for a
// while before believing what it holds. Nothing makes it wait: what is no
// regular file is refused.
func ReadWhole(path string, limit int64) (data []byte, sure bool, err error) {
	sure = true
	l := looker{limit: limit, writers: writers}
	switch seen := l.look(path, func(stamp) bool { sure = false; return true }); seen.outcome {
	case whole:
		return seen.data, sure, nil
	case missing:
		return nil, false, fmt.Errorf("read %s: %w", path, fs.ErrNotExist)
	case writing, unsettled:
		return nil, false, fmt.Errorf("%s %w", path, ErrBeingWritten)
	default:
		return nil, false, fmt.Errorf("%s: %w", path, seen.err)
	}
}
