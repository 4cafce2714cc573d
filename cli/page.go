package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// page writes what `podstead describe` shows: labels with their values beside
// them, in kubectl's layout. Values may come from anybody's manifest.
type page struct{ w *tabwriter.Writer }

func newPage(out io.Writer) page { return page{tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)} }

// line writes a label and its value; level is how deep it stands.
func (p page) line(level int, label string, value any) {
	fmt.Fprintf(p.w, "%s%s:\t%s\n", indent(level), OneLine(label), OneLine(fmt.Sprint(value)))
}

// head writes a label alone.
func (p page) head(level int, label string) {
	fmt.Fprintf(p.w, "%s%s:\n", indent(level), OneLine(label))
}

// text writes a line without a label.
func (p page) text(level int, text string) {
	fmt.Fprintf(p.w, "%s%s\n", indent(level), OneLine(text))
}

// row writes cells that are aligned with those of the rows around them.
func (p page) row(level int, cells ...string) {
	for i, c := range cells {
		cells[i] = OneLine(c)
	}
	fmt.Fprintf(p.w, "%s%s\n", indent(level), strings.Join(cells, "\t"))
}

// list writes values below each other, the first beside the label; <none> for none.
func (p page) list(level int, label string, values []string) {
	if len(values) == 0 {
		values = []string{"<none>"}
	}
	for i, v := range values {
		if i == 0 {
			p.line(level, label, v)
			continue
		}
		p.row(level, "", v)
	}
}

// pairs writes labels or annotations, sorted.
func (p page) pairs(level int, label, between string, pairs map[string]string) {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		lines = append(lines, key+between+pairs[key])
	}
	p.list(level, label, lines)
}

func indent(level int) string { return strings.Repeat("  ", level) }

// at is a time as kubectl writes it.
func at(t time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return t.Format(time.RFC1123Z)
}
