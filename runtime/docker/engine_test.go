package docker

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
	"github.com/prometheus/client_golang/prometheus"
)

// Short calls share the slots; what tells whether the engine lives does not
// wait for one.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		fake := &fakeAPI{
			startFn: func(string) error {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				return wait(t.Context(), time.Second)
			},
			listFn: func() ([]container.Summary, error) { return nil, nil },
			pingFn: func(context.Context) error { return nil },
		}
		m := newTestManager(t, fake)
		m.engine.slots = newSlots(2)
		done := make(chan error)
		for range 6 {
			go func() { done <- m.engine.startContainer(t.Context(), "c1", rankStart) }()
		}
		synctest.Wait()
		begin := time.Now()
		if _, err := m.List(t.Context()); err != nil || time.Since(begin) != 0 {
			t.Errorf("list waited %v, err %v", time.Since(begin), err)
		}
		if _, err := m.engine.ping(t.Context()); err != nil || time.Since(begin) != 0 {
			t.Errorf("ping waited %v, err %v", time.Since(begin), err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if err := m.engine.startContainer(short, "c1", rankStart); !errors.Is(err, runtime.ErrUnavailable) {
			t.Errorf("a caller whose time ran out in the queue got %v", err)
		}
		for range 6 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if most.Load() != 2 || time.Since(begin) != 3*time.Second {
			t.Errorf("%d at once, all done after %v", most.Load(), time.Since(begin))
		}
	})
}

func TestCallsAreCounted(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := New(Config{NodeID: "node-1", Endpoint: "unix:///nowhere/docker.sock", Registerer: registry})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Engine(t.Context()); !errors.Is(err, runtime.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	families, err := registry.Gather()
	must(t, err)
	counted := map[string]bool{}
	for _, family := range families {
		for _, metric := range family.Metric {
			var labels []string
			for _, label := range metric.Label {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			counted[family.GetName()+" "+strings.Join(labels, " ")] = true
		}
	}
	if !counted["podstead_engine_call_errors_total call=ping kind=unavailable"] || !counted["podstead_engine_call_seconds call=ping"] {
		t.Errorf("counted %v", counted)
	}
	if _, err := New(Config{NodeID: "node-1", Registerer: registry}); err == nil {
		t.Error("two managers on one registry")
	}
}

func TestNewTellsEveryFault(t *testing.T) {
	_, err := New(Config{PodCIDR: "10.0.0.0", LogMaxSize: "many", LogMaxFiles: -1, Slots: -2, MTU: -3})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, fault := range []string{"node id", "pod CIDR", `"many"`, "log files: -1", "slots: -2", "MTU: -3"} {
		if !strings.Contains(err.Error(), fault) {
			t.Errorf("no word of %s in %q", fault, err)
		}
	}
}

func TestLogSizeIsAQuantity(t *testing.T) {
	for size, want := range map[string]string{"": "10485760", "10Mi": "10485760", "1M": "1000000", "4096": "4096"} {
		m, err := New(Config{NodeID: "node-1", LogMaxSize: size})
		if err != nil || m.logLimit != want {
			t.Errorf("%q: %s, %v", size, m.logLimit, err)
		}
	}
}

func TestKeptIsLearnedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, learned := newKept[int](), 0
		learn := func(ctx context.Context) (int, error) {
			learned++
			return learned, wait(ctx, time.Second)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if _, err := k.get(ctx, learn); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		done := make(chan int)
		for range 3 {
			go func() {
				value, _ := k.get(t.Context(), learn)
				done <- value
			}()
		}
		for range 3 {
			if got := <-done; got != 2 {
				t.Errorf("got %d", got)
			}
		}
		k.drop(func(v int) bool { return v == 1 })
		if got, _ := k.get(t.Context(), learn); got != 2 {
			t.Errorf("dropped though newer: %d", got)
		}
		k.drop(nil)
		if got, _ := k.get(t.Context(), learn); got != 3 {
			t.Errorf("not dropped: %d", got)
		}
	})
}
