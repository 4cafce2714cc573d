// Command testreport reads `go test -json` on its standard input and prints
// what a person wants of it: go test's closing line of each package as it
// comes, everything of a test that failed, and at the end each skipped test
// with its reason and the totals. It exits 1 if anything failed or nothing ran.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	raw := flag.String("raw", "", "also write the whole plain output to this `file`")
	flag.Parse()
	os.Exit(run(*raw))
}

func run(raw string) int {
	r := newReport(os.Stdout)
	if raw != "" {
		if err := os.MkdirAll(filepath.Dir(raw), 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		f, err := os.Create(raw)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer f.Close()
		w := bufio.NewWriter(f)
		defer w.Flush()
		r.raw = w
	}
	if err := r.read(os.Stdin); err != nil {
		fmt.Fprintf(os.Stderr, "read test events: %v\n", err)
		return 1
	}
	if !r.close() {
		if raw != "" {
			fmt.Printf("whole output: %s\n", raw)
		}
		return 1
	}
	return 0
}
