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
// is not. Pods are told apart by full name: one that is replaced is not removed.
// 100 percent lets everything through.
func heldRemoval(inForce, next []Pod, maxRemoval int) string {
	stay := map[fullName]bool{}
	for _, p := range next {
		stay[fullName{p.Namespace, p.Name}] = true
	}
	total, removed := 0, []string{}
	counted := map[fullName]bool{}
	for _, p := range inForce {
		name := fullName{p.Namespace, p.Name}
		if counted[name] {
			continue
		}
		counted[name] = true
		total++
		if !stay[name] {
			removed = append(removed, p.FullName())
		}
	}
	all := total >= 2 && len(removed) == total
	many := total >= guardedPods && 100*len(removed) > maxRemoval*total
	if maxRemoval >= 100 || !all && !many {
		return ""
	}
	return fmt.Sprintf("would remove %d of %d pods (%s)", len(removed), total, firstFew(removed))
}

func firstFew(names []string) string {
	if len(names) <= namedRemovals {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:namedRemovals], ", ") + ", …"
}
