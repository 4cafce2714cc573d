package powercut

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
)

// Cut is one power cut: at which step, and what becomes of what was not synced.
type Cut struct {
	Step   int
	Fate   Fate
	Number int        // among those of its test
	Chance *rand.Rand // for the fate, and for what else a test leaves to chance
}

func (c Cut) String() string { return fmt.Sprintf("cut %d, step %d, %s", c.Number, c.Step, c.Fate) }

// Cuts spreads n cuts over the steps 1 to steps and over all fates. With n above
// steps × fates each comes again, with other chances; with no steps all are of
// step 0, which never comes. Chances depend on nothing but POWERCUT_SEED, so that
// a cut can be made again.
func Cuts(n, steps int) []Cut {
	seed := uint64(setting("POWERCUT_SEED", 1))
	fates := Fates()
	cuts := make([]Cut, n)
	for i := range cuts {
		// Fates take turns, and each goes over the steps in strides that fit its share.
		turn, share := i/len(fates), (n+len(fates)-1)/len(fates)
		chance := rand.New(rand.NewPCG(seed, uint64(i)))
		step := min(steps, 1+turn%max(steps, 1))
		if share < steps {
			step = 1 + turn*steps/share + chance.IntN(steps/share)
		}
		cuts[i] = Cut{Step: min(step, steps), Fate: fates[i%len(fates)], Number: i + 1, Chance: chance}
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
