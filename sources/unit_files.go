package sources

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/podstead/podstead/manifests"
)

// Limits of a unit of many files, beside those of each file. The number of
// faults bounds what broken files cost: reading stops with the file that
// exceeds it.
const (
	maxUnitDocuments = 10_000
	maxUnitExpanded  = 16 << 20
	maxUnitNodes     = 500_000 // in what is for this node
	maxUnitFaults    = 100
)

// unitFile is one file of a unit of many.
type unitFile struct {
	Name string // path in the unit
	Data []byte
}

// readFiles makes one version of many files, in the order given: a fault in any
// of them is the whole unit's, and all are told. Places name the file, origins
// the unit, the file and the revision. Each file is held to the reader's limits,
// all together to those of a source.
func (r unitReader) readFiles(unit, revision string, files []unitFile) *version {
	v := &version{unit: Unit{Name: unit, Revision: revision}, sum: sumFiles(files)}
	g := r.begin(v)
	if fault := g.tooLarge(files); fault != "" {
		g.blame(manifests.Fault{Place: manifests.Place{Unit: unit}, Message: fault})
		return g.end()
	}
	for i, f := range files {
		g.within = f.Name
		g.file(f.Name, f.Data)
		if fault := g.tooMuch(len(files) - i - 1); fault != "" {
			g.blame(manifests.Fault{Place: manifests.Place{Unit: unit}, Message: fault})
			break
		}
	}
	return g.end()
}

func (g *reading) tooLarge(files []unitFile) string {
	limit, total := defaultSetLimits().bytes, 0
	for _, f := range files {
		total += len(f.Data)
	}
	if total > limit {
		return fmt.Sprintf("exceeds the limit of %d bytes for the manifests of a source", limit)
	}
	return ""
}

// tooMuch says why the rest of the files is not read, "" if it is.
func (g *reading) tooMuch(rest int) string {
	limit := defaultSetLimits().pods
	switch {
	case g.documents > maxUnitDocuments:
		return fmt.Sprintf("exceeds the limit of %d documents for a source", maxUnitDocuments)
	case g.expanded > maxUnitExpanded:
		return fmt.Sprintf("exceeds the limit of %d bytes for a source, aliases expanded", maxUnitExpanded)
	case g.nodes > maxUnitNodes:
		return fmt.Sprintf("exceeds the limit of %d values and keys for what a source has for this node, aliases expanded", maxUnitNodes)
	case len(g.version.pods) > limit:
		return fmt.Sprintf("exceeds the limit of %d pods for a source", limit)
	case len(g.version.unit.Faults) > maxUnitFaults && rest > 0:
		return fmt.Sprintf("more than %d faults: %d more files are not read", maxUnitFaults, rest)
	}
	return ""
}

// sumFiles is the digest of names and contents, each led by its length.
func sumFiles(files []unitFile) digest {
	sum := sha256.New()
	add := func(s string) {
		_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
		_, _ = io.WriteString(sum, s)
	}
	for _, f := range files {
		add(f.Name)
		add(string(f.Data))
	}
	return digest(sum.Sum(nil))
}
