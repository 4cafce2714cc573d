package manifests

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"maps"
	"slices"
)

// digest is over all that a reader can see, each part led by its length:
// kind, type, whether it is immutable, then the values of data and of
// binaryData, each led by their number, with their keys in order.
func (o *Object) digest() Digest {
	h := sha256.New()
	w := framedHash{h}
	w.text(o.Ref().Kind)
	if o.ConfigMap != nil {
		w.text("")
		w.flag(o.ConfigMap.Immutable)
		writeValues(w, o.ConfigMap.Data)
		writeValues(w, o.ConfigMap.BinaryData)
	} else {
		w.text(string(o.Secret.Type))
		w.flag(o.Secret.Immutable)
		writeValues(w, o.Secret.Data)
	}
	return Digest(h.Sum(nil))
}

type framedHash struct{ hash.Hash }

func (w framedHash) number(n int) { // a hash returns no errors
	_, _ = w.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

func (w framedHash) text(s string) {
	w.number(len(s))
	_, _ = io.WriteString(w, s)
}

func (w framedHash) flag(b *bool) {
	if b != nil && *b {
		w.number(1)
		return
	}
	w.number(0)
}

func writeValues[V string | []byte](w framedHash, values map[string]V) {
	w.number(len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		w.text(key)
		w.number(len(values[key]))
		_, _ = w.Write([]byte(values[key]))
	}
}
