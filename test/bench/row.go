package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// row is one line of the table: a name for the command line, what is measured,
// what it must reach, and how.
type row struct {
	name    string
	title   string
	goal    string
	measure func(context.Context, *lab) (result, error)
}

// rows in the order of the table.
func rows() []row {
	return []row{
		{"drop", "manifest dropped → process running", "≤ 1.05 × bare", measureDrop},
		{"restart", "process killed → running again", "≤ 1.1 × bare", measureRestart},
		{"thirty", "30 manifests at once → all running", "≤ 1.1 × bare", measureThirty},
		{"edit", "edit: old process gone → new one running", "≤ 0.5 × bare start", measureEdit},
		{"editport", "the same with a shared host port", "≤ 1.4 × bare start", measureEditPort},
		{"remove", "manifest removed → process gone (less 100 ms)", "≤ 1.3 × bare kill", measureRemove},
		{"reboot", "engine ready → 30 last good pods running", "≤ 1.1 × bare", measureReboot},
		{"idle", "30 idle pods: a core's share, engine calls", "≤ 0.05 %, no calls", measureIdle},
		{"resync", "30 idle pods: engine calls of a resync", "1 list each", measureResync},
		{"memory", "agent with 30 pods, 200 replacements", "≤ 60 MiB, flat", measureMemory},
		{"adopt", "agent restarted → 30 pods adopted", "≤ 500 ms, no write", measureAdopt},
		{"push", "push to git, webhook → process running", "≤ 1.3 × the same by a file", measurePush},
		{"poll", "poll of an unchanged repository with 20,000 refs", "1 request, ≤ 4 kB, ≤ 5 ms of CPU, no write, flat", measurePoll},
		{"large", "first sync: 20,000 files, 300 MB of history, 50 manifests", "≤ 100 MiB over idle, disk ≤ 3 × pack", measureLarge},
		{"objects", "200 pods, 1,000 objects: ConfigMap changed → file in the container", "≤ 200 ms", measureObjects},
		{"offline", "start with every remote source down → 10 last good pods running", "as fast as by files (≤ 1.1 ×)", measureOffline},
		{"scale", "1,000 pods: snapshot with one edit → worker woken", "≤ 2 ms", measureScale},
	}
}

func rowNames() []string {
	var names []string
	for _, r := range rows() {
		names = append(names, r.name)
	}
	return names
}

// choose returns the rows that a comma-separated list names.
func choose(list string) ([]row, error) {
	if list == "all" || list == "" {
		return rows(), nil
	}
	known := map[string]row{}
	for _, r := range rows() {
		known[r.name] = r
	}
	var chosen []row
	for name := range strings.SplitSeq(list, ",") {
		r, ok := known[strings.TrimSpace(name)]
		if !ok {
			return nil, fmt.Errorf("no row %q: there are %s", name, strings.Join(rowNames(), ", "))
		}
		chosen = append(chosen, r)
	}
	return chosen, nil
}

// result is what measuring a row gave.
type result struct {
	pairs  []pair
	offset time.Duration // taken off ours before the ratio is formed
	limit  float64       // the ratio's goal
	values []value
	note   string
}

// pair is one measurement of each side, made one after the other.
type pair struct{ ours, bare time.Duration }

// value is a figure without a counterpart.
type value struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Limit float64 `json:"limit"` // at most; negative for a figure without a goal
}

func (v value) ok() bool { return v.Limit < 0 || v.Value <= v.Limit }

// side measures one thing once.
type side func(context.Context) (time.Duration, error)

// takeTurns measures both sides n times. Which one goes first alternates, so
// that a machine that grows slower or faster favours neither. The engine is
// quiet before each.
func takeTurns(ctx context.Context, l *lab, n int, ours, bare side) ([]pair, error) {
	var pairs []pair
	for i := range n {
		var p pair
		steps := []func() error{
			func() (err error) { p.ours, err = l.calm(ctx, ours); return },
			func() (err error) { p.bare, err = l.calm(ctx, bare); return },
		}
		if i%2 == 1 {
			steps[0], steps[1] = steps[1], steps[0]
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return nil, fmt.Errorf("pair %d: %w", i+1, err)
			}
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}
