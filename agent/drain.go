package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/durable"
)

// Drained is a node on which nothing may run, since when and by whom.
type Drained struct {
	Since time.Time `json:"since,omitzero"` // zero when that is not known any more
	By    string    `json:"by,omitempty"`
}

// String says so, and what to do; "" of nil.
func (d *Drained) String() string {
	if d == nil {
		return ""
	}
	return "the node is drained" + d.details() + "; `podstead resume` starts its pods again"
}

// cause is why something was stopped, for later.
func (d *Drained) cause() string { return "the node was drained" + d.details() }

func (d *Drained) details() (text string) {
	if !d.Since.IsZero() {
		text = " at " + d.Since.Local().Format(time.RFC3339)
	}
	if d.By != "" {
		text += " (asked for by " + d.By + ")"
	}
	return text
}

// ReadDrained returns how a root-dir is drained, nil if it is not. That its file
// is there counts; what it says is for people.
func ReadDrained(rootDir string) (*Drained, error) {
	data, err := os.ReadFile(drainPath(rootDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find out whether the node is drained: %w", err)
	}
	var d Drained
	_ = json.Unmarshal(data, &d) // half of it drains too
	return &d, nil
}

func drainPath(rootDir string) string { return filepath.Join(rootDir, "drained.json") }

// drainFile is whether the node is drained, on disk and in memory.
type drainFile struct {
	rootDir string
	write   func(path string, data []byte, mode fs.FileMode) error

	changing sync.Mutex // held over a whole change
	mu       sync.Mutex
	is       *Drained
}

// newDrainFile reads what an earlier life left.
func newDrainFile(rootDir string) (*drainFile, error) {
	is, err := ReadDrained(rootDir)
	return &drainFile{rootDir: rootDir, write: durable.WriteFile, is: is}, err
}

func (f *drainFile) get() *Drained {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.is
}

func (f *drainFile) set(d *Drained) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.is = d
}

func (f *drainFile) save(d Drained) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return f.write(drainPath(f.rootDir), append(data, '\n'), 0o600)
}

// Drained returns how the node is drained, nil if it is not.
func (a *Agent) Drained() *Drained { return a.drain.get() }

// Drain ends every pod, each with its grace period, and lets none run before
// Resume, over restarts of the agent and reboots. It returns once that is durable
// and on its way; the pods' statuses tell how far it is. A pod that is drained
// stays what it is, with its record and its volumes; its sources are read as
// before, and what they remove goes for good. by says who asks. Of a node that is
// drained already nothing changes.
func (a *Agent) Drain(by string) (Drained, error) {
	a.drain.changing.Lock()
	defer a.drain.changing.Unlock()
	if d := a.drain.get(); d != nil {
		return *d, nil
	}
	d := Drained{Since: a.deps.Clock().Wall.UTC().Truncate(time.Second), By: by}
	if err := a.drain.save(d); err != nil {
		return Drained{}, fmt.Errorf("drain node: %w; nothing was stopped", err)
	}
	a.drain.set(&d)
	a.deps.Events.Event(events.Node(a.cfg.Node.Name), v1.EventTypeNormal, events.NodeDrained, "Every pod ends and none is started: "+d.String())
	a.tellLoop()
	return d, nil
}

// Resume lets pods run again, as their sources want them now. It returns what was
// so until then, nil when the node was not drained.
func (a *Agent) Resume(by string) (*Drained, error) {
	a.drain.changing.Lock()
	defer a.drain.changing.Unlock()
	was := a.drain.get()
	if was == nil {
		return nil, nil
	}
	if err := durable.Remove(drainPath(a.cfg.RootDir)); err != nil {
		return nil, fmt.Errorf("resume node: %w; it stays drained", err)
	}
	a.drain.set(nil)
	a.deps.Events.Event(events.Node(a.cfg.Node.Name), v1.EventTypeNormal, events.NodeResumed, "Pods are started again: asked for by "+by)
	a.tellLoop()
	return was, nil
}

// tellLoop has the loop look whether the node is drained.
func (a *Agent) tellLoop() {
	select {
	case a.drains <- struct{}{}:
	default: // it has not looked yet since the last time
	}
}
