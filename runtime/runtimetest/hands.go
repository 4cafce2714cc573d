package runtimetest

import "github.com/podstead/podstead/runtime"

// Config is what a container was made from; false for what is none.
func (f *Fake) Config(id string) (runtime.ContainerConfig, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.objects[id]; o != nil && o.cfg != nil {
		return *o.cfg, true
	}
	return runtime.ContainerConfig{}, false
}

// Kill ends a process from outside, with that code.
func (f *Fake) Kill(id string, code int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.objects[id]; o != nil && o.state == runtime.StateRunning {
		f.die(o, code, "")
	}
}

// RemoveBehindBack is somebody's docker rm -f.
func (f *Fake) RemoveBehindBack(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.objects[id]; o != nil {
		f.drop(o)
	}
}

// RestartBehindBack is somebody's docker restart, or start.
func (f *Fake) RestartBehindBack(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[id]
	if o == nil {
		return
	}
	if o.state == runtime.StateRunning {
		f.die(o, 143, "")
	}
	if o.box != nil && f.plugIn(o) != nil {
		return
	}
	o.process = f.processOf(o)
	f.launch(o)
}

// Prune is somebody's docker container prune: all that does not run goes, also
// what has never run.
func (f *Fake) Prune() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.objects {
		if o.state != runtime.StateRunning {
			f.drop(o)
		}
	}
}

// Occupy lets a foreign container have the name that a pod's container (or, for
// Pause, its sandbox) would get.
func (f *Fake) Occupy(pod runtime.PodRef, container string, attempt int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names[engineName(pod, container, attempt)] = nil
}

// SetNamesakes is another agent on the engine that has this node's name.
func (f *Fake) SetNamesakes(others ...runtime.Namesake) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.namesakes = others
}
