package agent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/podstead/podstead/runtime"
)

const (
	// freshLimit bounds the look at the engine that precedes an answer to a client.
	freshLimit = 2 * time.Second
	// lookRetry is the delay after a first failed look; it doubles up to lookRetryMax.
	lookRetry    = time.Second
	lookRetryMax = 30 * time.Second
	// lookLimit bounds a look of our own accord.
	lookLimit = 2 * time.Minute
)

// look is one list of the whole engine for the loop.
type look struct {
	engine runtime.Engine
	anew   bool // the engine was asked who it is: it may be another than before
	pods   []runtime.Pod
	err    error
	// acks, if given, receives one channel for each pod whose worker was behind;
	// they are closed when it has caught up.
	acks chan<- []<-chan struct{}
}

// inventory is the newest thing known of the engine itself.
type inventory struct {
	mu  sync.Mutex
	is  runtime.Engine
	err error
}

func (i *inventory) engine() (runtime.Engine, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.is, i.err
}

func (i *inventory) set(e runtime.Engine, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err == nil {
		i.is = e
	}
	i.err = err
}

// late notes that there is no answer yet, unless worse is known.
func (i *inventory) late() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err == nil {
		i.err = errNoAnswer
	}
}

// Fresh looks at the engine now and lets every worker that was behind catch up,
// within 2 s. The error tells that the engine does not answer; what the store
// holds is then the last that was known.
func (a *Agent) Fresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, freshLimit)
	defer cancel()
	acks := make(chan []<-chan struct{}, 1)
	select {
	case a.asks <- acks:
	case <-ctx.Done():
		return a.engineError(ctx)
	}
	var behind []<-chan struct{}
	select {
	case behind = <-acks:
	case <-ctx.Done():
		return a.engineError(ctx)
	}
	for _, done := range behind {
		select {
		case <-done:
		case <-ctx.Done():
			// The engine answered; a worker in the middle of something catches up later.
			return a.lastLook()
		}
	}
	return a.lastLook()
}

// lastLook is the error of the last look at the engine.
func (a *Agent) lastLook() error {
	_, err := a.inventory.engine()
	return err
}

// errNoAnswer is what is known of an engine while a look at it takes too long.
var errNoAnswer = fmt.Errorf("the engine has not answered within %s: %w", freshLimit, runtime.ErrUnavailable)

// engineError is the last look's error. A look that is late, because the engine
// hangs, says so too, until it has come to its end.
func (a *Agent) engineError(late context.Context) error {
	if !errors.Is(late.Err(), context.DeadlineExceeded) {
		return context.Cause(late)
	}
	a.inventory.late()
	return a.lastLook()
}

// observe looks at the engine when asked, when nudged, and every resync period; after a
// failed look sooner, with back-off. It owns the only list calls there are. Before
// the first answer is passed on, and with it the first pod set up, it takes away
// what is secret of pods that neither the records nor the engine know.
func (a *Agent) observe(ctx context.Context, records []Record) {
	retry, swept := lookRetry, false
	others := namesakes{agent: a}
	var asked chan<- []<-chan struct{}
	for {
		limit := lookLimit
		if asked != nil {
			limit = freshLimit
		}
		seen := a.lookOnce(ctx, limit)
		seen.acks = asked
		if !swept && seen.err == nil {
			a.sweep(ctx, records, seen.pods)
			records, swept = nil, true
		}
		select {
		case a.looks <- seen:
		case <-ctx.Done():
			return
		}
		if asked == nil {
			a.restoreLogs()
		}
		if others.owed = others.owed || seen.anew; seen.err == nil {
			others.look(ctx)
		}
		wait := jitter(a.cfg.Resync)
		if seen.err != nil {
			wait, retry = jitter(retry), min(2*retry, lookRetryMax)
		} else {
			retry = lookRetry
		}
		timer := time.NewTimer(wait)
		select {
		case asked = <-a.asks:
		case <-a.nudge:
			asked = nil
		case <-timer.C:
			asked = nil
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

func (a *Agent) sweep(ctx context.Context, records []Record, pods []runtime.Pod) {
	known := map[string]bool{}
	for _, r := range records {
		known[string(r.Pod.UID)] = true
	}
	for _, p := range pods {
		known[p.UID] = true
	}
	if err := a.deps.Volumes.Sweep(ctx, func(uid string) bool { return known[uid] }); err != nil {
		a.log.Warn("secrets of pods that are gone are left in memory", "err", err)
	}
	a.tellLogTrouble(a.deps.NodeLogs.Sweep(func(uid string) bool { return known[uid] }))
}

func (a *Agent) lookOnce(ctx context.Context, limit time.Duration) look {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	seen := look{}
	known, trouble := a.inventory.engine()
	var asking sync.WaitGroup
	var engineErr error
	seen.engine, seen.anew = known, known.Name == "" || trouble != nil
	if seen.anew {
		// A new engine, or one that may have been replaced while it was away. Both
		// questions at once: a machine that boots waits for the answers.
		asking.Go(func() { seen.engine, engineErr = a.deps.Runtime.Engine(ctx) })
	}
	var listErr error
	seen.pods, listErr = a.deps.Runtime.List(ctx)
	asking.Wait()
	if seen.err = engineErr; seen.err == nil {
		seen.err = listErr
	}
	a.inventory.set(seen.engine, seen.err)
	return seen
}

// jitter spreads d by a tenth to both sides, so that a fleet does not act in step.
func jitter(d time.Duration) time.Duration {
	return d + time.Duration((rand.Float64()-0.5)/5*float64(d))
}
