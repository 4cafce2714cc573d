package sources

import (
	"cmp"
	"slices"

	"github.com/podstead/podstead/manifests"
)

// claim is one pod's claim to its full name, lost to an earlier one.
type claim struct {
	name          string
	loser, winner Origin
}

// fullName is what one pod may run under; faster to make than Pod.FullName.
type fullName struct{ namespace, name string }

// winners decides which pods run: of all that claim one full name the first,
// over the sources in the given order and within a source in the order of its
// snapshot. It returns them in that order, and the claims that were lost. The
// pods have no objects yet.
func winners(order []Member, world map[string]said) (won []Pod, lost []claim) {
	total := 0
	for _, m := range order {
		total += len(world[m.Name].Pods)
	}
	holder := make(map[fullName]int, total)
	won = make([]Pod, 0, total)
	for _, m := range order {
		pods := world[m.Name].Pods
		for i := range pods {
			key := fullName{pods[i].Namespace, pods[i].Name}
			if first, taken := holder[key]; taken {
				lost = append(lost, claim{pods[i].FullName(), pods[i].Origin, won[first].Origin})
				continue
			}
			holder[key] = len(won)
			won = append(won, pods[i])
		}
	}
	return won, lost
}

// fresh returns the claims of now that were not among before: those to report.
// A new revision of the same two units is no new conflict.
func fresh(before, now []claim) []claim {
	same := func(a claim) func(claim) bool {
		return func(b claim) bool {
			return a.name == b.name && a.loser.sameUnit(b.loser) && a.winner.sameUnit(b.winner)
		}
	}
	var news []claim
	for _, c := range now {
		if !slices.ContainsFunc(before, same(c)) {
			news = append(news, c)
		}
	}
	return news
}

// where is an origin as people look it up: unit and line.
func (o Origin) where() string {
	return manifests.Place{Unit: cmp.Or(o.File, o.Unit), Line: o.Line}.String()
}
