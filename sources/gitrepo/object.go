package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// maxDepth is git's own limit of differences of differences.
const maxDepth = 4095

// errMissing is an object that the store does not hold.
var errMissing = errors.New("object is missing")

// object reads an object of at most limit bytes and checks that it is the one
// named.
func (h *holding) object(ctx context.Context, hash plumbing.Hash, limit int64) (plumbing.ObjectType, []byte, error) {
	p, offset := h.find(hash)
	if p == nil {
		return 0, nil, fmt.Errorf("object %s: %w", hash, errMissing)
	}
	kind, data, err := h.at(ctx, p, offset, limit, 0)
	switch {
	case ctx.Err() != nil:
		return 0, nil, ctx.Err()
	case errors.Is(err, errTooLarge) && p.intact(ctx, hash, offset):
	case err != nil:
		err = fmt.Errorf("%w: %w", errCorrupt, err)
	case plumbing.ComputeHash(kind, data) != hash:
		err = errCorrupt
	default:
		return kind, data, nil
	}
	return 0, nil, fmt.Errorf("object %s: %w", hash, err)
}

// errCorrupt is an object whose content has another name; errMalformed one that
// has its name and is still not what it should be.
var (
	errCorrupt   = errors.New("what was fetched is corrupt")
	errMalformed = errors.New("is malformed")
)

// intact tells whether an object that is too large to be read is stored as it
// was, size and all.
func (p *pack) intact(ctx context.Context, hash plumbing.Hash, offset int64) bool {
	want, err := p.index.FindCRC32(hash)
	if err != nil {
		return false
	}
	if _, err = p.scan.SeekObjectHeader(offset); err != nil {
		return false
	}
	_, sum, err := p.scan.NextObject(whileGoing(ctx, io.Discard))
	return err == nil && sum == want
}

// at reads the object at an offset of a pack. What it is told as a difference
// from may be larger than limit.
func (h *holding) at(ctx context.Context, p *pack, offset, limit int64, depth int) (plumbing.ObjectType, []byte, error) {
	if depth > maxDepth {
		return 0, nil, errCorrupt
	}
	header, err := p.scan.SeekObjectHeader(offset)
	if err != nil {
		return 0, nil, err
	}
	if !header.Type.IsDelta() {
		_, data, err := inflate(ctx, p.scan, offset, limit)
		return header.Type, data, err
	}
	// The base first: no difference is held while those before it are read.
	kind, base, err := h.base(ctx, p, header, depth)
	if err != nil {
		return 0, nil, err
	}
	_, delta, err := inflate(ctx, p.scan, offset, maxObject)
	if err != nil {
		return 0, nil, err
	}
	data, err := patch(base, delta, limit)
	return kind, data, err
}

// base reads what an object is told as a difference from: in the same pack, or,
// where it is named, in another.
func (h *holding) base(ctx context.Context, p *pack, header *packfile.ObjectHeader, depth int) (plumbing.ObjectType, []byte, error) {
	if header.Type == plumbing.OFSDeltaObject {
		return h.at(ctx, p, header.OffsetReference, maxObject, depth+1)
	}
	other, offset := h.find(header.Reference)
	if other == nil {
		return 0, nil, errMissing
	}
	return h.at(ctx, other, offset, maxObject, depth+1)
}

// find tells where the store says that it holds an object; nil for nowhere.
func (h *holding) find(hash plumbing.Hash) (*pack, int64) {
	for _, p := range h.packs {
		if offset, err := p.index.FindOffset(hash); err == nil {
			return p, offset
		}
	}
	return nil, 0
}

func (h *holding) has(hash plumbing.Hash) bool {
	p, _ := h.find(hash)
	return p != nil
}

// node is one entry of a tree.
type node struct {
	mode string // octal, as git writes it
	name string
	hash plumbing.Hash
}

// The modes of entries that are no plain files.
const (
	modeTree    = "40000"
	modeLink    = "120000"
	modeGitlink = "160000"
)

// parseTree takes a tree apart: "<mode> <name>\0<20 bytes>", again and again.
func parseTree(data []byte) ([]node, error) {
	var nodes []node
	for len(data) > 0 {
		mode, rest, ok := bytes.Cut(data, []byte(" "))
		name, rest, found := bytes.Cut(rest, []byte{0})
		if !ok || !found || len(rest) < len(plumbing.Hash{}) {
			return nil, fmt.Errorf("a folder of the commit %w", errMalformed)
		}
		n := node{mode: string(mode), name: string(name)}
		copy(n.hash[:], rest)
		nodes, data = append(nodes, n), rest[len(n.hash):]
	}
	return nodes, nil
}
