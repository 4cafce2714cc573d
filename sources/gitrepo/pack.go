package gitrepo

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// Bounds of a pack, whatever is configured.
const (
	maxObjects = 500_000
	// maxObject is the size of an object that is held in memory: one that is
	// read, or that others are told as differences from. What needs a larger one
	// is left out of the index.
	maxObject = 32 << 20
	// maxHeld bounds the objects that are held at once while differences of
	// differences are followed.
	maxHeld = 64 << 20
)

// entry is one object of a pack. Entries are many, and kept small.
type entry struct {
	offset int64
	hash   plumbing.Hash
	crc    uint32
	// child and sibling list the entries that are told as differences from this
	// one, by their number plus one; 0 ends a list.
	child, sibling int32
	kind           plumbing.ObjectType // as stored, until known
	root           bool                // stored whole
	known          bool                // what object it is
}

// indexer finds out which objects a pack holds, without holding them: git's
// names are digests, so that every object must be read, and those told as
// differences computed.
type indexer struct {
	scan    *packfile.Scanner
	entries []entry
	waiting map[plumbing.Hash][]int32 // what is told as a difference from a name
	held    int64
	nested  int // calls of branch that are under way
}

// lookup finds an object that is not in the pack at hand.
type lookup func(context.Context, plumbing.Hash) (plumbing.ObjectType, []byte, error)

// indexPack reads a pack from its beginning and returns its index. What it tells
// as differences from objects of other packs is looked up there. ctx ends it.
func indexPack(ctx context.Context, pack *os.File, elsewhere lookup) (*idxfile.MemoryIndex, error) {
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	x := &indexer{scan: packfile.NewScanner(pack), waiting: map[plumbing.Hash][]int32{}}
	_, count, err := x.scan.Header()
	switch {
	case err != nil:
		return nil, badPack(ctx, err)
	case count > maxObjects:
		return nil, fmt.Errorf("%w of %d objects for what is fetched at once", errLimit, maxObjects)
	}
	for range count {
		if err := x.list(ctx); err != nil {
			return nil, badPack(ctx, err)
		}
	}
	sum, err := x.scan.Checksum()
	if err != nil {
		return nil, badPack(ctx, err)
	}
	for i := range x.entries {
		if err := x.follow(ctx, int32(i)); err != nil {
			return nil, badPack(ctx, err)
		}
	}
	if err := x.borrow(ctx, elsewhere); err != nil {
		return nil, badPack(ctx, err)
	}
	return x.index(sum)
}

// errPack is what a server sent that is no pack.
var errPack = errors.New("what the server sends can't be read")

func badPack(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", errPack, err)
}

// list notes the next object.
func (x *indexer) list(ctx context.Context) error {
	header, err := x.scan.NextObjectHeader()
	if err != nil {
		return err
	}
	e := entry{offset: header.Offset, kind: header.Type, root: !header.Type.IsDelta()}
	at := int32(len(x.entries))
	switch header.Type {
	case plumbing.OFSDeltaObject:
		base, found := slices.BinarySearchFunc(x.entries, header.OffsetReference, func(e entry, offset int64) int {
			return int(min(max(e.offset-offset, -1), 1))
		})
		if !found {
			return errors.New("an object is told as a difference from nothing")
		}
		e.sibling, x.entries[base].child = x.entries[base].child, at+1
	case plumbing.REFDeltaObject:
		x.waiting[header.Reference] = append(x.waiting[header.Reference], at)
	}
	hasher := plumbing.NewHasher(header.Type, header.Length)
	size, crc, err := x.scan.NextObject(whileGoing(ctx, hasher))
	switch {
	case err != nil:
		return err
	case size != header.Length:
		return errors.New("an object is shorter than it says")
	}
	e.crc = crc
	if e.root {
		e.hash, e.known = hasher.Sum(), true
	}
	x.entries = append(x.entries, e)
	return nil
}

// follow computes everything that is told as differences from one whole object.
func (x *indexer) follow(ctx context.Context, i int32) error {
	if !x.entries[i].root {
		return nil
	}
	x.adopt(i)
	if x.entries[i].child == 0 {
		return nil
	}
	_, data, err := inflate(ctx, x.scan, x.entries[i].offset, maxObject)
	if errors.Is(err, errTooLarge) {
		return nil
	}
	if err != nil {
		return err
	}
	return x.expand(ctx, i, data)
}

// borrow computes what is told as differences from objects of other packs. What
// is not there either is left out.
func (x *indexer) borrow(ctx context.Context, elsewhere lookup) error {
	for _, hash := range slices.Collect(maps.Keys(x.waiting)) {
		kind, data, err := elsewhere(ctx, hash)
		if err != nil {
			continue
		}
		base := int32(len(x.entries)) // not of this pack, and so never known here
		x.entries = append(x.entries, entry{kind: kind, hash: hash})
		x.adopt(base)
		if err := x.expand(ctx, base, data); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// expand computes what is told as differences from an object, and what is told
// as differences from that. The last in a row replaces its base in memory, so
// that a long chain takes no more than a short one.
func (x *indexer) expand(ctx context.Context, i int32, data []byte) error {
	for i >= 0 {
		next, nextData := int32(-1), []byte(nil)
		for child := x.entries[i].child; child != 0; child = x.entries[child-1].sibling {
			if err := x.branch(ctx, next, nextData, int64(len(data))); err != nil {
				return err
			}
			next = -1
			out, err := x.apply(ctx, child-1, data)
			if errors.Is(err, errTooLarge) {
				continue
			}
			if err != nil {
				return err
			}
			e := &x.entries[child-1]
			e.kind, e.hash, e.known = x.entries[i].kind, plumbing.ComputeHash(x.entries[i].kind, out), true
			x.adopt(child - 1)
			if e.child != 0 {
				next, nextData = child-1, out
			}
		}
		i, data = next, nextData
	}
	return nil
}

// branch expands an object while its base stays in memory. No more of them wait
// than there are differences of differences that could be read.
func (x *indexer) branch(ctx context.Context, i int32, data []byte, base int64) error {
	if i < 0 || x.held+base > maxHeld || x.nested >= maxDepth {
		return nil
	}
	x.held, x.nested = x.held+base, x.nested+1
	defer func() { x.held, x.nested = x.held-base, x.nested-1 }()
	return x.expand(ctx, i, data)
}

// adopt makes those that wait for an object's name its children.
func (x *indexer) adopt(i int32) {
	e := &x.entries[i]
	for _, child := range x.waiting[e.hash] {
		x.entries[child].sibling, e.child = e.child, child+1
	}
	delete(x.waiting, e.hash)
}

func (x *indexer) apply(ctx context.Context, i int32, base []byte) ([]byte, error) {
	_, delta, err := inflate(ctx, x.scan, x.entries[i].offset, maxObject)
	if err != nil {
		return nil, err
	}
	return patch(base, delta, maxObject)
}

func (x *indexer) index(sum plumbing.Hash) (*idxfile.MemoryIndex, error) {
	var w idxfile.Writer
	if err := w.OnHeader(uint32(len(x.entries))); err != nil {
		return nil, err
	}
	for _, e := range x.entries {
		if e.known {
			w.Add(e.hash, uint64(e.offset), e.crc)
		}
	}
	if err := w.OnFooter(sum); err != nil {
		return nil, err
	}
	return w.Index()
}

// errTooLarge is an object beyond the limit it is read with.
var errTooLarge = errors.New("object is too large")

// inflate reads what is stored at an offset of a pack.
func inflate(ctx context.Context, scan *packfile.Scanner, offset, limit int64) (*packfile.ObjectHeader, []byte, error) {
	header, err := scan.SeekObjectHeader(offset)
	if err != nil {
		return nil, nil, err
	}
	if header.Length > limit {
		return header, nil, errTooLarge
	}
	data := make([]byte, 0, header.Length)
	size, _, err := scan.NextObject(whileGoing(ctx, writer(func(p []byte) (int, error) {
		data = append(data, p...)
		return len(p), nil
	})))
	if err == nil && size != header.Length {
		err = errors.New("an object is shorter than it says")
	}
	return header, data, err
}

// patch applies a difference whose result is not larger than limit.
func patch(base, delta []byte, limit int64) ([]byte, error) {
	_, n := binary.Uvarint(delta) // the base's size
	if n <= 0 {
		return nil, packfile.ErrInvalidDelta
	}
	size, m := binary.Uvarint(delta[n:])
	switch {
	case m <= 0:
		return nil, packfile.ErrInvalidDelta
	case size > uint64(limit):
		return nil, errTooLarge
	}
	return packfile.PatchDelta(base, delta)
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// whileGoing passes on what is written until ctx ends.
func whileGoing(ctx context.Context, w io.Writer) io.Writer {
	return writer(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return w.Write(p)
	})
}
