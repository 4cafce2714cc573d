package docker

import (
	"slices"
	"strings"
	"testing"
)

// What a pod's containers are known to be is what a list by label would show, or
// it is not known.
func TestMembersAreKnownOrNotAtAll(t *testing.T) {
	all := func(m *members, pods map[string][]string) { m.listedAll(pods, m.begin()) }
	cases := []struct {
		name string
		then func(m *members)
		want string // ids of pod u, "?" for not known
	}{
		{name: "nothing was heard yet", then: func(*members) {}, want: "?"},
		{name: "one list of all", then: func(m *members) { all(m, map[string][]string{"u": {"a", "b"}}) }, want: "a b"},
		{name: "not in the list of all", then: func(m *members) { all(m, map[string][]string{"v": {"x"}}) }, want: ""},
		{name: "its own list", then: func(m *members) { m.listed("u", []string{"a"}, m.begin()) }, want: "a"},
		{name: "its own list is empty, and others were never listed", then: func(m *members) { m.listed("u", nil, m.begin()) }, want: "?"},
		{name: "made after the list of all", then: func(m *members) {
			all(m, nil)
			m.made("u", "a")
			m.made("u", "b")
		}, want: "a b"},
		{name: "made, and nothing was listed before", then: func(m *members) { m.made("u", "a") }, want: "?"},
		{name: "made while a list was under way that does not show it", then: func(m *members) {
			all(m, map[string][]string{"u": {"a"}})
			mark := m.begin()
			m.made("u", "b")
			m.listedAll(map[string][]string{"u": {"a"}}, mark)
		}, want: "a b"},
		{name: "made as the pod's first while a list was under way", then: func(m *members) {
			all(m, nil)
			mark := m.begin()
			m.made("u", "a")
			m.listedAll(nil, mark)
		}, want: "a"},
		{name: "listed before the call that made it has returned", then: func(m *members) {
			all(m, map[string][]string{"u": {"a"}})
			m.made("u", "a")
		}, want: "a"},
		{name: "a creation that failed may have made one", then: func(m *members) {
			all(m, map[string][]string{"u": {"a"}})
			m.doubt("u")
		}, want: "?"},
		{name: "doubt ends with the next list", then: func(m *members) {
			all(m, nil)
			m.doubt("u")
			m.listed("u", []string{"a"}, m.begin())
		}, want: "a"},
		{name: "somebody else started one in its name", then: func(m *members) {
			all(m, map[string][]string{"u": {"a"}})
			m.started("u", "z")
		}, want: "?"},
		{name: "a known one was started", then: func(m *members) {
			all(m, map[string][]string{"u": {"a"}})
			m.started("u", "a")
		}, want: "a"},
		{name: "one has vanished", then: func(m *members) {
			all(m, map[string][]string{"u": {"a", "b"}})
			m.gone("u", []string{"b"}, []string{"a", "b"})
		}, want: "b"},
		{name: "one was made while others were asked for", then: func(m *members) {
			all(m, map[string][]string{"u": {"a"}})
			m.made("u", "b")
			m.gone("u", nil, []string{"a"})
		}, want: "b"},
		{name: "all have vanished", then: func(m *members) {
			all(m, map[string][]string{"u": {"a"}})
			m.gone("u", nil, []string{"a"})
		}, want: ""},
		{name: "the event stream broke", then: func(m *members) {
			all(m, map[string][]string{"u": {"a"}})
			m.watched(false)
			m.made("u", "b")
			all(m, map[string][]string{"u": {"a", "b"}})
		}, want: "?"},
		{name: "the event stream is back", then: func(m *members) {
			all(m, map[string][]string{"u": {"a"}})
			m.watched(false)
			m.watched(true)
		}, want: "?"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := &members{}
			m.watched(true)
			c.then(m)
			got := "?"
			if ids, known := m.get("u"); known {
				slices.Sort(ids)
				got = strings.Join(ids, " ")
			}
			if got != c.want {
				t.Errorf("known: %q, want %q", got, c.want)
			}
		})
	}
}
