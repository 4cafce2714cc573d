package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/podstead/podstead/runtime"
)

// progressPeriod bounds how often the progress of a pull wakes a worker.
const progressPeriod = time.Second

// PullLimits bound image pulls: how many at a time and how many begin each second.
type PullLimits struct {
	AtOnce int // 0 for any number
	QPS    int // pulls that may begin each second; 0 for any number
	Burst  int // that may begin at once in spite of QPS, at least 1
}

// puller pulls images, as many at a time as its limits say. Workers never wait for it:
// they hold a ticket and are rung when something changed. A pull that nobody
// holds a ticket for any more is given up.
type puller struct {
	images Images
	limits PullLimits
	queue  chan *pull // capacity: pulls waiting their turn hold nothing else

	mu    sync.Mutex
	pulls map[pullKey]*pull
}

// pullKey is what makes two pulls one: who offers other logins may be refused
// where the first is not.
type pullKey struct{ ref, logins string }

// pull is one pull of one reference with one set of logins, for all who want it.
type pull struct {
	key     pullKey
	logins  [][]byte
	waiters map[*ticket]bool
	cancel  context.CancelFunc // once it runs
	given   bool               // given up before it ran
	state   runtime.Progress
	done    bool
	image   runtime.Image
	err     error
	began   time.Time
	took    time.Duration
}

// ticket is one worker's interest in a pull.
type ticket struct {
	puller *puller
	pull   *pull
	ring   func()
	rung   time.Time
}

// pullQueue is how many pulls may wait; more than there are pods on a node.
const pullQueue = 4096

func newPuller(images Images, limits PullLimits) *puller {
	return &puller{images: images, limits: limits, queue: make(chan *pull, pullQueue), pulls: map[pullKey]*pull{}}
}

// run pulls until ctx ends and waits for what it started.
func (p *puller) run(ctx context.Context) {
	var group errgroup.Group
	defer func() { _ = group.Wait() }() // each pull keeps its own error
	if p.limits.AtOnce > 0 {
		group.SetLimit(p.limits.AtOnce)
	}
	var pace flowcontrol.RateLimiter
	if p.limits.QPS > 0 {
		pace = flowcontrol.NewTokenBucketRateLimiter(float32(p.limits.QPS), max(p.limits.Burst, 1))
	}
	for {
		select {
		case <-ctx.Done():
			return
		case next := <-p.queue:
			if pace != nil && pace.Wait(ctx) != nil {
				return
			}
			group.Go(func() error { p.do(ctx, next); return nil }) // waits for its turn
		}
	}
}

func (p *puller) do(ctx context.Context, next *pull) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.mu.Lock()
	if next.given {
		p.mu.Unlock()
		return
	}
	next.cancel, next.began = cancel, time.Now()
	p.mu.Unlock()

	image, err := p.images.Pull(ctx, runtime.ImageRequest{
		Ref: next.key.ref, Logins: next.logins, Progress: func(s runtime.Progress) { p.progress(next, s) },
	})

	p.mu.Lock()
	defer p.mu.Unlock()
	next.done, next.image, next.err, next.took = true, image, err, time.Since(next.began)
	if p.pulls[next.key] == next {
		delete(p.pulls, next.key)
	}
	for t := range next.waiters {
		t.ring()
	}
}

func (p *puller) progress(of *pull, s runtime.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of.state = s
	for t := range of.waiters {
		if now := time.Now(); now.Sub(t.rung) >= progressPeriod {
			t.rung = now
			t.ring()
		}
	}
}

// want returns a ticket for a pull, joining one under way. ring must not block.
func (p *puller) want(key pullKey, logins [][]byte, ring func()) (*ticket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	under := p.pulls[key]
	if under == nil {
		under = &pull{key: key, logins: logins, waiters: map[*ticket]bool{}}
		select {
		case p.queue <- under:
			p.pulls[key] = under
		default:
			return nil, fmt.Errorf("pull image %q: %d pulls are waiting already", key.ref, pullQueue)
		}
	}
	t := &ticket{puller: p, pull: under, ring: ring}
	under.waiters[t] = true
	return t, nil
}

// result returns how the pull ended, if it has.
func (t *ticket) result() (image runtime.Image, took time.Duration, done bool, err error) {
	t.puller.mu.Lock()
	defer t.puller.mu.Unlock()
	return t.pull.image, t.pull.took, t.pull.done, t.pull.err
}

// state is how far it is, for people.
func (t *ticket) state() string {
	t.puller.mu.Lock()
	defer t.puller.mu.Unlock()
	s := t.pull.state
	switch {
	case t.pull.cancel == nil:
		return fmt.Sprintf("image %q is waiting for other pulls", t.pull.key.ref)
	case s.Total > 0:
		return fmt.Sprintf("pulling image %q: %s %.1f of %.1f MB", t.pull.key.ref, s.Status, float64(s.Current)/1e6, float64(s.Total)/1e6)
	}
	return fmt.Sprintf("pulling image %q", t.pull.key.ref)
}

// drop gives the ticket back. The last one to go ends the pull.
func (t *ticket) drop() {
	p := t.puller
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(t.pull.waiters, t)
	if len(t.pull.waiters) > 0 || t.pull.done {
		return
	}
	t.pull.given = true
	if p.pulls[t.pull.key] == t.pull {
		delete(p.pulls, t.pull.key)
	}
	if t.pull.cancel != nil {
		t.pull.cancel()
	}
}
