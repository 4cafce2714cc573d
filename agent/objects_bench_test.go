package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/runtime/runtimetest"
	"github.com/podstead/podstead/sources"
)

// BenchmarkObjectReachesFiles measures from a snapshot in which one ConfigMap of
// a thousand differs until every container that mounts it can read it, on a node
// of 200 pods that mount five objects each.
func BenchmarkObjectReachesFiles(b *testing.B) {
	for _, readers := range []int{1, 200} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) { benchmarkObject(b, readers) })
	}
}

func benchmarkObject(b *testing.B, readers int) {
	const n, each = 200, 5
	engine := lookout{Fake: runtimetest.New(time.Now), looks: make(chan string, 1)}
	engine.AddImage(testImage)
	root := b.TempDir()
	snapshots, stop := startPipeline(b, engine, root, n)
	defer stop()

	shared := configMap("shared", "0")
	objects := []sources.Object{{Object: shared}}
	var pods []sources.Pod
	for i := range n {
		p := pod(fmt.Sprintf("p%04d", i), "0")
		for j := range each {
			o := configMap(fmt.Sprintf("o%04d-%d", i, j), "value")
			if j == 0 && i < readers {
				o = shared
			} else {
				objects = append(objects, sources.Object{Object: o})
			}
			withFile("c", manifests.KindConfigMap, o.Ref().Name)(p.Pod.Pod)
			p.Refs = append(p.Refs, o.Ref())
		}
		pods = append(pods, p)
	}
	send := func() {
		snapshots <- sources.Snapshot{Source: "file", Kind: sources.KindFile, Live: true, Attempted: true, Pods: pods, Objects: objects}
	}
	send()
	settled(b, engine, n)
	var files []string
	for i := range readers {
		cfg, _ := engine.Config(engine.Peek(string(pods[i].UID)).Containers[0].ID)
		for _, m := range cfg.Mounts {
			if m.ContainerPath == "/shared" {
				files = append(files, filepath.Join(m.HostPath, "key"))
			}
		}
	}
	for i := 1; b.Loop(); i++ {
		b.StopTimer()
		eventually(b, func() bool { return kept(root, pods[:readers], i) })
		value := fmt.Sprint(i)
		objects[0].Object = configMap("shared", value)
		b.StartTimer()
		send()
		eventually(b, func() bool {
			for _, file := range files {
				if data, err := os.ReadFile(file); err != nil || string(data) != value {
					return false
				}
			}
			return true
		})
	}
}

// kept reports that the disk holds what each pod has seen: the last change is over.
func kept(root string, pods []sources.Pod, turn int) bool {
	records := NewRecords(root)
	for _, p := range pods {
		mark, err := records.markOf(string(p.UID))
		record, failed := records.load(string(p.UID))
		if err != nil || failed != nil || record.View != mark || mark.Turn != turn {
			return false
		}
	}
	return true
}
