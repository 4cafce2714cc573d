//go:build e2e

package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// program is the podstead under test.
var program string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "podstead-engine-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if program, err = build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build returns PODSTEAD_BIN, or a podstead built from this tree.
func build(dir string) (string, error) {
	if bin := os.Getenv("PODSTEAD_BIN"); bin != "" {
		return bin, nil
	}
	bin := filepath.Join(dir, "podstead")
	if out, err := exec.Command("go", "build", "-o", bin, "../../cmd/podstead").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build podstead: %w\n%s", err, out)
	}
	return bin, nil
}

// patience is how long a condition may take to hold. What podstead holds back
// after a failure it tries again within 15 s.
const patience = 45 * time.Second

// until asks again and again, and fails the test with the last answer when that
// never becomes nil.
func until(t *testing.T, what string, ask func() error) {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("never came: %s: %v", what, err)
		}
	}
}

// must fails the test for an error of its own tools.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
