package docker

import (
	"sync"

	"github.com/podstead/podstead/runtime"
)

// details keeps what inspections told of containers, as long as nothing can
// have changed: the event stream is up, no event of the container has come
// since, and a list still shows the state it was in. So a pod that is looked at
// because one of its containers ended costs one inspection, not one for each
// container it has.
type details struct {
	mu    sync.Mutex
	live  bool   // the event stream is up
	event uint64 // counts what may have made an inspection stale
	kept  map[string]detail
}

// detail is what an inspection told, of a sandbox or of a container.
type detail struct {
	state     runtime.State
	sandbox   runtime.Sandbox
	container runtime.Container
}

// watched says whether the event stream is up from now on; what was kept is
// forgotten either way.
func (d *details) watched(live bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live, d.kept = live, map[string]detail{}
	d.event++
}

// forget drops a container of which an event has come.
func (d *details) forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.kept, id)
	d.event++
}

// get returns what is kept of a container that a list shows in the given state,
// and the mark that a new inspection is to be put under.
func (d *details) get(id string, state runtime.State) (found detail, ok bool, mark uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, ok = d.kept[id]
	return found, ok && found.state == state, d.event
}

// put keeps an inspection that began at the mark, unless an event has come
// since. A created container is not kept: a start that fails changes it without
// an event.
func (d *details) put(id string, what detail, mark uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	steady := what.state == runtime.StateRunning || what.state == runtime.StateExited
	if d.live && steady && d.event == mark {
		d.kept[id] = what
	}
}
