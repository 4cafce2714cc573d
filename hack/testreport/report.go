package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// event is one line of `go test -json` (go doc test2json).
type event struct {
	Action     string
	Package    string
	ImportPath string // of build-output and build-fail
	Test       string
	Output     string
}

// key names a test, or a package's own output with an empty Test.
type key struct{ pkg, test string }

// skip is a test that did not run, and why.
type skip struct{ name, reason string }

// report collects events and tells them. One goroutine uses it.
type report struct {
	out io.Writer
	raw io.Writer

	output map[key][]string
	broken map[string]bool // packages of which something failed
	skips  []skip
	passed int
	failed int
}

func newReport(out io.Writer) *report {
	return &report{out: out, raw: io.Discard, output: map[key][]string{}, broken: map[string]bool{}}
}

// read takes events until the input ends. Lines that are no events (a compiler
// speaking past go test) are printed as they are.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) line(line string) {
	var e event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil {
		io.WriteString(r.raw, line)
		io.WriteString(r.out, line)
		return
	}
	io.WriteString(r.raw, e.Output)
	if e.Test == "" {
		r.packageEvent(e)
		return
	}
	r.testEvent(e)
}

func (r *report) packageEvent(e event) {
	k := key{pkg: e.Package}
	switch e.Action {
	case "build-output":
		io.WriteString(r.out, e.Output)
	case "output":
		r.output[k] = append(r.output[k], e.Output)
	case "fail":
		r.tellPackage(k, func(line string) bool { return line != "PASS\n" })
		if !r.broken[e.Package] { // a build, a panic outside tests, or a TestMain
			r.failed++
		}
	case "pass", "skip":
		r.tellPackage(k, func(line string) bool { return strings.HasPrefix(line, "ok ") })
	}
}

func (r *report) tellPackage(k key, wanted func(string) bool) {
	for _, line := range r.output[k] {
		if wanted(line) {
			io.WriteString(r.out, line)
		}
	}
	delete(r.output, k)
}

func (r *report) testEvent(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "output":
		r.output[k] = append(r.output[k], e.Output)
		return
	case "pass":
		r.passed++
	case "skip":
		r.skips = append(r.skips, skip{name: e.Package + " " + e.Test, reason: reason(r.output[k])})
	case "fail":
		r.failed++
		r.broken[e.Package] = true
		io.WriteString(r.out, strings.Join(r.output[k], ""))
	default:
		return
	}
	delete(r.output, k)
}

var (
	// place is what t.Skip puts before its message.
	place = regexp.MustCompile(`^\s+\S+\.go:\d+: `)
	// frame is a line of go test about a test, not by it.
	frame = regexp.MustCompile(`^\s*(=== |--- )`)
)

// reason is the last thing that a skipped test said, on one line.
func reason(lines []string) string {
	var said string
	for _, line := range lines {
		switch {
		case frame.MatchString(line):
		case place.MatchString(line):
			said = strings.TrimSpace(place.ReplaceAllString(line, ""))
		case said != "":
			said += " " + strings.TrimSpace(line)
		}
	}
	if said == "" {
		return "no reason given"
	}
	return strings.TrimSpace(said)
}

// close prints the end of the report and says whether all is well.
func (r *report) close() bool {
	if len(r.skips) > 0 {
		fmt.Fprintln(r.out, "\nSkipped:")
		for _, s := range r.skips {
			fmt.Fprintf(r.out, "  %s: %s\n", s.name, s.reason)
		}
	}
	fmt.Fprintf(r.out, "\n%d passed, %d failed, %d skipped\n", r.passed, r.failed, len(r.skips))
	return r.failed == 0 && r.passed > 0
}
