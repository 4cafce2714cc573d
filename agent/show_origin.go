package agent

import (
	"fmt"
	"strings"

	"github.com/podstead/podstead/sources"
)

// showOrigin is where a pod comes from, for people.
func showOrigin(o sources.Origin) string {
	if place := showPlace(o); place != "" {
		return place + " (source " + o.Source + ")"
	}
	return "source " + o.Source
}

// showPlace is where in its source a pod comes from; empty when that is not known.
func showPlace(o sources.Origin) string {
	if o.File == "" {
		return o.Unit
	}
	place := o.File
	if o.Line > 0 {
		place = fmt.Sprintf("%s:%d", o.File, o.Line)
	}
	if o.Revision != "" {
		place += " at " + shortRevision(o.Revision)
	}
	return place
}

// shortRevision cuts a commit to what people call it by.
func shortRevision(revision string) string {
	const short, whole = 7, 40
	if len(revision) < whole || strings.Trim(revision, "0123456789abcdef") != "" {
		return revision
	}
	return revision[:short]
}
