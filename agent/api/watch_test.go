package api

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestWhatLiesBetweenTwoLists(t *testing.T) {
	a1, a2, b1, c1 := pod("a", "a", "1"), pod("a", "a", "2"), pod("b", "b", "1"), pod("c", "c", "1")
	cases := []struct {
		name          string
		before, after []*v1.Pod
		want          string
	}{
		{"nothing", nil, nil, ""},
		{"the first list", nil, []*v1.Pod{a1, b1}, "ADDED a@1 ADDED b@1"},
		{"the same", []*v1.Pod{a1, b1}, []*v1.Pod{b1, a1}, ""},
		{"changed", []*v1.Pod{a1, b1}, []*v1.Pod{a2, b1}, "MODIFIED a@2"},
		{"deleted as it was last", []*v1.Pod{a2, b1}, []*v1.Pod{b1}, "DELETED a@2"},
		{"all at once", []*v1.Pod{a1, b1}, []*v1.Pod{a2, c1}, "DELETED b@1 MODIFIED a@2 ADDED c@1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var words []string
			for _, ch := range diff(c.before, c.after, podSight) {
				words = append(words, fmt.Sprintf("%s %s@%s", ch.Type, ch.Object.Name, ch.Object.ResourceVersion))
			}
			if got := strings.Join(words, " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
