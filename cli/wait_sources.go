package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/podstead/podstead/agent/api"
)

// sourceGoal is a condition of the source of a name, or with "" of all sources.
func sourceGoal(cond condition, name string) goal {
	return goal{kind: "source", name: name, judge: func(w sight) verdict {
		here := slices.DeleteFunc(slices.Clone(w.sources), func(s api.Source) bool { return name != "" && s.Name != name })
		if cond.word == "gone" {
			return sourcesGone(here)
		}
		if len(here) == 0 {
			_, err := selectSources(w.sources, []string{cmp.Or(name, "any")})
			return verdict{why: err.Error()}
		}
		v := verdict{met: true}
		var open []string
		for i := range here {
			if text := cond.unmet(&here[i]); text != "" {
				v.met = false
				open = append(open, text)
			}
			if name == "" {
				v.names = append(v.names, here[i].Name)
			}
		}
		v.why = strings.Join(open, "; ")
		return v
	}}
}

func sourcesGone(here []api.Source) verdict {
	if len(here) == 0 {
		return verdict{met: true}
	}
	if len(here[0].WaitsFor) > 0 {
		return verdict{why: "its pods stay until these have answered: " + strings.Join(here[0].WaitsFor, ", ")}
	}
	return verdict{why: "it is configured"}
}

// unmet says why a source does not meet the condition; "" if it does.
func (c condition) unmet(s *api.Source) string {
	switch {
	case c.word == "ready" && s.State == api.SourceReady:
		return ""
	case c.word == "revision" && c.inForce(s):
		return ""
	}
	text := "its state is " + stateText(s)
	if c.word == "revision" {
		text = "nothing of it is in force, and " + text
		if s.Revision != "" {
			text = "in force is " + ShortRevision(s.Revision) + ", and its state is " + stateText(s)
		}
	}
	if problems := sourceProblems(*s); len(problems) > 0 {
		text += ": " + strings.TrimPrefix(problems[0], "source "+s.Name+": ")
	}
	return text + suspendedWords(s)
}

// shortest is how much of a revision must be given at the least.
const shortest = 4

// inForce reports that the wanted revision is, of the source or of one of its units.
func (c condition) inForce(s *api.Source) bool {
	is := func(revision string) bool {
		_, hash, _ := strings.Cut(revision, ":")
		return revision != "" && (revision == c.revision || len(c.revision) >= shortest && (strings.HasPrefix(revision, c.revision) ||
			hash != "" && strings.HasPrefix(hash, c.revision)))
	}
	return is(s.Revision) || slices.ContainsFunc(s.Units, func(u api.Unit) bool { return is(u.Revision) })
}
