package sources

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/podstead/podstead/durable"
)

// goodSet is the last good set of a source: per file the bytes as received of
// the version in force.
type goodSet struct {
	Place  string   // as configured, without credentials
	Single bool     // the place was one file
	Folder identity // of the folder that the set came from
	// Revision and Mark are those of a polled source's one unit, whose files the
	// Units are.
	Revision string
	Mark     mark
	Units    []goodUnit
	// Pods are the full names of a polled source's pods: the guard knows by them
	// what there was, even when a unit can't be read back.
	Pods []string
	// Taken is when the set was put in force. Time alone is no reason to save.
	Taken time.Time
}

// goodUnit is one file of a last good set.
type goodUnit struct {
	Name string // in the folder, or in the commit with its path
	Data []byte
	sum  digest
}

// full is the whole digest, as the index names files.
func (d digest) full() string { return "sha256:" + hex.EncodeToString(d[:]) }

func newGoodUnit(name string, data []byte) goodUnit {
	return goodUnit{Name: name, Data: data, sum: sha256.Sum256(data)}
}

// same compares content by digest.
func (s goodSet) same(o goodSet) bool {
	return s.Place == o.Place && s.Single == o.Single && s.Folder == o.Folder &&
		s.Revision == o.Revision && maps.Equal(s.Mark, o.Mark) && s.sameUnits(o)
}

func (s goodSet) sameUnits(o goodSet) bool {
	return slices.EqualFunc(s.Units, o.Units, func(a, b goodUnit) bool { return a.Name == b.Name && a.sum == b.sum })
}

// The versions of the layout on disk. An agent does not read, and does not
// overwrite, one that it does not know; it writes the oldest that holds the set,
// so that the agent before it can read it too.
const (
	filesFormat  = 1 // of a folder
	polledFormat = 2 // with revision and mark
)

func (s goodSet) format() int {
	if s.Revision == "" && len(s.Mark) == 0 {
		return filesFormat
	}
	return polledFormat
}

// goodIndex is the file that makes a set of the unit files beside it. It is
// replaced in one step, so that a set is there as a whole or not at all.
type goodIndex struct {
	Format   int         `json:"format"`
	Place    string      `json:"place"`
	Single   bool        `json:"single,omitempty"`
	Folder   identity    `json:"folder"`
	Revision string      `json:"revision,omitempty"`
	Mark     mark        `json:"mark,omitempty"`
	Pods     []string    `json:"pods,omitempty"`
	Taken    time.Time   `json:"taken,omitzero"`
	Units    []indexUnit `json:"units"`
}

type indexUnit struct {
	Name     string `json:"name"`
	Revision string `json:"revision"` // sha256:<64 hex>, the file's name in units/
}

// goodStore keeps a source's last good set in a folder of its own:
//
//	lastgood/index.json     the set
//	lastgood/units/<hex>    bytes as received, named by their SHA-256
//
// A save writes the units that are new, then the index, then drops units that
// nothing names any more: killed at any instant it leaves the old set or the new
// one. One goroutine uses a store.
type goodStore struct {
	root  string
	write func(path string, data []byte) error // atomic; replaced in tests
	// onDisk are the unit files that are known to be whole.
	onDisk map[digest]bool
	// aside is set when the folder holds something that is not ours to overwrite.
	aside bool
}

func newGoodStore(dir string) *goodStore {
	return &goodStore{root: filepath.Join(dir, "lastgood"), write: writeFile, onDisk: map[digest]bool{}}
}

func (s *goodStore) index() string { return filepath.Join(s.root, "index.json") }

func (s *goodStore) unit(sum digest) string {
	return filepath.Join(s.root, "units", hex.EncodeToString(sum[:]))
}

// load reads the set, as durable as it is read: what an earlier life had written
// and not synced is synced first. What can't be read is left out and named in errs; without
// a set on disk it returns an empty one.
func (s *goodStore) load() (set goodSet, errs []error) {
	if err := durable.Settle(s.root, filepath.Dir(s.root), filepath.Dir(filepath.Dir(s.root))); err != nil {
		errs = append(errs, fmt.Errorf("read last good set %s: %w", s.index(), err))
	}
	data, err := os.ReadFile(s.index())
	if errors.Is(err, fs.ErrNotExist) {
		return goodSet{}, errs
	}
	var index goodIndex
	if err == nil {
		err = json.Unmarshal(data, &index)
	}
	if err == nil && (index.Format < filesFormat || index.Format > polledFormat) {
		err = fmt.Errorf("format %d is not known here", index.Format)
	}
	if err != nil {
		s.aside = true
		return goodSet{}, []error{fmt.Errorf("read last good set %s: %w", s.index(), err)}
	}
	set = goodSet{
		Place: index.Place, Single: index.Single, Folder: index.Folder,
		Revision: index.Revision, Mark: index.Mark, Pods: index.Pods, Taken: index.Taken,
	}
	for _, u := range index.Units {
		unit, err := s.loadUnit(u)
		if err != nil {
			errs = append(errs, fmt.Errorf("read last good version of %s: %w", u.Name, err))
			continue
		}
		set.Units = append(set.Units, unit)
	}
	return set, errs
}

func (s *goodStore) loadUnit(u indexUnit) (goodUnit, error) {
	var want digest
	word, ok := strings.CutPrefix(u.Revision, "sha256:")
	raw, err := hex.DecodeString(word)
	if !ok || err != nil || len(raw) != len(want) {
		return goodUnit{}, fmt.Errorf("bad revision %q", u.Revision)
	}
	copy(want[:], raw)
	data, err := os.ReadFile(s.unit(want))
	if err != nil {
		return goodUnit{}, err
	}
	if sha256.Sum256(data) != want {
		return goodUnit{}, fmt.Errorf("%s is corrupt", s.unit(want))
	}
	s.onDisk[want] = true
	return goodUnit{Name: u.Name, Data: data, sum: want}, nil
}

// save replaces the set on disk. When it fails, or ctx ends, the old one is
// still there.
func (s *goodStore) save(ctx context.Context, set goodSet) error {
	if s.gone() {
		s.onDisk = map[digest]bool{}
	}
	if err := s.prepare(); err != nil {
		return fmt.Errorf("save last good set: %w", err)
	}
	index := goodIndex{
		Format: set.format(), Place: set.Place, Single: set.Single, Folder: set.Folder,
		Revision: set.Revision, Mark: set.Mark, Pods: set.Pods, Taken: set.Taken.UTC(), Units: []indexUnit{},
	}
	wanted := map[digest]bool{}
	for _, u := range set.Units {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("save last good set: %w", err)
		}
		if err := s.saveUnit(u); err != nil {
			return fmt.Errorf("save last good version of %s: %w", u.Name, err)
		}
		wanted[u.sum] = true
		index.Units = append(index.Units, indexUnit{Name: u.Name, Revision: u.sum.full()})
	}
	data, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return fmt.Errorf("save last good set: %w", err)
	}
	if err := s.write(s.index(), append(data, '\n')); err != nil {
		return fmt.Errorf("save last good set: %w", err)
	}
	s.prune(wanted)
	return nil
}

// gone is true when there is no set on disk, safe to ask beside a save. Somebody
// may have removed what was there.
func (s *goodStore) gone() bool {
	_, err := os.Lstat(s.index())
	return errors.Is(err, fs.ErrNotExist)
}

// lossOf is what is to be told of errors of load; "" for none.
func lossOf(errs []error) string {
	switch len(errs) {
	case 0:
		return ""
	case 1:
		return "its last good set is lost: " + errs[0].Error()
	}
	return fmt.Sprintf("its last good set is lost: %v (and %d faults more)", errs[0], len(errs)-1)
}

// prepare makes the folders, and moves aside what it must not overwrite.
func (s *goodStore) prepare() error {
	if s.aside {
		if err := os.Rename(s.root, freeName(s.root+".unreadable")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.aside = false
	}
	return durable.MkdirAll(filepath.Join(s.root, "units"), 0o700)
}

func (s *goodStore) saveUnit(u goodUnit) error {
	if s.onDisk[u.sum] {
		return nil
	}
	if err := s.write(s.unit(u.sum), u.Data); err != nil {
		return err
	}
	s.onDisk[u.sum] = true
	return nil
}

// prune removes unit files that the index does not name: old versions, and what
// a save left that was cut short. One that can't be removed is tried again by
// the next save.
func (s *goodStore) prune(wanted map[digest]bool) {
	files, err := os.ReadDir(filepath.Join(s.root, "units"))
	if err != nil {
		return
	}
	keep := map[string]bool{}
	for sum := range wanted {
		keep[hex.EncodeToString(sum[:])] = true
	}
	for _, f := range files {
		if !keep[f.Name()] {
			_ = os.Remove(filepath.Join(s.root, "units", f.Name()))
		}
	}
	s.onDisk = wanted
}

// freeName is path, with a number if that is taken.
func freeName(path string) string {
	name := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
		name = fmt.Sprintf("%s-%d", path, n)
	}
}

// writeFile puts data at path in one step that outlasts a power cut. On an error,
// the same at each try, path is untouched.
func writeFile(path string, data []byte) error { return durable.WriteFile(path, data, 0o600) }
