package sources

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// testCatalog is of a folder that has been listed with these files.
func testCatalog(t *testing.T, limits setLimits, names ...string) *catalog {
	t.Helper()
	cfg := FileConfig{Name: "file", Path: "/m", Node: testNode, Logger: (&logBook{}).logger()}
	source, err := NewFile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := newCatalog(source.cfg.reader(), "/m", limits, goodSet{})
	c.accept(listing{spot: spot{folder: "/m", id: identity{Device: 1, Inode: 1}}, names: names})
	return c
}

var epoch = time.Unix(1_000_000, 0)

func (c *catalog) noteText(name, text string) verdict {
	return c.note(name, observation{outcome: whole, data: []byte(text)}, epoch)
}

// The limits of a source fall on the unit that would exceed them, and are
// lifted when there is room again.
func TestLimitsOfASource(t *testing.T) {
	both := func(name, arg string) string { return manifest(name, arg) + "---\n" + objectFile(name, arg) }
	size := len(both("p0", "x"))
	for _, limits := range []setLimits{
		{bytes: 2*size + size/2, pods: 100, objects: 100}, {bytes: 1 << 20, pods: 2, objects: 100}, {bytes: 1 << 20, pods: 100, objects: 2},
	} {
		t.Run(fmt.Sprintf("%+v", limits), func(t *testing.T) {
			c := testCatalog(t, limits)
			for i := range 3 {
				c.noteText(fmt.Sprintf("p%d.yaml", i), both(fmt.Sprintf("p%d", i), "x"))
			}
			s := c.snapshot(epoch)
			if !pods("p0-n1", "p1-n1").exactly(s) || !faulty("p2.yaml", "exceeds the limit")(s) {
				t.Fatal(describe(s))
			}
			if v := c.noteText("p2.yaml", both("p2", "x")); v.changed {
				t.Error("a rescan of the same bytes is news")
			}
			if v := c.noteText("p1.yaml", both("p1", "y")); !v.changed || !runs("p1-n1", "y")(c.snapshot(epoch)) {
				t.Error("an edit in place needs no room")
			}
			c.remove("p0.yaml")
			c.noteText("p2.yaml", both("p2", "x"))
			if s := c.snapshot(epoch); !pods("p1-n1", "p2-n1").exactly(s) || faulty("p2.yaml", "")(s) {
				t.Error(describe(s))
			}
		})
	}
}

// A writer is asked after quickly at first, then twenty times a second, and
// shown when it takes too long.
func TestWaitingForAWriter(t *testing.T) {
	c := testCatalog(t, defaultSetLimits())
	now, shown := epoch, time.Duration(0)
	var delays []time.Duration
	for shown == 0 {
		v := c.note("lamp.yaml", observation{outcome: writing}, now)
		if v.changed {
			shown = now.Sub(epoch)
		}
		delays = append(delays, v.again)
		now = now.Add(v.again)
	}
	want := []time.Duration{5, 10, 20, 40, 50, 50}
	for i, d := range want {
		if delays[i] != d*time.Millisecond {
			t.Errorf("delay %d is %v, want %v", i, delays[i], d*time.Millisecond)
		}
	}
	if shown < stuckAfter || shown > stuckAfter+lastRetry {
		t.Errorf("shown after %v", shown)
	}
}

func TestVanishing(t *testing.T) {
	gone := observation{outcome: missing}
	t.Run("known file", func(t *testing.T) {
		c := testCatalog(t, defaultSetLimits())
		c.noteText("lamp.yaml", manifest("lamp", "x"))
		if v := c.note("lamp.yaml", gone, epoch); v.gone || v.again != vanishWait {
			t.Errorf("at once: %+v", v)
		}
		if v := c.note("lamp.yaml", gone, epoch.Add(60*time.Millisecond)); v.gone || v.again != 40*time.Millisecond {
			t.Errorf("later: %+v", v)
		}
		if v := c.note("lamp.yaml", gone, epoch.Add(vanishWait)); !v.gone {
			t.Errorf("at last: %+v", v)
		}
	})
	t.Run("never read", func(t *testing.T) {
		c := testCatalog(t, defaultSetLimits())
		if v := c.note("lamp.yaml", gone, epoch); v != (verdict{}) || len(c.entries) != 0 {
			t.Errorf("%+v, %d entries", v, len(c.entries))
		}
	})
	t.Run("back in time", func(t *testing.T) {
		c := testCatalog(t, defaultSetLimits())
		c.noteText("lamp.yaml", manifest("lamp", "x"))
		c.note("lamp.yaml", gone, epoch)
		c.noteText("lamp.yaml", manifest("lamp", "x"))
		if v := c.note("lamp.yaml", gone, epoch.Add(time.Hour)); v.gone {
			t.Error("the wait did not begin anew")
		}
	})
	t.Run("with its folder", func(t *testing.T) {
		c := testCatalog(t, defaultSetLimits())
		c.noteText("lamp.yaml", manifest("lamp", "x"))
		c.note("lamp.yaml", gone, epoch)
		c.hold("no such file")
		if v := c.note("lamp.yaml", gone, epoch.Add(time.Hour)); v.gone {
			t.Error("a file is not gone because its folder was")
		}
	})
	t.Run("part of it elsewhere", func(t *testing.T) {
		c := testCatalog(t, defaultSetLimits())
		c.noteText("pair.yaml", manifest("lamp", "x")+"---\n"+manifest("kiln", "x"))
		c.note("pair.yaml", gone, epoch)
		c.noteText("new.yaml", manifest("lamp", "x"))
		if s := c.snapshot(epoch); len(s.Units) != 2 {
			t.Errorf("%s: kiln is nowhere else, so pair.yaml is waited for", describe(s))
		}
		c.noteText("new.yaml", manifest("kiln", "x")+"---\n"+manifest("lamp", "x"))
		if s := c.snapshot(epoch); len(s.Units) != 1 {
			t.Errorf("%s: both are in new.yaml", describe(s))
		}
	})
}

// What can't be read keeps its last good version, whatever the reason, and is
// as before when it can be read again.
func TestTrouble(t *testing.T) {
	c := testCatalog(t, defaultSetLimits())
	c.noteText("lamp.yaml", manifest("lamp", "x"))
	denied := observation{outcome: refused, err: errors.New("open: permission denied")}
	if v := c.note("lamp.yaml", denied, epoch); !v.changed {
		t.Error("no news")
	}
	if v := c.note("lamp.yaml", denied, epoch); v.changed {
		t.Error("the same again is news")
	}
	s := c.snapshot(epoch)
	if !pods("lamp-n1").exactly(s) || !faulty("lamp.yaml", "permission denied")(s) || s.Units[0].Revision == "" {
		t.Error(describe(s))
	}
	if v := c.noteText("lamp.yaml", manifest("lamp", "x")); !v.changed || faulty("lamp.yaml", "")(c.snapshot(epoch)) {
		t.Error("not good again")
	}
}

// A folder that turns into a file, or back, is no update of its pods.
func TestFolderTurnsIntoFile(t *testing.T) {
	c := testCatalog(t, defaultSetLimits())
	c.noteText("lamp.yaml", manifest("lamp", "x"))
	names, changed := c.accept(listing{spot: spot{folder: "/", single: true}, names: []string{"m"}})
	if s := c.snapshot(epoch); len(names) > 0 || !changed || !placeFaulty("has turned")(s) || !pods("lamp-n1").exactly(s) {
		t.Error(describe(s))
	}
}

// A last good version that this agent can't read any more is at fault, named,
// and stays on disk for one that can.
func TestLastGoodThatIsGoodNoMore(t *testing.T) {
	stored := goodSet{Folder: identity{Device: 1, Inode: 1}, Units: []goodUnit{unitOf("lamp.yaml", "apiVersion: v1\nkind: Pod\nspec: {later: 1}\n")}}
	for _, held := range []bool{false, true} {
		t.Run(fmt.Sprintf("place at fault %v", held), func(t *testing.T) {
			reader := testCatalog(t, defaultSetLimits()).reader
			c := newCatalog(reader, "/m", defaultSetLimits(), stored)
			if held {
				c.hold("no such file")
			} else {
				c.accept(listing{spot: spot{folder: "/m", id: stored.Folder}, names: []string{"lamp.yaml"}})
				c.noteText("lamp.yaml", "kind: Po")
			}
			s := c.snapshot(epoch)
			if len(s.Pods) > 0 || len(s.Units) != 1 || len(s.Units[0].Faults) == 0 || !strings.Contains(fmt.Sprint(s.Units[0].Warnings), "not good any more") {
				t.Error(describe(s))
			}
			if good := c.good(); len(good.Units) != 1 {
				t.Errorf("%d units kept", len(good.Units))
			}
		})
	}
}

func TestPace(t *testing.T) {
	at := func(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }
	tests := []struct {
		name    string
		sent    int
		changes []int
		due     int
	}{
		{"a single change goes at once", 0, []int{100}, 100},
		{"and is not held up by the next", 0, []int{100, 101}, 100},
		{"one of a burst waits for the next", 0, []int{10}, 12},
		{"and that one too", 0, []int{10, 11, 12}, 14},
		{"but not for ever", 0, []int{10, 20, 30, 40, 50, 59}, 60},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pace{}
			p.send(at(tt.sent))
			for _, ms := range tt.changes {
				p.change(at(ms))
			}
			if due, ok := p.due(); !ok || !due.Equal(at(tt.due)) {
				t.Errorf("due %v %v, want %v", due, ok, at(tt.due))
			}
			p.send(at(1000))
			if _, ok := p.due(); ok {
				t.Error("due without a change")
			}
		})
	}
}

func TestNewFileNamesEveryMistake(t *testing.T) {
	_, err := NewFile(FileConfig{Rescan: -1, UnsupportedKinds: "maybe", Logger: (&logBook{}).logger()})
	for _, words := range []string{"name", "path", "negative", "maybe"} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v does not mention %s", err, words)
		}
	}
}

// Where the file system has no leases a file is whole once it was still for 50
// ms, at the start too: nothing of an older version is sent before.
func TestWithoutLeases(t *testing.T) {
	blind := func(cfg *FileConfig) {
		cfg.writers = func(*os.File) written { return writersUnknown }
		cfg.Rescan = time.Hour
	}
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "one"))
	r.start(blind)
	r.await("lamp", runs("lamp-n1", "one"))
	r.write("lamp.yaml", manifest("lamp", "two"))
	r.await("the edit", runs("lamp-n1", "two"))
	r.restart(func() { r.write("lamp.yaml", manifest("lamp", "three")) }, blind)
	if s := r.first(); !runs("lamp-n1", "three")(s) || faulty("lamp.yaml", "")(s) {
		t.Errorf("first: %s", describe(s))
	}
}

// Without a watch the folder is read every second.
func TestWithoutWatch(t *testing.T) {
	r := newRig(t)
	source, err := NewFile(FileConfig{Name: "file", Path: r.dir, Node: testNode, Logger: r.log.logger()})
	r.must(err)
	l := newFileLoop(source.cfg)
	defer l.close()
	l.noteWatch(errors.New("too many open files"))
	if got := l.interval(); got != blindRescan {
		t.Errorf("rescan every %v", got)
	}
	l.noteWatch(errors.New("too many open files"))
	l.noteWatch(nil)
	if got := l.interval(); got != DefaultRescan {
		t.Errorf("rescan every %v once there is a watch", got)
	}
	if n := r.log.count("can't be watched"); n != 1 {
		t.Errorf("%d messages", n)
	}
}
