package manifests

import (
	"cmp"
	"slices"
	"strings"
)

// telling collects what is to be told of one document.
type telling struct {
	doc      Document
	opts     Options
	warnings []Fault
	faults   []Fault
}

func (s *telling) place(f typeFault) Fault {
	return Fault{
		Place:   Place{Unit: s.doc.Place.Unit, Document: s.doc.Place.Document, Line: f.line, Column: f.column, Field: f.path},
		Message: f.message,
	}
}

func (s *telling) fault(f typeFault) { s.faults = append(s.faults, s.place(f)) }
func (s *telling) warn(f typeFault)  { s.warnings = append(s.warnings, s.place(f)) }

// sort puts what is told in the order of its places.
func (s *telling) sort() {
	for _, faults := range [][]Fault{s.warnings, s.faults} {
		slices.SortStableFunc(faults, func(a, b Fault) int {
			return cmp.Or(cmp.Compare(a.Place.Line, b.Place.Line), cmp.Compare(a.Place.Column, b.Place.Column))
		})
	}
}

func (s *telling) tellTypes() {
	for _, f := range s.doc.faults {
		if f.lenient && s.opts.Warn {
			f.message += ": ignored"
			s.warn(f)
			continue
		}
		s.fault(f)
	}
}

// tellChecked tells what the check of fields and annotations has found, all that
// a server had set in one warning.
func (s *telling) tellChecked(c supportCheck) {
	for _, f := range c.refused {
		s.fault(f)
	}
	if len(c.ignored) == 0 {
		return
	}
	var names []string
	for _, f := range c.ignored {
		names = append(names, f.path)
	}
	first := c.ignored[0]
	first.message = "ignored, for the node decides it: " + strings.Join(names, ", ")
	first.path = ""
	s.warn(first)
}
