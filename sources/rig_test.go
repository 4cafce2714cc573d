package sources

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/podstead/podstead/manifests"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var testNode = manifests.Node{Name: "n1", Labels: map[string]string{"zone": "a", "kubernetes.io/os": "linux"}}

// manifest is a pod of one container with one argument.
func manifest(name, arg string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\nspec:\n  containers:\n  - name: main\n    image: busybox:1.36\n    args: [%q]\n", name, arg)
}

// logBook is a log that tests can search.
type logBook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBook) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// count is how many lines hold all the words.
func (b *logBook) count(words ...string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for line := range strings.Lines(b.buf.String()) {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			n++
		}
	}
	return n
}

func (b *logBook) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// rig is a running file source, and what a receiver learned from it.
type rig struct {
	t       *testing.T
	dir     string // of manifests
	state   string
	log     *logBook
	out     chan Snapshot
	stop    func()
	last    Snapshot
	got     int
	source  *File
	ledger  *ledger
	changes []string // "ADD lamp-n1", in order
}

type rigOption func(*FileConfig)

// watchOnly makes rescans too rare to help.
func watchOnly(cfg *FileConfig) { cfg.Rescan = time.Hour }

// rescanning makes them fast.
func rescanning(cfg *FileConfig) { cfg.Rescan = 30 * time.Millisecond }

func newRig(t *testing.T) *rig {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "manifests")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, dir: dir, state: filepath.Join(base, "state"), log: &logBook{}, ledger: newLedger([]Member{{Name: "file"}})}
}

func (r *rig) start(options ...rigOption) {
	r.t.Helper()
	cfg := FileConfig{Name: "file", Path: r.dir, Node: testNode, Dir: r.state, Logger: r.log.logger()}
	for _, o := range options {
		o(&cfg)
	}
	source, err := NewFile(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	out := make(chan Snapshot)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- source.Run(ctx, out) }()
	r.out, r.source = out, source
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			r.t.Errorf("Run returned %v", err)
		}
	})
	r.t.Cleanup(r.stop)
}

// await takes snapshots until one is as wanted.
func (r *rig) await(what string, wanted func(Snapshot) bool) Snapshot {
	r.t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		select {
		case s := <-r.out:
			r.take(s)
			if wanted(s) {
				return s
			}
		case <-deadline:
			r.t.Fatalf("waited in vain for %s; last: %s\nlog:\n%s", what, describe(r.last), r.log)
		}
	}
}

func (r *rig) take(s Snapshot) {
	r.last = s
	r.got++
	r.ledger.take(s)
	for o, _ := r.ledger.next(); o != nil; o, _ = r.ledger.next() {
		for _, c := range o.update.Changes {
			r.changes = append(r.changes, c.Op.String()+" "+c.Pod.Name)
		}
		r.ledger.settle(o)
	}
}

// flush returns when all that was done to the folder before has been told: a
// file that comes and goes takes the longest way there is.
func (r *rig) flush() {
	r.t.Helper()
	before := r.changes
	r.write("zzz-marker.yaml", manifest("marker", "x"))
	r.await("the marker", pods("marker-n1").among)
	r.remove("zzz-marker.yaml")
	r.await("the marker's end", func(s Snapshot) bool { return !pods("marker-n1").among(s) })
	during := slices.DeleteFunc(slices.Clone(r.changes[len(before):]), func(c string) bool { return strings.HasSuffix(c, " marker-n1") })
	r.changes = append(before, during...)
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

// write replaces a file in one step.
func (r *rig) write(name, content string) {
	r.t.Helper()
	temp := filepath.Join(filepath.Dir(r.dir), "writing")
	r.must(os.WriteFile(temp, []byte(content), 0o644))
	r.must(os.Rename(temp, r.path(name)))
}

func (r *rig) remove(name string) { r.t.Helper(); r.must(os.Remove(r.path(name))) }

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) wantChanges(want ...string) {
	r.t.Helper()
	if !slices.Equal(r.changes, want) {
		r.t.Errorf("changes %q, want %q\nlog:\n%s", r.changes, want, r.log)
	}
}

// unit is a unit of the last snapshot, by file name.
func (r *rig) unit(name string) Unit {
	r.t.Helper()
	for _, u := range r.last.Units {
		if filepath.Base(u.Name) == name {
			return u
		}
	}
	r.t.Fatalf("no unit %s in %s", name, describe(r.last))
	return Unit{}
}

// pods is a set of pod names.
type podSet []string

func pods(names ...string) podSet { return names }

func podNames(s Snapshot) []string {
	names := []string{}
	for _, p := range s.Pods {
		names = append(names, p.Name)
	}
	return names
}

// exactly is true for a snapshot of these pods in this order.
func (p podSet) exactly(s Snapshot) bool { return slices.Equal(podNames(s), p) }

// among is true for a snapshot with these pods and maybe others.
func (p podSet) among(s Snapshot) bool {
	return !slices.ContainsFunc(p, func(name string) bool { return !slices.Contains(podNames(s), name) })
}

// runs is true for a snapshot whose pod has this argument.
func runs(name, arg string) func(Snapshot) bool {
	return func(s Snapshot) bool {
		return slices.ContainsFunc(s.Pods, func(p Pod) bool { return p.Name == name && p.Spec.Containers[0].Args[0] == arg })
	}
}

// faulty is true for a snapshot in which the unit is at fault and says so with
// the words.
func faulty(name, words string) func(Snapshot) bool {
	return func(s Snapshot) bool {
		return slices.ContainsFunc(s.Units, func(u Unit) bool {
			return filepath.Base(u.Name) == name && slices.ContainsFunc(u.Faults, func(f manifests.Fault) bool { return strings.Contains(f.Error(), words) })
		})
	}
}

// placeFaulty is true for a snapshot whose place is at fault with these words.
func placeFaulty(words string) func(Snapshot) bool {
	return func(s Snapshot) bool {
		return slices.ContainsFunc(s.Faults, func(f manifests.Fault) bool { return strings.Contains(f.Message, words) })
	}
}

func healthy(s Snapshot) bool { return len(s.Faults) == 0 }

func describe(s Snapshot) string {
	return fmt.Sprintf("live %v pods %v faults %v units %v", s.Live, podNames(s), s.Faults, s.Units)
}
