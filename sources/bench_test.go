package sources

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podstead/podstead/manifests"
)

// BenchmarkReadUnit is the reading of one manifest, from bytes to a valid pod.
func BenchmarkReadUnit(b *testing.B) {
	reader := FileConfig{Name: "file", Node: testNode, Limits: manifests.DefaultLimits()}.reader()
	data := []byte(manifest("lamp", "on"))
	sum := digest(sha256.Sum256(data))
	b.ReportAllocs()
	for b.Loop() {
		if v := reader.read("lamp.yaml", data, sum); v.faulty() {
			b.Fatal(v.unit.Faults)
		}
	}
}

// BenchmarkFileEdit is one edit of one manifest among others, from the rename to
// the receiver's hand.
func BenchmarkFileEdit(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir, out := b.TempDir(), make(chan Snapshot)
			for i := range n {
				name := fmt.Sprintf("p%04d", i)
				if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(manifest(name, "x")), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			source, err := NewFile(FileConfig{Name: "file", Path: dir, Node: testNode, Dir: b.TempDir(), Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(b.Context())
			var ended sync.WaitGroup
			ended.Go(func() { _ = source.Run(ctx, out) })
			defer ended.Wait()
			defer cancel()
			<-out
			temp := filepath.Join(b.TempDir(), "next")
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				if err := os.WriteFile(temp, []byte(manifest("p0005", fmt.Sprint(i))), 0o644); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if err := os.Rename(temp, filepath.Join(dir, "p0005.yaml")); err != nil {
					b.Fatal(err)
				}
				for s := range out {
					if runs("p0005-n1", fmt.Sprint(i))(s) {
						break
					}
				}
			}
		})
	}
}

// BenchmarkRescan is the idle work of a source with 30 manifests, each rescan.
func BenchmarkRescan(b *testing.B) {
	dir := b.TempDir()
	for i := range 30 {
		name := fmt.Sprintf("p%04d", i)
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(manifest(name, "x")), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	source, err := NewFile(FileConfig{Name: "file", Path: dir, Node: testNode, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	l := newFileLoop(source.cfg)
	defer l.close()
	l.work()
	for b.Loop() {
		l.rescanAt = time.Time{}
		l.work()
	}
}

// BenchmarkMerge is one snapshot with one edit, from the source's send to the
// agent's receive, without the goroutine switches.
func BenchmarkMerge(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a, z := setOf(n, "a"), setOf(n, "a")
			copy(z.Pods, a.Pods)
			z.Pods[n/2] = podOf(n/2, "z")
			l := newLedger([]Member{{Name: "file"}})
			l.take(a)
			o, _ := l.next()
			l.settle(o)
			b.ReportAllocs()
			for b.Loop() {
				a, z = z, a
				l.take(a)
				o, _ := l.next()
				if len(o.update.Changes) != 2 {
					b.Fatal(o.update.Changes)
				}
				l.settle(o)
			}
		})
	}
}

// BenchmarkMergeObject is one snapshot in which one of 1,000 objects changed, that
// one of 200 pods refers to, from the source's send to the agent's receive.
func BenchmarkMergeObject(b *testing.B) {
	a, z := objectSet("a"), objectSet("z")
	l := newLedger([]Member{{Name: "file"}, {Name: "git", ObjectsFrom: []string{"file"}}})
	l.take(a)
	o, _ := l.next()
	l.settle(o)
	b.ReportAllocs()
	for b.Loop() {
		a, z = z, a
		l.take(a)
		o, _ := l.next()
		if len(o.update.Changes) != 1 || o.update.Changes[0].Op != RECONCILE {
			b.Fatal(words(o.update.Changes))
		}
		l.settle(o)
	}
}

// objectSet is 200 pods that refer to five of 1,000 objects each, one of which
// has this version.
func objectSet(version string) Snapshot {
	s := setOf(200, "1")
	for i := range 1000 {
		content := "1"
		if i == 500 {
			content = version
		}
		s.Objects = append(s.Objects, madeObject("file", fmt.Sprintf("config-%04d=%s", i, content)))
	}
	for i := range s.Pods {
		s.Pods[i].Written = fmt.Appendf(nil, "%1000d", i)
		for k := range 5 {
			s.Pods[i].Refs = append(s.Pods[i].Refs, s.Objects[5*i+k].Ref())
		}
	}
	return s
}

func setOf(n int, version string) Snapshot {
	s := Snapshot{Source: "file", Kind: KindFile, Live: true, Attempted: true}
	for i := range n {
		s.Pods = append(s.Pods, podOf(i, version))
	}
	return s
}

func podOf(i int, version string) Pod {
	pod := &v1.Pod{}
	pod.Name, pod.Namespace = fmt.Sprintf("p%04d-n1", i), "default"
	pod.UID = types.UID(fmt.Sprintf("%04d-%s", i, version))
	return Pod{Pod: manifests.Pod{Pod: pod}, Origin: Origin{Source: "file", Kind: KindFile, Unit: fmt.Sprintf("/m/p%04d.yaml", i), Document: 1}}
}
