//go:build e2e

package engine

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// Flags of `make chaos`; without them the short form runs.
var (
	whole     = flag.Bool("chaos", false, "strike with every fault at every moment of every transition")
	chaosFile = flag.String("chaos-json", "", "write what came of each strike into this `file`")
	chaosDoc  = flag.String("chaos-doc", "", "write the table into this Markdown `file`, between its markers")
)

// cell is one fault at one moment of one transition.
type cell struct {
	f  fault
	tr transition
	m  moment
}

func (c cell) String() string { return c.f.name + "/" + c.tr.name + "/" + c.m.name }

// product is every cell of these faults.
func product(faults []fault) []cell {
	var cells []cell
	for _, f := range faults {
		for _, tr := range transitions() {
			if f.daemon && tr.once {
				continue
			}
			for _, m := range tr.moments {
				cells = append(cells, cell{f, tr, m})
			}
		}
	}
	return cells
}

// sample is a part of the product in which each fault, each transition and each
// moment comes: with every sixth cell each row of the product begins elsewhere.
func sample(cells []cell) []cell {
	var some []cell
	for i, c := range cells {
		if i%6 == 0 {
			some = append(some, c)
		}
	}
	return some
}

func TestChaos(t *testing.T) {
	t.Parallel()
	var told log
	t.Cleanup(func() { told.save(t) })
	for _, group := range []struct {
		name   string
		flags  []string
		faults []fault
	}{
		{"plain", nil, engineFaults()},
		{"live-restore", []string{"--live-restore"}, liveFaults()},
		{"untouched", nil, otherFaults()},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			d := newDockerd(t, group.flags...)
			cells := product(group.faults)
			if !*whole {
				cells = sample(cells)
			}
			for _, c := range cells {
				t.Run(c.String(), func(t *testing.T) {
					began := time.Now()
					t.Cleanup(func() { told.add(c, time.Since(began), !t.Failed()) })
					newStage(t, d.in(t), c.f, c.tr).play(c.f, c.tr, c.m)
				})
			}
		})
	}
}

// The sample leaves nothing out.
func TestTheSampleOfChaosCoversAll(t *testing.T) {
	seen := map[string]bool{}
	for _, faults := range [][]fault{engineFaults(), liveFaults(), otherFaults()} {
		for _, c := range sample(product(faults)) {
			seen[c.f.name], seen[c.tr.name], seen[c.tr.name+"/"+c.m.name] = true, true, true
		}
	}
	for _, c := range product(slices.Concat(engineFaults(), liveFaults(), otherFaults())) {
		for _, name := range []string{c.f.name, c.tr.name, c.tr.name + "/" + c.m.name} {
			if !seen[name] {
				t.Errorf("nothing tries %s", name)
				seen[name] = true
			}
		}
	}
}

// outcome is what came of one strike.
type outcome struct {
	Fault, Transition, Moment string
	Seconds                   float64
	OK                        bool
}

// log keeps outcomes.
type log struct {
	mu  sync.Mutex
	all []outcome
}

func (l *log) add(c cell, took time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, outcome{c.f.name, c.tr.name, c.m.name, took.Round(10 * time.Millisecond).Seconds(), ok})
}

func (l *log) save(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if *chaosFile != "" {
		data, err := json.MarshalIndent(l.all, "", " ")
		must(t, err)
		must(t, os.WriteFile(*chaosFile, append(data, '\n'), 0o644))
	}
	if *chaosDoc != "" {
		must(t, rig.PutTable(*chaosDoc, "chaos", table(l.all)))
	}
}

// table has a row for each fault and a column for each transition: how many of
// how many strikes came to the right end, and the median of how long that took.
func table(all []outcome) string {
	type place struct{ fault, transition string }
	cells := map[place][]outcome{}
	for _, o := range all {
		at := place{o.Fault, o.Transition}
		cells[at] = append(cells[at], o)
	}
	columns := transitions()
	var b strings.Builder
	b.WriteString("| fault |")
	for _, tr := range columns {
		fmt.Fprintf(&b, " %s |", tr.name)
	}
	fmt.Fprintf(&b, "\n|%s\n", strings.Repeat("---|", len(columns)+1))
	faults := map[string]bool{}
	for _, o := range all {
		faults[o.Fault] = true
	}
	for _, f := range slices.Sorted(maps.Keys(faults)) {
		fmt.Fprintf(&b, "| %s |", f)
		for _, tr := range columns {
			fmt.Fprintf(&b, " %s |", sum(cells[place{f, tr.name}]))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func sum(of []outcome) string {
	if len(of) == 0 {
		return "–"
	}
	slices.SortFunc(of, func(a, b outcome) int { return cmp.Compare(a.Seconds, b.Seconds) })
	good := 0
	for _, o := range of {
		if o.OK {
			good++
		}
	}
	return fmt.Sprintf("%d/%d, %.1f s", good, len(of), of[len(of)/2].Seconds)
}
