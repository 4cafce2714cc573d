package agent

import (
	"time"

	"github.com/podstead/podstead/sources"
)

// orphanWait is how long the first attempts of other sources are waited for.
const orphanWait = 30 * time.Second

// sourcesView is what orphans are judged by.
type sourcesView struct {
	configured []string
	states     map[string]sources.SourceState
	running    time.Duration // since the agent began to listen
}

// isOrphan decides whether a pod that runs, and that no source wants, is to
// end. Its record names the source that wanted it; nil means no record.
//
// With a record whose source is configured: that source has spoken live, the
// record's unit is not at fault, and every other source's first attempt has
// ended, or 30 s have passed. Otherwise: once every source has spoken live.
// Until then the pod runs on, so that a slow source or a broken file never
// costs a pod, while a source that never answers holds back nobody else's.
func isOrphan(origin *sources.Origin, view sourcesView) bool {
	if origin == nil || !view.isConfigured(origin.Source) {
		return view.all(func(s sources.SourceState) bool { return s.Live })
	}
	own := view.states[origin.Source]
	if !own.Live || own.Faulty[""] || own.Faulty[origin.Unit] {
		return false
	}
	return view.running >= orphanWait || view.all(func(s sources.SourceState) bool { return s.Attempted })
}

func (v sourcesView) isConfigured(name string) bool {
	for _, configured := range v.configured {
		if configured == name {
			return true
		}
	}
	return false
}

func (v sourcesView) all(holds func(sources.SourceState) bool) bool {
	for _, name := range v.configured {
		if !holds(v.states[name]) {
			return false
		}
	}
	return true
}
