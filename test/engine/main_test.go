//go:build e2e

package engine

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// program is the podstead under test.
var program string

func TestMain(m *testing.M) { os.Exit(rig.Main(m, &program)) }

// patience is how long a condition may take to hold. What podstead holds back
// after a failure it tries again within 15 s.
const patience = 45 * time.Second

// until asks again and again, and fails the test with the last answer when that
// never becomes nil.
func until(t *testing.T, what string, ask func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := rig.Until(ctx, 50*time.Millisecond, ask); err != nil {
		t.Fatalf("never came: %s: %v", what, err)
	}
}

// must fails the test for an error of its own tools.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
