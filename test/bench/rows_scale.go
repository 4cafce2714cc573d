package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

// wake is the benchmark of package agent on the fake engine; its sub-benchmarks
// are named by the number of pods.
const wake = "BenchmarkEditWakesWorker"

var (
	benchLine = regexp.MustCompile(`(?m)^` + wake + `/(?:pods=)?(\d+)\S*\s+\d+\s+(.*)$`)
	metric    = regexp.MustCompile(`([\d.e+]+) (\S+)`)
)

// measureScale runs the agent's own benchmark: no engine, so nothing of an
// engine in the figure.
func measureScale(ctx context.Context, _ *lab) (result, error) {
	out, err := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^"+wake+"$", "-count", "1", "./agent").CombinedOutput()
	if err != nil {
		return result{}, fmt.Errorf("run the agent's benchmark: %w: %s", err, out)
	}
	values, err := parseScale(string(out))
	return result{values: values, note: "fake engine, mean over the benchmark's runs"}, err
}

// parseScale takes time and engine calls out of the lines of `go test -bench`.
func parseScale(out string) ([]value, error) {
	var values []value
	for _, line := range benchLine.FindAllStringSubmatch(out, -1) {
		for _, m := range metric.FindAllStringSubmatch(line[2], -1) {
			n, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				return nil, err
			}
			switch m[2] {
			case "ns/op":
				values = append(values, value{line[1] + " pods", n / 1e6, "ms", 2})
			case "calls/op":
				values = append(values, value{line[1] + " pods", n, "engine calls", -1})
			}
		}
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("no line of %s in: %s", wake, out)
	}
	return values, nil
}
