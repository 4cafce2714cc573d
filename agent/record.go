package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/durable"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/sources"
)

// recordVersion is raised when an older podstead could misread a record.
const recordVersion = 1

// Record is what a pod ran as, and why: pods/<uid>/pod.json under root-dir. The
// engine says what runs; the record says the rest, over agent restarts, prunes
// and reboots. A lost record costs no container.
type Record struct {
	Version int `json:"version"`
	// Pod as run: defaulted and identified.
	Pod     *v1.Pod         `json:"pod"`
	Written json.RawMessage `json:"written,omitempty"`
	Origin  sources.Origin  `json:"origin"`
	// Started is the pod's status.startTime.
	Started  time.Time      `json:"started"`
	History  plan.History   `json:"history"`
	Stopping *Stopping      `json:"stopping,omitempty"`
	Finished *plan.Finished `json:"finished,omitempty"`
	Act      *Act           `json:"act,omitempty"`
	// View names what the pod sees of objects, which objects.json beside it holds.
	View viewMark `json:"view,omitzero"`
}

// Stopping is written before the first signal, so that a pod whose end has
// begun ends, whatever happens to the agent.
type Stopping struct {
	Since   plan.Moment   `json:"since"`
	Grace   time.Duration `json:"grace"`
	Reason  string        `json:"reason"`
	Message string        `json:"message,omitempty"`
}

// pod returns the record as the update that it once came from.
func (r Record) pod() sources.Pod {
	place := manifests.Place{Unit: cmp.Or(r.Origin.File, r.Origin.Unit), Document: r.Origin.Document, Line: r.Origin.Line}
	return sources.Pod{Pod: manifests.Pod{Pod: r.Pod, Written: r.Written, Place: place}, Origin: r.Origin}
}

// Records is the folder of pod records.
type Records struct {
	dir   string
	write func(path string, data []byte, mode fs.FileMode) error
}

// NewRecords returns the records under root-dir. It touches nothing.
func NewRecords(rootDir string) *Records {
	return &Records{dir: filepath.Join(rootDir, "pods"), write: durable.WriteFile}
}

func (r *Records) path(uid string) string { return filepath.Join(r.dir, uid, "pod.json") }

// Save makes the record durable.
func (r *Records) Save(rec Record) error {
	rec.Version = recordVersion
	data, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("save record of pod %s: %w", rec.Pod.UID, err)
	}
	path := r.path(string(rec.Pod.UID))
	if err := durable.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("save record of pod %s: %w", rec.Pod.UID, err)
	}
	if err := r.write(path, data, 0o600); err != nil {
		return fmt.Errorf("save record of pod %s: %w", rec.Pod.UID, err)
	}
	return nil
}

// Delete forgets a pod: its record and its directory, which must be empty by
// then. Gone is success. What was removed of the pod before is so for good first:
// without a record nobody would look for what a power cut brought back.
func (r *Records) Delete(uid string) error {
	if err := durable.Settle(filepath.Join(r.dir, uid)); err != nil {
		return fmt.Errorf("delete record of pod %s: %w", uid, err)
	}
	if err := durable.Remove(r.path(uid)); err != nil {
		return fmt.Errorf("delete record of pod %s: %w", uid, err)
	}
	if err := os.Remove(filepath.Join(r.dir, uid)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete directory of pod %s: %w", uid, err)
	}
	return nil
}

// Load reads all records, as durable as they are read: what an earlier life had
// written and not synced is synced first, and the directory that it had left
// behind empty is removed. Those that cannot be used (damaged, or of a newer
// podstead) are left where they are and named in the joined error.
func (r *Records) Load() ([]Record, error) {
	entries, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load pod records: %w", err)
	}
	var records []Record
	faults := []error{durable.Settle(r.dir)}
	for _, entry := range entries {
		dir := filepath.Join(r.dir, entry.Name())
		faults = append(faults, durable.Settle(dir))
		rec, err := r.load(entry.Name())
		switch {
		case errors.Is(err, fs.ErrNotExist):
			// Its record went first: its worker was killed while reclaiming, or a power
			// cut undid the last step. One that holds something stays.
			_ = os.Remove(dir)
		case err != nil:
			faults = append(faults, fmt.Errorf("load record of pod %s: %w", entry.Name(), err))
		default:
			records = append(records, rec)
		}
	}
	return records, errors.Join(faults...)
}

func (r *Records) load(uid string) (Record, error) {
	data, err := os.ReadFile(r.path(uid))
	if err != nil {
		return Record{}, err
	}
	var rec Record
	if err := json.Unmarshal(data, &rec); err != nil {
		return Record{}, err
	}
	switch {
	case rec.Version > recordVersion:
		return Record{}, fmt.Errorf("version %d is newer than this podstead's %d", rec.Version, recordVersion)
	case rec.Pod == nil || string(rec.Pod.UID) != uid:
		return Record{}, errors.New("it is not this pod's")
	}
	return rec, nil
}
