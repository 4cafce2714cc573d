package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/podstead/podstead/test/rig"
)

func TestReportJudgesByTheMedian(t *testing.T) {
	at := func(ours, bare int) pair {
		return pair{time.Duration(ours) * time.Millisecond, time.Duration(bare) * time.Millisecond}
	}
	cases := []struct {
		name string
		res  result
		met  bool
	}{
		{"below the limit", result{pairs: []pair{at(100, 100), at(104, 100), at(300, 100)}, limit: 1.05}, true},
		{"above the limit", result{pairs: []pair{at(100, 100), at(106, 100), at(107, 100)}, limit: 1.05}, false},
		{"the wait is taken off first", result{pairs: []pair{at(120, 20)}, limit: 1.3, offset: 100 * time.Millisecond}, true},
		{"a value over its limit", result{values: []value{{"a", 1, "", 2}, {"b", 3, "", 2}}}, false},
		{"a value without a goal", result{values: []value{{"a", 1000, "", -1}}}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newReport(rig.Machine{})
			r.add(row{name: "x"}, c.res, "v1")
			if r.Rows["x"].Met != c.met {
				t.Errorf("met = %t, want %t", r.Rows["x"].Met, c.met)
			}
		})
	}
}

func TestSaveReplacesTheTableOnly(t *testing.T) {
	doc := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(doc, []byte("before\n"+"<!-- bench: begin -->"+"\nold\n"+"<!-- bench: end -->"+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newReport(rig.Machine{CPU: "a cpu"})
	r.add(rows()[0], result{pairs: []pair{{90 * time.Millisecond, 100 * time.Millisecond}}, limit: 1}, "v1")
	if err := r.save("", doc); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before\n", "a cpu", "0.90 [0.90, 0.90], n = 1", "<!-- bench: end -->" + "\nafter\n"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "old") {
		t.Errorf("the old table is still there:\n%s", got)
	}
}

func TestResultsOfAnotherMachineAreNotMixedIn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.json")
	before := newReport(rig.Machine{CPU: "one"})
	before.add(row{name: "drop"}, result{}, "v1")
	if err := before.save(file, ""); err != nil {
		t.Fatal(err)
	}
	for cpu, want := range map[string]int{"one": 1, "another": 0} {
		r := newReport(rig.Machine{CPU: cpu})
		if err := r.load(file); err != nil {
			t.Fatal(err)
		}
		if len(r.Rows) != want {
			t.Errorf("on %s: %d rows, want %d", cpu, len(r.Rows), want)
		}
	}
}

func TestKindOf(t *testing.T) {
	for call, want := range map[string]string{
		"GET /v1.41/containers/json":        "GET /containers/json",
		"GET /containers/0123/json":         "GET /containers/{id}/json",
		"POST /v1.41/containers/create":     "POST /containers/create",
		"DELETE /v1.41/containers/0123":     "DELETE /containers/{id}",
		"POST /v1.41/containers/0123/start": "POST /containers/{id}/start",
		"GET /v1.41/images/a/b:1/json":      "GET /images/{ref}/json",
		"GET /v1.41/events":                 "GET /events",
		"POST /v1.41/networks/create":       "POST /networks/create",
		"POST /v1.41/networks/0123/connect": "POST /networks/{id}/connect",
		"GET /v1.41/networks/podstead":      "GET /networks/{id}",
		"HEAD /_ping":                       "HEAD /_ping",
	} {
		method, path, _ := strings.Cut(call, " ")
		if got := kindOf(method, path); got != want {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
	}
}

func TestParseScale(t *testing.T) {
	out := `goos: linux
BenchmarkEditWakesWorker/pods=10-2         1000     250000 ns/op     4.000 calls/op
BenchmarkEditWakesWorker/pods=1000-2       1000    1500000 ns/op     4.000 calls/op
PASS`
	values, err := parseScale(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(values) != 4 || values[0] != (value{"10 pods", 0.25, "ms", 2}) || values[3] != (value{"1000 pods", 4, "engine calls", -1}) {
		t.Errorf("got %v", values)
	}
}
