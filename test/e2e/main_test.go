//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// program is the podstead under test.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

// run builds the program once and gives the tests room: they mostly wait for
// the engine, so that more of them run at once than there are processors.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "podstead-e2e-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if program, err = build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", "4") // a number, and a flag of every test
	}
	return m.Run()
}

// build returns PODSTEAD_BIN, or a podstead built from this tree.
func build(dir string) (string, error) {
	if bin := os.Getenv("PODSTEAD_BIN"); bin != "" {
		return bin, nil
	}
	bin := filepath.Join(dir, "podstead")
	out, err := exec.Command("go", "build", "-o", bin, "../../cmd/podstead").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build podstead: %w\n%s", err, out)
	}
	return bin, nil
}
