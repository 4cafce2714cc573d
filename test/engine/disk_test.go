//go:build e2e

package engine

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A pod does not start without a record, and says why; what runs goes on, is
// restarted when it crashes, and outlives the agent. With room again all is as
// it should be.
func TestDiskFullAtARecordWrite(t *testing.T) {
	t.Parallel()
	d := newDockerd(t)
	root := t.TempDir()
	must(t, unix.Mount("tmpfs", root, "tmpfs", 0, "size=1m,mode=0700"))
	t.Cleanup(func() { must(t, unix.Unmount(root, 0)) })
	a := newAgent(t, d)
	a.root = root
	stays, comes, edited := web{name: "stays", version: 1}, web{name: "comes", version: 1}, web{name: "edited", version: 1}
	a.start()
	a.put("stays", stays.manifest(a))
	a.put("edited", edited.manifest(a))
	before := a.settles("two pods run", stays, edited)

	fill(t, root)
	edit := edited
	edit.version = 2
	a.put("comes", comes.manifest(a))
	a.put("edited", edit.manifest(a))
	until(t, "both say why they do not start", func() error {
		return errors.Join(a.complains("comes", "no space left"), a.complains("edited", "no space left"))
	})
	must(t, a.processesAre([]web{stays, edited}))
	a.crash(stays, app)
	until(t, "a container that crashed is restarted", func() error { return a.restarted(stays, app, 1) })
	a.kill()
	a.start()
	until(t, "the new pod says why it does not start", func() error { return a.complains("comes", "no space left") })
	until(t, "the others run on", func() error { return a.processesAre([]web{stays, edited}) })
	now, err := a.shown("stays")
	must(t, err)
	want, got := containerIDs(before["stays"]), containerIDs(now)
	delete(want, app)
	delete(got, app)
	if !maps.Equal(got, want) {
		t.Errorf("new containers: %v, before %v", got, want)
	}

	must(t, os.Remove(filler(root)))
	after := a.settles("all pods run", stays, comes, edit)
	if n := restarts(after["stays"]); n != 1 {
		t.Errorf("%d restarts, want the one", n)
	}
	fill(t, root)
	a.finish() // a full disk keeps nobody alive
}

func filler(dir string) string { return filepath.Join(dir, "filler") }

// fill leaves no room in a folder's file system.
func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filler(dir))
	must(t, err)
	defer f.Close()
	for page := make([]byte, os.Getpagesize()); err == nil; {
		_, err = f.Write(page)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
}

// complains is nil once the problems that `podstead status` lists for a pod say
// so, and it ends with 1.
func (a *agent) complains(pod, words string) error {
	code, h := a.status()
	for _, problem := range h.Problems {
		if strings.Contains(problem, "/"+pod+"-") && strings.Contains(problem, words) && code == 1 {
			return nil
		}
	}
	return fmt.Errorf("status %d, problems %q", code, h.Problems)
}
