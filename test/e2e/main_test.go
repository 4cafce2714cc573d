//go:build e2e

package e2e

import (
	"flag"
	"os"
	"testing"

	"github.com/podstead/podstead/test/rig"
)

// program is the podstead under test.
var program string

// TestMain gives the tests room: they mostly wait for the engine, so that more
// of them run at once than there are processors.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", "4") // a number, and a flag of every test
	}
	os.Exit(rig.Main(m, &program))
}
