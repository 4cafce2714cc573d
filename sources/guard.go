package sources

import (
	"fmt"
	"strconv"
	"strings"
)

// removalHeld leads the text of Snapshot.Held.
const removalHeld = "RemovalHeld"

const (
	// defaultMaxRemoval is the percentage of a source's pods that a new state may
	// remove at once.
	defaultMaxRemoval = 50
	// guardedPods is the number of pods from which the percentage counts.
	guardedPods = 5
	// namedRemovals is how many of the pods to be removed are named.
	namedRemovals = 3
)

// parseMaxRemoval reads a source's maxRemoval: a percentage, "" for the default.
func parseMaxRemoval(s string) (percent int, err error) {
	if s == "" {
		return defaultMaxRemoval, nil
	}
	number, ok := strings.CutSuffix(s, "%")
	percent, err = strconv.Atoi(number)
	if !ok || err != nil || percent < 0 || percent > 100 || number != strconv.Itoa(percent) {
		return 0, fmt.Errorf("maxRemoval %q is not a percentage from 0%% to 100%%", s)
	}
	return percent, nil
}

// heldRemoval says what a set would remove if that is too much to be believed:
// all of 2 or more pods, or more than maxRemoval percent of 5 or more; "" if it
// is not. inForce has full names, each once: a pod that is replaced is not
// removed. 100 percent lets everything through.
func heldRemoval(inForce []string, next []Pod, maxRemoval int) string {
	stay := map[string]bool{}
	for _, p := range next {
		stay[p.FullName()] = true
	}
	total, removed := len(inForce), []string{}
	for _, name := range inForce {
		if !stay[name] {
			removed = append(removed, name)
		}
	}
	all := total >= 2 && len(removed) == total
	many := total >= guardedPods && 100*len(removed) > maxRemoval*total
	if maxRemoval >= 100 || !all && !many {
		return ""
	}
	return fmt.Sprintf("would remove %d of %d pods (%s)", len(removed), total, firstFew(removed))
}

// fullNames are the pods' full names, each once.
func fullNames(pods []Pod) []string {
	var names []string
	counted := map[string]bool{}
	for _, p := range pods {
		if name := p.FullName(); !counted[name] {
			counted[name] = true
			names = append(names, name)
		}
	}
	return names
}

func firstFew(names []string) string {
	if len(names) <= namedRemovals {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:namedRemovals], ", ") + ", …"
}
