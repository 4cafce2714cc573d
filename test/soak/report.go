package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/podstead/podstead/test/rig"
)

// report is what a soak has seen.
type report struct {
	Machine      rig.Machine `json:"machine"`
	Podstead     string      `json:"podstead"`
	Replacements int         `json:"replacements"`
	Status       int         `json:"status"`
	Took         string      `json:"took"`
	Samples      []sample    `json:"samples"`
}

func newReport(ctx context.Context, o options, engine *rig.Engine) (*report, error) {
	machine, err := engine.Machine(ctx)
	if err != nil {
		return nil, err
	}
	version, err := rig.VersionOf(ctx, o.podstead)
	return &report{Machine: machine, Podstead: version, Replacements: o.replacements, Status: o.status}, err
}

// table is Markdown, which reads well on a terminal too.
func (r *report) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d replacements of a pod and %d status calls in %s on %s, with %s.\n\n", r.Replacements, r.Status, r.Took, r.Machine, r.Podstead)
	b.WriteString("| measure | first | middle | last | most | growth of the second half | may grow | flat |\n|---|---|---|---|---|---|---|---|\n")
	for _, m := range measures() {
		first, middle, last := m.of(r.Samples[0]), m.of(r.Samples[len(r.Samples)/2]), m.of(r.Samples[len(r.Samples)-1])
		most := first
		for _, s := range r.Samples {
			most = max(most, m.of(s))
		}
		flat := map[bool]string{true: "yes", false: "no"}[m.flat(r.Samples)]
		fmt.Fprintf(&b, "| %s | %.4g | %.4g | %.4g | %.4g | %.2f | %g | %s |\n",
			strings.TrimSuffix(m.name+", "+m.unit, ", "), first, middle, last, most, m.growth(r.Samples), m.may, flat)
	}
	return b.String()
}

func (r *report) print(w io.Writer) { fmt.Fprintln(w, r.table()) }

func (r *report) save(o options) error {
	if o.json != "" {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.json, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	if o.doc == "" {
		return nil
	}
	return rig.PutTable(o.doc, "soak", r.table())
}
