package powercut

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Cut is one power cut: at which step, and what becomes of what was not synced.
type Cut struct {
	Step   int
	Fate   Fate
	Seed   uint64
	Chance *rand.Rand // for the fate, and for what else a test leaves to chance
}

func (c Cut) String() string { return fmt.Sprintf("step %d, %s, seed %d", c.Step, c.Fate, c.Seed) }

// Cuts spreads n cuts over the steps 1 to steps and over all fates. With n above
// steps × fates each combination comes again with other chances. Chances depend
// on nothing but POWERCUT_SEED, so that a cut can be made again.
func Cuts(n, steps int) []Cut {
	seed := uint64(setting("POWERCUT_SEED", 1))
	fates := Fates()
	cuts := make([]Cut, n)
	for i := range cuts {
		// Fates take turns; each walks over the steps in strides that fit its share.
		share, turn := (n+len(fates)-1)/len(fates), i/len(fates)
		step := turn%steps + 1
		if share < steps {
			step = turn*steps/share + 1 + i%len(fates)*steps/n
		}
		s := seed<<32 | uint64(i)
		cuts[i] = Cut{Step: min(step, steps), Fate: fates[i%len(fates)], Seed: s, Chance: rand.New(rand.NewPCG(s, 0))}
	}
	return cuts
}

// Number is how many cuts a test makes in all: CUTS from the environment, or its
// own number, which suits `make test`.
func Number(short int) int { return setting("CUTS", short) }

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// Rest says why a test stops here: what it works with has no power any more. Call
// it with the error of a step, which without power is none of the test's.
func (d *Disk) Rest(t testing.TB, err error) (stop bool) {
	t.Helper()
	if err != nil && !d.Out() {
		t.Fatal(err)
	}
	return err != nil
}
