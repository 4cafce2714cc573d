package docker

import (
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/podstead/podstead/runtime"
)

// statsAPI answers with what it was given.
type statsAPI struct {
	fakeAPI
	answer string
}

func (s *statsAPI) ContainerStatsOneShot(context.Context, string) (container.StatsResponseReader, error) {
	return container.StatsResponseReader{Body: io.NopCloser(strings.NewReader(s.answer))}, nil
}

// The answers of testdata are an engine's, cut short.
func TestUsageOfBothVersionsOfControlGroups(t *testing.T) {
	for _, test := range []struct {
		name string
		file string
		want runtime.Usage
	}{
		{name: "version 1", file: "stats-v1.json", want: runtime.Usage{
			CPU: 41686283, Memory: 2659456, WorkingSet: 2659456 - 1003520, RSS: 53248, PageFaults: 1452, MajorPageFaults: 3, MemoryLimit: 20971520,
		}},
		{name: "version 2, a sandbox", file: "stats-v2.json", want: runtime.Usage{
			CPU: 5000, Memory: 700416, WorkingSet: 700416 - 4096, RSS: 49152, PageFaults: 12, MajorPageFaults: 1, MemoryLimit: 25276063744,
			Interfaces: []runtime.Interface{{Name: "eth0", RxBytes: 1016, RxErrors: 1, TxBytes: 42, TxErrors: 2}, {Name: "eth1", RxBytes: 5}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer, err := os.ReadFile("testdata/" + test.file)
			must(t, err)
			got, err := newTestManager(t, &statsAPI{answer: string(answer)}).Usage(t.Context(), "0123456789abcdef")
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestWhatDoesNotRunUsesNothing(t *testing.T) {
	m := newTestManager(t, &statsAPI{answer: `{"read":"0001-01-01T00:00:00Z","memory_stats":{}}`})
	if _, err := m.Usage(t.Context(), "0123456789abcdef"); !errors.Is(err, runtime.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// More page cache than memory was told at two times; it is no number below 0.
func TestAWorkingSetIsNotBelowNothing(t *testing.T) {
	if got := workingSet(container.MemoryStats{Usage: 10, Stats: map[string]uint64{"inactive_file": 20}}); got != 0 {
		t.Errorf("got %d", got)
	}
}
