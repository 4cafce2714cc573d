package agent

import (
	"maps"
	"testing"
)

func TestRelease(t *testing.T) {
	cases := []struct {
		name    string
		waiters []waiter
		want    map[string]verdict
	}{
		{
			name:    "nothing in the way",
			waiters: []waiter{{uid: "b"}},
			want:    map[string]verdict{"b": verdictRun},
		},
		{
			name:    "not yet created: the old pod serves",
			waiters: []waiter{{uid: "b", blockers: []blocker{{uid: "a", own: true}}}},
			want:    map[string]verdict{"b": verdictWait},
		},
		{
			name:    "created, no shared port: the sandbox starts first",
			waiters: []waiter{{uid: "b", progress: progressCreated, blockers: []blocker{{uid: "a", own: true}}}},
			want:    map[string]verdict{"b": verdictWarm},
		},
		{
			name:    "prepared: the old pod goes",
			waiters: []waiter{{uid: "b", progress: progressPrepared, blockers: []blocker{{uid: "a", own: true}}}},
			want:    map[string]verdict{"b": verdictRelease},
		},
		{
			name:    "shared port: the old pod goes before the sandbox starts",
			waiters: []waiter{{uid: "b", progress: progressCreated, blockers: []blocker{{uid: "a", own: true, port: true}}}},
			want:    map[string]verdict{"b": verdictRelease},
		},
		{
			name: "a port of a pod that stays is waited for, and the predecessor serves on",
			waiters: []waiter{{uid: "b", progress: progressPrepared, blockers: []blocker{
				{uid: "a", own: true}, {uid: "x", port: true}}}},
			want: map[string]verdict{"b": verdictWait},
		},
		{
			name: "a port of a pod on its way out: the predecessor may go",
			waiters: []waiter{{uid: "b", progress: progressCreated, blockers: []blocker{
				{uid: "a", own: true}, {uid: "x", port: true, going: true}}}},
			want: map[string]verdict{"b": verdictRelease},
		},
		{
			name: "a ring is released together",
			waiters: []waiter{
				{uid: "a2", progress: progressCreated, blockers: []blocker{{uid: "a1", own: true}, {uid: "b1", port: true}}},
				{uid: "b2", progress: progressCreated, blockers: []blocker{{uid: "b1", own: true}, {uid: "a1", port: true}}},
			},
			want: map[string]verdict{"a2": verdictRelease, "b2": verdictRelease},
		},
		{
			name: "a ring waits for its last member to be prepared",
			waiters: []waiter{
				{uid: "a2", progress: progressCreated, blockers: []blocker{{uid: "a1", own: true}, {uid: "b1", port: true}}},
				{uid: "b2", blockers: []blocker{{uid: "b1", own: true}, {uid: "a1", port: true}}},
			},
			want: map[string]verdict{"a2": verdictWait, "b2": verdictWait},
		},
		{
			name: "a chain behind a pod that is not ready waits as a whole",
			waiters: []waiter{
				{uid: "a2", progress: progressCreated, blockers: []blocker{{uid: "a1", own: true}, {uid: "b1", port: true}}},
				{uid: "b2", progress: progressCreated, blockers: []blocker{{uid: "b1", own: true}, {uid: "c1", port: true}}},
				{uid: "c2", blockers: []blocker{{uid: "c1", own: true}}},
			},
			want: map[string]verdict{"a2": verdictWait, "b2": verdictWait, "c2": verdictWait},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := release(c.waiters); !maps.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
