package sources

import (
	"cmp"
	"log/slog"
	"slices"

	"github.com/podstead/podstead/manifests"
)

// journal logs what is new in each snapshot of a source: a fault or warning
// once per version of its unit, a change of state once, what is ignored once.
type journal struct {
	log        *slog.Logger
	spoke      bool
	told       Snapshot
	units      map[string]Unit
	ignored    []string
	subfolders []string
}

func newJournal(log *slog.Logger) journal { return journal{log: log} }

// tell logs how s differs from the snapshot before.
func (j *journal) tell(s Snapshot) {
	units := make(map[string]Unit, len(s.Units))
	for _, u := range s.Units {
		units[u.Name] = u
		j.tellUnit(j.units[u.Name], u)
	}
	for name := range j.units {
		if _, stays := units[name]; !stays && len(s.Faults) == 0 {
			j.log.Info("manifest removed", "unit", name)
		}
	}
	j.tellPlace(s)
	j.spoke, j.told, j.units = true, s, units
}

func (j *journal) tellPlace(s Snapshot) {
	for _, f := range news(j.told.Faults, s.Faults) {
		what := []any{"place", f.Place.String(), "err", f.Message}
		if s.Revision == "" {
			j.log.Warn("source is in error, nothing of it is known from before", what...)
			continue
		}
		j.log.Warn("source is in error, its pods stay as they are", what...)
	}
	if s.Held != "" && s.Held != j.told.Held {
		j.log.Warn("newer state is held, the pods stay as they are", "err", s.Held)
	}
	recovered := len(s.Faults) == 0 && len(j.told.Faults) > 0
	if first := s.Live && !j.told.Live; first || recovered {
		j.log.Info("source answers", "place", s.Place, "revision", s.Revision, "units", len(s.Units), "pods", len(s.Pods))
	}
}

// tellUnit logs a version only beside the first live snapshot: that one is told
// in numbers.
func (j *journal) tellUnit(before, now Unit) {
	for _, f := range j.first(now.Name, "faults", news(before.Faults, now.Faults)) {
		what := []any{"place", f.Place.String(), "field", f.Place.Field, "err", f.Message, "revision", cmp.Or(now.Newest, now.Revision)}
		if now.Revision == "" {
			j.log.Warn("manifest is at fault, nothing of it is known from before", what...)
			continue
		}
		j.log.Warn("manifest is at fault, its last good version stays", what...)
	}
	for _, f := range j.first(now.Name, "warnings", news(before.Warnings, now.Warnings)) {
		j.log.Warn("manifest warning", "place", f.Place.String(), "field", f.Place.Field, "err", f.Message)
	}
	switch {
	case !j.told.Live || len(now.Faults) > 0:
	case before.Revision != now.Revision:
		j.log.Info("manifest taken up", "unit", now.Name, "revision", now.Revision)
	case len(before.Faults) > 0:
		j.log.Info("manifest is good again", "unit", now.Name, "revision", now.Revision)
	}
}

// toldFaults is how many faults, and how many warnings, of a version of a unit are
// logged. `podstead get sources -o wide` shows them all.
const toldFaults = 10

// first returns what is to be logged one by one, and logs how many more there are.
func (j *journal) first(unit, what string, all []manifests.Fault) []manifests.Fault {
	if len(all) <= toldFaults {
		return all
	}
	j.log.Warn("manifest has more to tell than is logged", "unit", unit, what, len(all), "logged", toldFaults)
	return all[:toldFaults]
}

// listed names what a listing left out.
func (j *journal) listed(l listing) {
	for _, name := range l.ignored {
		if !slices.Contains(j.ignored, name) {
			j.log.Debug("file is ignored: its name is not that of a manifest", "name", name)
		}
	}
	for _, name := range l.subfolders {
		if !slices.Contains(j.subfolders, name) {
			j.log.Info("subfolder is not read", "name", name)
		}
	}
	j.ignored, j.subfolders = l.ignored, l.subfolders
}

// news lists the faults that were not there before.
func news(before, now []manifests.Fault) []manifests.Fault {
	known := make(map[manifests.Fault]bool, len(before))
	for _, f := range before {
		known[f] = true
	}
	var fresh []manifests.Fault
	for _, f := range now {
		if !known[f] {
			fresh = append(fresh, f)
		}
	}
	return fresh
}
