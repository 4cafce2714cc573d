package sources

import (
	"errors"
	"fmt"
	"slices"
)

// Member is a configured source as the Merger knows it.
type Member struct {
	Name string
	// ObjectsFrom names sources in which its pods' references are looked up, in
	// this order, after its own.
	ObjectsFrom []string
	// Key is that of its Spec: what the source said under another Key does not
	// count as its answer. "" where no Gatherer runs it.
	Key string
}

func names(members []Member) []string {
	all := make([]string, len(members))
	for i, m := range members {
		all[i] = m.Name
	}
	return all
}

// member is the member of that name, nil if there is none.
func member(members []Member, name string) *Member {
	i := slices.IndexFunc(members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &members[i]
}

// checkMembers lists all that is wrong with a list of sources.
func checkMembers(members []Member) error {
	var errs []error
	for i, m := range members {
		if m.Name == "" {
			errs = append(errs, errors.New("a source has no name"))
		}
		if member(members[:i], m.Name) != nil {
			errs = append(errs, fmt.Errorf("source %s is configured twice", m.Name))
		}
		for _, other := range m.ObjectsFrom {
			if member(members, other) == nil {
				errs = append(errs, fmt.Errorf("source %s takes objects from %q, which is no source", m.Name, other))
			}
		}
	}
	return errors.Join(errs...)
}

// configure puts a new list of sources in force. Those that are not on it any
// more and have spoken are retired: they stay, behind all others in the order
// that they had, until every configured source has answered. Whoever could look
// into them for objects still can, as long as they are there.
func (l *ledger) configure(members []Member) {
	listed, before := l.members, slices.Concat(l.members, l.retired)
	l.members, l.retired = slices.Clone(members), nil
	var gone []string
	for name := range l.newest {
		if member(members, name) == nil && member(before, name) == nil {
			gone = append(gone, name)
		}
	}
	for _, m := range before {
		_, spoke := l.newest[m.Name]
		switch {
		case member(members, m.Name) != nil:
		case spoke:
			l.retired = append(l.retired, m)
		default:
			gone = append(gone, m.Name)
		}
	}
	l.forget(gone)
	for i, m := range l.members {
		if was := member(before, m.Name); was != nil {
			l.members[i].ObjectsFrom = l.lingering(m.ObjectsFrom, was.ObjectsFrom)
		}
		if _, spoke := l.newest[m.Name]; spoke && member(listed, m.Name) == nil {
			delete(l.states, m.Name) // the receiver has forgotten it
			l.owe(m.Name)
		}
	}
	l.owe(reread)
}

// lingering is now, and behind it what was seen before and is retired.
func (l *ledger) lingering(now, before []string) []string {
	all := slices.Clone(now)
	for _, name := range before {
		if member(l.retired, name) != nil && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
