package sources

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/manifests"
)

func podsNamed(names ...string) []Pod {
	var all []Pod
	for _, name := range names {
		all = append(all, Pod{Pod: manifests.Pod{Pod: &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}}})
	}
	return all
}

// numbered is pods p<from> to p<to-1>.
func numbered(from, to int) []Pod {
	var names []string
	for n := from; n < to; n++ {
		names = append(names, fmt.Sprintf("p%d", n))
	}
	return podsNamed(names...)
}

func TestHeldRemoval(t *testing.T) {
	tests := []struct {
		name    string
		inForce []Pod
		next    []Pod
		max     int
		held    string // "" for nothing
	}{
		{"nothing from nothing", nil, nil, 50, ""},
		{"the only pod", podsNamed("a"), nil, 50, ""},
		{"all of two", podsNamed("a", "b"), nil, 50, "2 of 2 pods (default/a, default/b)"},
		{"all of two, others come", podsNamed("a", "b"), podsNamed("c", "d"), 50, "2 of 2"},
		{"one of two", podsNamed("a", "b"), podsNamed("a"), 50, ""},
		{"three of four", podsNamed("a", "b", "c", "d"), podsNamed("a"), 50, ""},
		{"all of four", podsNamed("a", "b", "c", "d"), podsNamed("e"), 50, "4 of 4 pods (default/a, default/b, default/c, …)"},
		{"two of five", numbered(0, 5), numbered(2, 5), 50, ""},
		{"three of five", numbered(0, 5), numbered(3, 5), 50, "3 of 5"},
		{"half of six", numbered(0, 6), numbered(3, 9), 50, ""},
		{"one name twice is one pod", podsNamed("a", "a"), nil, 50, ""},
		{"fewer of one name", podsNamed("a", "a", "b"), podsNamed("a", "b"), 50, ""},
		{"a fifth of ten", numbered(0, 10), numbered(2, 10), 20, ""},
		{"more than a fifth of ten", numbered(0, 10), numbered(3, 10), 20, "3 of 10"},
		{"most, where most may go", numbered(0, 10), numbered(9, 10), 90, ""},
		{"all, where most may go", numbered(0, 10), nil, 99, "10 of 10"},
		{"one of five, where none may", numbered(0, 5), numbered(1, 5), 0, "1 of 5"},
		{"one of four, where none may", numbered(0, 4), numbered(1, 4), 0, ""},
		{"all, with the guard off", numbered(0, 10), nil, 100, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := heldRemoval(fullNames(tt.inForce), tt.next, tt.max)
			if (got == "") != (tt.held == "") || !strings.Contains(got, tt.held) {
				t.Errorf("held %q, want %q", got, tt.held)
			}
		})
	}
}

func TestParseMaxRemoval(t *testing.T) {
	for in, want := range map[string]int{"": 50, "0%": 0, "20%": 20, "100%": 100} {
		if got, err := parseMaxRemoval(in); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"50", "-1%", "101%", "%", "half", "5.5%", " 50%", "+5%", "05%", "0x10%"} {
		if got, err := parseMaxRemoval(in); err == nil {
			t.Errorf("%q is %d", in, got)
		}
	}
}
