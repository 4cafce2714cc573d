package gitrepo

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"os"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// holdingOf is a store of one pack.
func holdingOf(t *testing.T, p *packer) *holding {
	t.Helper()
	data, err := os.ReadFile(p.finish(t).Name())
	if err != nil {
		t.Fatal(err)
	}
	h := &holding{dir: t.TempDir()}
	t.Cleanup(h.close)
	if err := h.add(t.Context(), func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
		t.Fatal(err)
	}
	return h
}

// folder adds a tree and returns its name.
func (p *packer) folder(entries ...[]byte) plumbing.Hash {
	data := bytes.Join(entries, nil)
	p.add(plumbing.TreeObject, len(data), nil, data)
	return plumbing.ComputeHash(plumbing.TreeObject, data)
}

func inFolder(mode, name string, hash plumbing.Hash) []byte {
	return append([]byte(mode+" "+name+"\x00"), hash[:]...)
}

// A few bytes of a pack can be folders with names of any length in each other,
// and hidden ones that nobody would see.
func TestFoldersThatWouldFillTheMemory(t *testing.T) {
	long := strings.Repeat("n", 300)
	for _, tt := range []struct {
		name string
		make func(*packer) plumbing.Hash
		want string // "" for what can be read
	}{
		{"long names in each other", func(p *packer) plumbing.Hash {
			tree := p.folder(inFolder("100644", "a.yaml", plumbing.ZeroHash))
			for range 20 {
				tree = p.folder(inFolder(modeTree, long, tree))
			}
			return tree
		}, "holds an entry whose path is longer than 4096 bytes"},
		{"as long as a path may be", func(p *packer) plumbing.Hash {
			tree := p.folder(inFolder("100644", "a.yaml", plumbing.ZeroHash))
			for range 13 {
				tree = p.folder(inFolder(modeTree, long, tree))
			}
			return tree
		}, ""},
		{"large ones side by side", func(p *packer) plumbing.Hash {
			large := p.folder(bytes.Repeat(inFolder("100644", "."+strings.Repeat("n", 3000), plumbing.ZeroHash), 100))
			return p.folder(inFolder(modeTree, "a", large), inFolder(modeTree, "b", large), inFolder(modeTree, "c", large), inFolder(modeTree, "d", large))
		}, "exceeds the limit of 33554432 bytes for the folders in scope"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPacker()
			root := tt.make(p)
			w := &walk{h: holdingOf(t, p), scope: everything(), limits: DefaultLimits(), bytes: maxTrees - 1<<20} // of those before
			err := w.files(t.Context(), root)
			if tt.want != "" {
				wantError(t, err, tt.want)
			} else if err != nil || len(w.found) != 1 {
				t.Errorf("found %d files, %v", len(w.found), err)
			}
		})
	}
}

// counting is a context whose every question is a chance to look at the memory.
type counting struct {
	context.Context //nolint:containedctx // it is one, and counts
	asked           int
	look            func()
}

func (c *counting) Err() error {
	if c.asked++; c.asked%10 == 0 {
		c.look()
	}
	return c.Context.Err()
}

// A file may be told as a difference from a difference, thousands of times, and
// each of them may be large: they are not all held at once.
func TestLongChainIsReadWithLittleMemory(t *testing.T) {
	const size, links = 128 << 10, 40
	p := newPacker()
	at := p.add(plumbing.BlobObject, size, nil, make([]byte, size))
	whole := difference(size, size)
	for range size / 64 {
		whole = append(append(whole, 64), make([]byte, 64)...)
	}
	for range links {
		at = p.add(plumbing.OFSDeltaObject, len(whole), back(int64(p.Len())-at), whole)
	}
	small := append(difference(size, 5), "\x05hello"...)
	p.add(plumbing.OFSDeltaObject, len(small), back(int64(p.Len())-at), small)
	h := holdingOf(t, p)
	before, peak := heap(), uint64(0)
	ctx := &counting{Context: t.Context(), look: func() { peak = max(peak, heap()) }}
	_, data, err := h.object(ctx, plumbing.ComputeHash(plumbing.BlobObject, []byte("hello")), 100)
	if err != nil || string(data) != "hello" {
		t.Fatalf("%q, %v", data, err)
	}
	if held := int64(peak) - int64(before); held > 16*size {
		t.Errorf("%d KiB are held", held>>10)
	}
}

func difference(from, to int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(from)), uint64(to))
}

// heap is what is in use.
func heap() uint64 {
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Two differences from each object, and two from the first of these, and so on:
// what is deeper than anything that could be read is not computed either.
func TestForkedChainEnds(t *testing.T) {
	const links = maxDepth + 500
	named := func(i int) []byte { return fmt.Appendf(nil, "%08d", i) }
	p := newPacker()
	at := p.add(plumbing.BlobObject, 8, nil, named(0))
	for i := 1; i < links; i++ {
		p.plain(at, append(difference(8, 8), "\x08anything"...))
		at = p.plain(at, append(append(difference(8, 8), 8), named(i)...))
	}
	index, err := indexPack(t.Context(), p.finish(t), nowhere)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]bool{0: true, 1: true, maxDepth - 1: true, links - 1: false} {
		_, err := index.FindOffset(plumbing.ComputeHash(plumbing.BlobObject, named(i)))
		if found := err == nil; found != want || err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
			t.Errorf("object %d: found %v, %v", i, found, err)
		}
	}
}

// plain adds a difference without compressing it, which is slow for thousands.
func (p *packer) plain(base int64, delta []byte) int64 {
	at := int64(p.Len())
	p.count++
	p.WriteByte(byte(plumbing.OFSDeltaObject)<<4 | byte(len(delta)))
	p.Write(back(at - base))
	p.Write([]byte{0x78, 0x01, 0x01, byte(len(delta)), 0, ^byte(len(delta)), 0xff})
	p.Write(delta)
	p.Write(binary.BigEndian.AppendUint32(nil, adler32.Checksum(delta)))
	return at
}

// What a server says first is kept as long as the source runs.
func TestGreetingIsBounded(t *testing.T) {
	var said pktWriter
	said.linef("version 2")
	said.linef("fetch=shallow")
	for i := range 3 {
		said.linef("x%d=%s", i, strings.Repeat("x", 30_000))
	}
	said.flush()
	if _, err := readGreeting(newPktReader(&said)); !errors.Is(err, errTooLong) {
		t.Errorf("got %v", err)
	}
}
