package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Commit is what a commit says of itself.
type Commit struct {
	Hash    string
	Author  string // name
	Subject string // first line of its message, shortened
	Time    time.Time
	// AllowRemoval is true when its message ends with the trailer
	// Podstead-Allow-Removal: yes.
	AllowRemoval bool

	tree plumbing.Hash
}

const (
	maxCommit = 1 << 20 // bytes of a commit or a tag
	maxTags   = 5       // tags of tags
)

// commit reads a commit, through tags if the name is one's.
func (h *holding) commit(ctx context.Context, name string) (Commit, error) {
	hash := plumbing.NewHash(name)
	for range maxTags {
		kind, data, err := h.object(ctx, hash, maxCommit)
		if err != nil {
			return Commit{}, err
		}
		switch kind {
		case plumbing.CommitObject:
			return parseCommit(hash, string(data))
		case plumbing.TagObject:
			line, _, _ := strings.Cut(string(data), "\n")
			target, ok := strings.CutPrefix(line, "object ")
			if !ok || !plumbing.IsHash(target) {
				return Commit{}, fmt.Errorf("tag %s %w", hash, errMalformed)
			}
			hash = plumbing.NewHash(target)
		default:
			return Commit{}, fmt.Errorf("%w: %s is a %s", errNoCommit, hash, kind)
		}
	}
	return Commit{}, fmt.Errorf("%w: %s is a tag of too many tags", errNoCommit, name)
}

// errNoCommit is a name that leads to something else.
var errNoCommit = errors.New("there is no commit")

func parseCommit(hash plumbing.Hash, text string) (Commit, error) {
	head, message, _ := strings.Cut(text, "\n\n")
	c := Commit{Hash: hash.String()}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case key == "tree" && c.tree.IsZero() && plumbing.IsHash(value):
			c.tree = plumbing.NewHash(value)
		case key == "author":
			c.Author, _, _ = strings.Cut(value, " <")
			c.Author = printable(c.Author)
		case key == "committer":
			c.Time = signedAt(value)
		}
	}
	if c.tree.IsZero() {
		return Commit{}, fmt.Errorf("commit %s %w", hash, errMalformed)
	}
	first, _, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n")
	c.Subject = printable(first)
	c.AllowRemoval = allowsRemoval(message)
	return c, nil
}

// signedAt reads the time of "Name <address> 1700000000 +0100".
func signedAt(line string) time.Time {
	words := strings.Fields(line)
	if len(words) < 2 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(words[len(words)-2], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// removalTrailer lets a commit remove more than its source would let it.
const removalTrailer = "Podstead-Allow-Removal"

// allowsRemoval looks for the trailer where git has trailers: in the last
// paragraph of the message, beneath a subject, when all of it is trailers.
func allowsRemoval(message string) bool {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(message, "\r\n", "\n")), "\n")
	start := len(lines)
	for start > 0 && strings.TrimSpace(lines[start-1]) != "" {
		start--
	}
	if start == 0 {
		return false // the subject itself
	}
	allowed := false
	for _, line := range lines[start:] {
		key, value, found := strings.Cut(line, ":")
		switch {
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "(cherry picked from "):
			continue
		case !found || !isToken(key):
			return false
		}
		if strings.EqualFold(key, removalTrailer) {
			allowed = strings.EqualFold(strings.TrimSpace(value), "yes")
		}
	}
	return allowed
}

func isToken(s string) bool {
	return s != "" && !slices.ContainsFunc([]rune(s), func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
