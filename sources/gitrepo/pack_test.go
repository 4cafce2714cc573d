package gitrepo

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// packer writes a pack by hand.
type packer struct {
	bytes.Buffer
	count uint32
}

func newPacker() *packer {
	p := &packer{}
	p.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x00")
	return p
}

// add writes an object and returns its offset. size is what it says that it has.
func (p *packer) add(kind plumbing.ObjectType, size int, prefix, data []byte) int64 {
	at := int64(p.Len())
	p.count++
	b := byte(kind)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		p.WriteByte(b | 0x80)
		b = byte(size & 127)
	}
	p.WriteByte(b)
	p.Write(prefix)
	z := zlib.NewWriter(p)
	_, _ = z.Write(data)
	_ = z.Close()
	return at
}

// finish returns the pack as a file.
func (p *packer) finish(t *testing.T) *os.File {
	t.Helper()
	data := p.Bytes()
	binary.BigEndian.PutUint32(data[8:], p.count)
	sum := sha1.Sum(data)
	path := filepath.Join(t.TempDir(), "x.pack")
	if err := os.WriteFile(path, append(data, sum[:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// appended is a difference that copies all of base and adds text.
func appended(base int, text string) []byte {
	d := binary.AppendUvarint(nil, uint64(base))
	d = binary.AppendUvarint(d, uint64(base+len(text)))
	d = append(d, 0x80|0x10|0x20, byte(base), byte(base>>8))
	d = append(d, byte(len(text)))
	return append(d, text...)
}

// back is how far before the object at hand its base is.
func back(distance int64) []byte {
	out := []byte{byte(distance & 127)}
	for distance >>= 7; distance > 0; distance >>= 7 {
		distance--
		out = append([]byte{byte(distance&127) | 0x80}, out...)
	}
	return out
}

func nowhere(context.Context, plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	return 0, nil, errMissing
}

func TestDifferencesOfDifferences(t *testing.T) {
	p := newPacker()
	text := "base "
	at := p.add(plumbing.BlobObject, len(text), nil, []byte(text))
	texts := []string{text}
	for range 60 { // a chain
		delta := appended(len(text), "+")
		here := int64(p.Len())
		at, text = p.add(plumbing.OFSDeltaObject, len(delta), back(here-at), delta), text+"+"
		texts = append(texts, text)
	}
	for _, more := range []string{"a", "b", "c"} { // branches, by name, before and after
		base := texts[30]
		hash := plumbing.ComputeHash(plumbing.BlobObject, []byte(base))
		delta := appended(len(base), more)
		p.add(plumbing.REFDeltaObject, len(delta), hash[:], delta)
		texts = append(texts, base+more)
	}
	file := p.finish(t)
	index, err := indexPack(t.Context(), file, nowhere)
	if err != nil {
		t.Fatal(err)
	}
	h := &holding{}
	if err := h.hold(file, index); err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		hash := plumbing.ComputeHash(plumbing.BlobObject, []byte(text))
		if _, data, err := h.object(t.Context(), hash, 1000); err != nil || string(data) != text {
			t.Errorf("read %q, %v", data, err)
		}
	}
	if n, err := index.Count(); err != nil || n != int64(len(texts)) {
		t.Errorf("%d objects are known, %v", n, err)
	}
}

func TestDifferencesFromAnotherPack(t *testing.T) {
	base := "what another pack holds "
	hash := plumbing.ComputeHash(plumbing.BlobObject, []byte(base))
	p := newPacker()
	delta := appended(len(base), "1")
	first := p.add(plumbing.REFDeltaObject, len(delta), hash[:], delta)
	delta = appended(len(base)+1, "2")
	p.add(plumbing.OFSDeltaObject, len(delta), back(int64(p.Len())-first), delta)
	file := p.finish(t)
	for _, there := range []bool{true, false} {
		index, err := indexPack(t.Context(), file, func(_ context.Context, wanted plumbing.Hash) (plumbing.ObjectType, []byte, error) {
			if !there || wanted != hash {
				return 0, nil, errMissing
			}
			return plumbing.BlobObject, []byte(base), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{base + "1", base + "12"} {
			if known, _ := index.Contains(plumbing.ComputeHash(plumbing.BlobObject, []byte(text))); known != there {
				t.Errorf("base there: %v, object known: %v", there, known)
			}
		}
	}
}

func TestPacksThatAreWrong(t *testing.T) {
	huge := binary.AppendUvarint(binary.AppendUvarint(nil, 4), 1<<40)
	for _, c := range []struct {
		name string
		pack func(p *packer)
		bad  bool // refused; otherwise the objects are left out
	}{
		{"an object longer than it says", func(p *packer) { p.add(plumbing.BlobObject, 2, nil, []byte("longer")) }, true},
		{"an object shorter than it says", func(p *packer) { p.add(plumbing.BlobObject, 100, nil, []byte("short")) }, true},
		{"a difference from nothing", func(p *packer) { p.add(plumbing.OFSDeltaObject, 4, back(5), []byte("abcd")) }, true},
		{"a difference that is nonsense", func(p *packer) {
			at := p.add(plumbing.BlobObject, 4, nil, []byte("base"))
			p.add(plumbing.OFSDeltaObject, 8, back(int64(p.Len())-at), []byte("nonsense"))
		}, true},
		{"a difference that makes a terabyte", func(p *packer) {
			at := p.add(plumbing.BlobObject, 4, nil, []byte("base"))
			p.add(plumbing.OFSDeltaObject, len(huge), back(int64(p.Len())-at), huge)
		}, false},
		{"more objects than there are", func(p *packer) { p.count++ }, true},
		{"an object of a terabyte", func(p *packer) { p.add(plumbing.BlobObject, 1<<40, nil, []byte("x")) }, true},
		{"four billion objects", func(p *packer) { p.count = 1<<32 - 1 }, true},
	} {
		p := newPacker()
		c.pack(p)
		_, err := indexPack(t.Context(), p.finish(t), nowhere)
		if (err != nil) != c.bad {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && !errors.Is(err, errPack) && !errors.Is(err, errLimit) {
			t.Errorf("%s: %v is of no kind", c.name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := newPacker()
	p.add(plumbing.BlobObject, 1<<20, nil, []byte(strings.Repeat("x", 1<<20)))
	if _, err := indexPack(ctx, p.finish(t), nowhere); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

func FuzzIndexPack(f *testing.F) {
	p := newPacker()
	at := p.add(plumbing.BlobObject, 4, nil, []byte("base"))
	delta := appended(4, "more")
	p.add(plumbing.OFSDeltaObject, len(delta), back(int64(p.Len())-at), delta)
	binary.BigEndian.PutUint32(p.Bytes()[8:], p.count)
	f.Add(p.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		sum := sha1.Sum(data)
		path := filepath.Join(t.TempDir(), "x.pack")
		if err := os.WriteFile(path, append(data, sum[:]...), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		index, err := indexPack(t.Context(), file, nowhere)
		if err != nil {
			return
		}
		entries, err := index.Entries()
		if err != nil {
			t.Fatal(err)
		}
		h := &holding{}
		if err := h.hold(file, index); err != nil {
			t.Fatal(err)
		}
		for {
			entry, err := entries.Next()
			if err != nil {
				return
			}
			if _, _, err := h.object(t.Context(), entry.Hash, maxObject); err != nil {
				t.Errorf("object %s is in the index and can't be read: %v", entry.Hash, err)
			}
		}
	})
}

func FuzzGreeting(f *testing.F) {
	f.Add([]byte("000eversion 2\n000afetch\n0000"))
	f.Add([]byte("001e# service=git-upload-pack\n0000003d0123456789abcdef0123456789abcdef01234567 HEAD\x00shallow\n0000"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = readGreeting(newPktReader(bytes.NewReader(data)))
		_, _ = readListing(newPktReader(bytes.NewReader(data)))
		_ = readPack(newPktReader(bytes.NewReader(data)), true, &bytes.Buffer{})
		_ = readPack(newPktReader(bytes.NewReader(data)), false, &bytes.Buffer{})
		_, _ = parseTree(data)
		_, _ = parseCommit(plumbing.ZeroHash, string(data))
	})
}
