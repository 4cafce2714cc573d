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
	mu     sync.Mutex
	live   bool // the event stream is up
	marks  uint64
	asking map[string]uint64 // the newest inspection under way, by container, unless an event made it stale
	kept   map[string]detail
}

// detail is what an inspection told, of a sandbox or of a container.
type detail struct {
	state     runtime.State
	sandbox   runtime.Sandbox
	container runtime.Container
}

// watched says whether the event stream is up from now on; what was kept, or is
// being asked for, is forgotten either way.
func (d *details) watched(live bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live, d.asking, d.kept = live, map[string]uint64{}, map[string]detail{}
}

// forget drops a container of which an event has come.
func (d *details) forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.kept, id)
	delete(d.asking, id)
}

// get returns what is kept of a container that a list shows in the given state,
// and the mark that a new inspection is to be put under.
func (d *details) get(id string, state runtime.State) (found detail, ok bool, mark uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if found, ok = d.kept[id]; ok && found.state == state {
		return found, true, 0
	}
	if d.live {
		d.marks++
		d.asking[id] = d.marks
	}
	return detail{}, false, d.marks
}

// put keeps an inspection that began at the mark, unless an event of the container
// has come since. A created container is not kept: a start that fails changes it
// without an event.
func (d *details) put(id string, what detail, mark uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if newest, asked := d.asking[id]; !asked || newest != mark {
		return
	}
	delete(d.asking, id)
	if what.state == runtime.StateRunning || what.state == runtime.StateExited {
		d.kept[id] = what
	}
}
