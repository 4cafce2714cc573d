package agent

import (
	"testing"

	"github.com/podstead/podstead/runtime"
)

func TestWhatIsReservedIsKeptFromPods(t *testing.T) {
	engine := runtime.Engine{CPUs: 4, Memory: 8 << 30}
	cases := []struct {
		name string
		cfg  Config
		want NodeFacts
	}{
		{"nothing", Config{MaxPods: 110}, NodeFacts{MilliCPU: 4000, Memory: 8 << 30, MaxPods: 110}},
		{"some", Config{MaxPods: 110, Reserved: Claims{MilliCPU: 500, Memory: 1 << 30}}, NodeFacts{MilliCPU: 3500, Memory: 7 << 30, MaxPods: 110}},
		{"more than there is", Config{MaxPods: 110, Reserved: Claims{MilliCPU: 5000, Memory: 9 << 30}}, NodeFacts{MaxPods: 110}},
		{"few pods for each CPU", Config{MaxPods: 110, PodsPerCore: 10}, NodeFacts{MilliCPU: 4000, Memory: 8 << 30, MaxPods: 40}},
		{"many pods for each CPU", Config{MaxPods: 110, PodsPerCore: 100}, NodeFacts{MilliCPU: 4000, Memory: 8 << 30, MaxPods: 110}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got NodeFacts
			got.holds(engine, c.cfg)
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
