package gitrepo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// store is the folder of what was fetched:
//
//	current/<n>.pack, <n>.idx   objects
//	current/state.json          what they are of
//	new-*, old-*                being fetched, being removed
//
// It is a cache. A pack counts once its index is there, and an object only when
// its content has its name; whatever is wrong ends with current being fetched
// anew and swapped in.
type store struct {
	dir    string
	limits Limits
}

// state is what the objects of a store are of.
type state struct {
	Format  int    `json:"format"`
	URL     string `json:"url"`     // without credentials
	Commit  string `json:"commit"`  // read last; complete as far as Partial says
	Partial bool   `json:"partial"` // contents out of scope are missing
	First   int64  `json:"first"`   // bytes of the first fetch
}

const storeFormat = 1

// Bounds of a store that grows by what changed: beyond them it is fetched anew.
const (
	maxPacks  = 40
	maxGrowth = 2       // times its first size
	minGrowth = 1 << 20 // bytes below which growth does not matter
)

// holding is an open store.
type holding struct {
	dir   string
	state state
	packs []*pack
	size  int64
}

type pack struct {
	file  *os.File
	scan  *packfile.Scanner
	index *idxfile.MemoryIndex
}

// inStore is an error that happened in the store: its text names the folder alone,
// since what is in it gets another name at each try.
type inStore struct {
	error
	text string
}

func (e *inStore) Error() string { return e.text }
func (e *inStore) Unwrap() error { return e.error }

// place gives an error of what is in the store a text that stays the same.
func (s store) place(err error) error {
	if err == nil {
		return nil
	}
	inside := regexp.MustCompile(regexp.QuoteMeta(filepath.Clean(s.dir)) + `/[^\s:]+`)
	return &inStore{err, inside.ReplaceAllLiteralString(err.Error(), s.dir)}
}

func (s store) current() string { return filepath.Join(s.dir, "current") }

// sweep removes what an agent that was killed left.
func (s store) sweep() {
	for _, pattern := range []string{"new-*", "old-*"} {
		left, _ := filepath.Glob(filepath.Join(s.dir, pattern)) // the pattern is good
		for _, path := range left {
			_ = os.RemoveAll(path)
		}
	}
}

// create makes an empty holding that swap will put in force.
func (s store) create() (*holding, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.dir, "new-")
	if err != nil {
		return nil, err
	}
	return &holding{dir: dir}, nil
}

// swap puts h in the place of what was there. Killed in between, nothing is
// there, and it is fetched anew.
func (s store) swap(h *holding) error {
	old, err := os.MkdirTemp(s.dir, "old-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(old)
	err = os.Rename(s.current(), filepath.Join(old, "current"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(h.dir, s.current()); err != nil {
		return err
	}
	h.dir = s.current()
	return nil
}

// open opens what is there. An error says why it can't be used; nothing being
// there is none.
func (s store) open(url string) (*holding, error) {
	h := &holding{dir: s.current()}
	data, err := os.ReadFile(filepath.Join(h.dir, "state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &h.state)
	}
	switch {
	case err != nil:
		return nil, err
	case h.state.Format != storeFormat:
		return nil, fmt.Errorf("format %d is not known here", h.state.Format)
	case h.state.URL != url:
		return nil, errors.New("it is of another repository")
	}
	indexes, err := filepath.Glob(filepath.Join(h.dir, "*.idx"))
	for _, index := range indexes {
		if err == nil {
			err = h.load(strings.TrimSuffix(index, ".idx"))
		}
	}
	if err != nil {
		h.close()
		return nil, err
	}
	h.tidy()
	return h, nil
}

// load opens a pack and its index.
func (h *holding) load(base string) error {
	f, err := os.Open(base + ".idx")
	if err != nil {
		return err
	}
	defer f.Close()
	index := idxfile.NewMemoryIndex()
	if err := idxfile.NewDecoder(f).Decode(index); err != nil {
		return fmt.Errorf("read an index: %w", err)
	}
	data, err := os.Open(base + ".pack")
	if err != nil {
		return err
	}
	return h.hold(data, index)
}

func (h *holding) hold(data *os.File, index *idxfile.MemoryIndex) error {
	info, err := data.Stat()
	if err != nil {
		return errors.Join(err, data.Close())
	}
	h.size += info.Size()
	h.packs = append(h.packs, &pack{file: data, scan: packfile.NewScanner(data), index: index})
	return nil
}

// tidy removes packs that a fetch which was cut short left without an index.
func (h *holding) tidy() {
	packs, _ := filepath.Glob(filepath.Join(h.dir, "*.pack")) // the pattern is good
	for _, path := range packs {
		if _, err := os.Stat(strings.TrimSuffix(path, ".pack") + ".idx"); errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(path)
		}
	}
}

func (h *holding) close() {
	if h == nil {
		return
	}
	for _, p := range h.packs {
		_ = p.file.Close() // it was only read
	}
	h.packs = nil
}

// discard closes a holding that is not to be used.
func (h *holding) discard() {
	h.close()
	_ = os.RemoveAll(h.dir)
}

// grown tells whether it is time to fetch everything anew.
func (h *holding) grown() bool {
	return len(h.packs) >= maxPacks || h.size > max(maxGrowth*h.state.First, minGrowth)
}

// add takes a pack that fill writes, and indexes it.
func (h *holding) add(ctx context.Context, fill func(io.Writer) error) error {
	file, err := os.CreateTemp(h.dir, "*.pack") // mode 0600
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(file.Name(), ".pack")
	index, err := h.write(ctx, file, base+".idx", fill)
	if err != nil {
		_ = file.Close()
		_ = os.Remove(file.Name()) // or else it is tidied up later
		return err
	}
	return h.hold(file, index)
}

func (h *holding) write(ctx context.Context, file *os.File, indexPath string, fill func(io.Writer) error) (*idxfile.MemoryIndex, error) {
	if err := fill(file); err != nil {
		return nil, err
	}
	index, err := indexPack(ctx, file, func(ctx context.Context, hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
		return h.object(ctx, hash, maxObject)
	})
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(indexPath, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = idxfile.NewEncoder(out).Encode(index)
	if err = errors.Join(err, out.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(indexPath))
	}
	return index, nil
}

// note writes down what the store is of now.
func (h *holding) note(s state) error {
	s.Format = storeFormat
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	path := filepath.Join(h.dir, "state.json")
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	h.state = s
	return os.Rename(path+".new", path)
}
