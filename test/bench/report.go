package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// report is what is kept of a bench, in the order of the rows.
type report struct {
	Machine rig.Machine      `json:"machine"`
	Rows    map[string]*line `json:"rows"`
}

// line is one measured row.
type line struct {
	Title    string       `json:"title"`
	Goal     string       `json:"goal"`
	Met      bool         `json:"met"`
	When     time.Time    `json:"when"`
	Podstead string       `json:"podstead"` // version
	Pairs    int          `json:"pairs,omitempty"`
	OursMS   *interval    `json:"oursMs,omitempty"`
	BareMS   *interval    `json:"bareMs,omitempty"`
	Ratio    *interval    `json:"ratio,omitempty"`
	OffsetMS float64      `json:"offsetMs,omitempty"`
	Values   []value      `json:"values,omitempty"`
	Note     string       `json:"note,omitempty"`
	Samples  [][2]float64 `json:"samplesMs,omitempty"` // ours, bare
}

func newReport(m rig.Machine) *report {
	return &report{Machine: m, Rows: map[string]*line{}}
}

// load takes up rows measured before, if it was the same machine and engine:
// figures of different ones do not share a table.
func (r *report) load(file string) error {
	if !readable(file) {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before := newReport(rig.Machine{})
	if err := json.Unmarshal(data, before); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	if before.Machine == r.Machine {
		r.Rows = before.Rows
	}
	return nil
}

func (r *report) add(row row, res result, version string) {
	l := &line{
		Title: row.title, Goal: row.goal, When: time.Now().UTC().Truncate(time.Second), Podstead: version,
		Values: res.values, Note: res.note, Met: true,
	}
	for _, v := range res.values {
		l.Met = l.Met && v.ok()
	}
	if len(res.pairs) > 0 {
		l.compare(res)
	}
	r.Rows[row.name] = l
}

// compare fills in what pairs give.
func (l *line) compare(res result) {
	var ours, bare, ratios []float64
	for _, p := range res.pairs {
		ours = append(ours, ms(p.ours))
		bare = append(bare, ms(p.bare))
		ratios = append(ratios, float64(p.ours-res.offset)/float64(p.bare))
		l.Samples = append(l.Samples, [2]float64{ms(p.ours), ms(p.bare)})
	}
	o, b, q := estimate(ours), estimate(bare), estimate(ratios)
	l.Pairs, l.OursMS, l.BareMS, l.Ratio, l.OffsetMS = len(res.pairs), &o, &b, &q, ms(res.offset)
	l.Met = l.Met && q.Median <= res.limit
}

// ms is a duration in milliseconds, to the microsecond.
func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// cells are a row of the table: measured, podstead, bare, result, goal, met.
func (l *line) cells() []string {
	ours, bare, got := "", "", ""
	if l.Ratio != nil {
		ours, bare = fmt.Sprintf("%.0f ms", l.OursMS.Median), fmt.Sprintf("%.0f ms", l.BareMS.Median)
		got = fmt.Sprintf("%.2f [%.2f, %.2f], n = %d", l.Ratio.Median, l.Ratio.Low, l.Ratio.High, l.Pairs)
	}
	var figures []string
	for _, v := range l.Values {
		figures = append(figures, strings.TrimSpace(fmt.Sprintf("%s %s %s", v.Name, number(v.Value), v.Unit)))
	}
	if len(figures) > 0 {
		got = strings.Join(figures, "; ")
	}
	met := "no"
	if l.Met {
		met = "yes"
	}
	return []string{l.Title, ours, bare, got, l.Goal, met}
}

func number(f float64) string {
	if f == float64(int64(f)) {
		return fmt.Sprintf("%d", int64(f))
	}
	return fmt.Sprintf("%.3g", f)
}

// versions of podstead in the table; one, when all rows were run together.
func (r *report) versions() string {
	seen := map[string]bool{}
	for _, l := range r.Rows {
		seen[l.Podstead] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), ", ")
}

var heads = []string{"measure", "podstead", "bare", "result", "goal", "met"}

// print writes the table for a terminal.
func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n%s\n\n", r.Machine, r.versions())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.ToUpper(strings.Join(heads, "\t")))
	for _, row := range rows() {
		if l, ok := r.Rows[row.name]; ok {
			fmt.Fprintln(t, strings.Join(l.cells(), "\t"))
		}
	}
	t.Flush()
}

// markdown is the table for the documentation.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s, with %s.\n\n", r.Machine, r.versions())
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(heads, " | "), strings.Repeat("---|", len(heads)))
	var notes []string
	for _, row := range rows() {
		l, ok := r.Rows[row.name]
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(l.cells(), " | "))
		if l.Note != "" {
			notes = append(notes, fmt.Sprintf("- %s: %s.", l.Title, l.Note))
		}
	}
	if len(notes) > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(notes, "\n"))
	}
	return b.String()
}

// save writes the results and, between its markers, the document's table.
func (r *report) save(file, doc string) error {
	if file != "" {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	if doc == "" {
		return nil
	}
	return rig.PutTable(doc, "bench", r.markdown())
}
