package agent

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/podstead/podstead/runtime"
)

// slowImages take a second for each pull and note when it began.
type slowImages struct {
	Images
	mu     sync.Mutex
	begun  []time.Duration // since the first
	first  time.Time
	at     int
	atMost int
}

func (s *slowImages) Pull(ctx context.Context, _ runtime.ImageRequest) (runtime.Image, error) {
	s.mu.Lock()
	if s.first.IsZero() {
		s.first = time.Now()
	}
	s.begun = append(s.begun, time.Since(s.first))
	s.at++
	s.atMost = max(s.atMost, s.at)
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.at--; s.mu.Unlock() }()
	done := time.NewTimer(time.Second)
	defer done.Stop()
	select {
	case <-done.C:
		return runtime.Image{}, nil
	case <-ctx.Done():
		return runtime.Image{}, ctx.Err()
	}
}

func TestPullsKeepTheirLimits(t *testing.T) {
	cases := []struct {
		name   string
		limits PullLimits
		atMost int
		last   time.Duration // when the last of six began
	}{
		{"any number", PullLimits{}, 6, 0},
		{"one at a time", PullLimits{AtOnce: 1}, 1, 5 * time.Second},
		{"two at a time", PullLimits{AtOnce: 2}, 2, 2 * time.Second},
		{"two each second after the first three", PullLimits{QPS: 2, Burst: 3}, 4, 1500 * time.Millisecond},
		{"one at a time, faster allowed", PullLimits{AtOnce: 1, QPS: 100, Burst: 100}, 1, 5 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				images := &slowImages{}
				p := newPuller(images, c.limits)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { p.run(ctx); close(ended) }()
				rung := make(chan struct{}, 6)
				for i := range 6 {
					if _, err := p.want(pullKey{ref: fmt.Sprint(i)}, nil, func() { rung <- struct{}{} }); err != nil {
						t.Fatal(err)
					}
				}
				for range 6 {
					<-rung
				}
				cancel()
				<-ended
				if last := images.begun[5]; images.atMost > c.atMost || last != c.last {
					t.Errorf("at most %d at once, the last after %s; want %d, %s", images.atMost, last, c.atMost, c.last)
				}
			})
		})
	}
}

// What waits for its turn does not keep the agent from ending.
func TestAPullThatWaitsEndsWithTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuller(&slowImages{}, PullLimits{QPS: 1, Burst: 1, AtOnce: 1})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		for i := range 5 {
			if _, err := p.want(pullKey{ref: fmt.Sprint(i)}, nil, func() {}); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		p.run(ctx)
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("it took %s", took)
		}
	})
}
