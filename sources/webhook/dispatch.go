package webhook

import (
	"context"
	"sync"
	"time"
)

// dispatch triggers what is asked for: one look at a time for a source, and one
// more when it was asked for meanwhile, however often. It waits for the looks
// that it started.
func (s *Server) dispatch(ctx context.Context) {
	var looks sync.WaitGroup
	defer looks.Wait()
	running, again := map[string]bool{}, map[string]bool{}
	ended := make(chan string)
	start := func(source string) {
		running[source] = true
		looks.Go(func() {
			s.trigger(ctx, source)
			select {
			case ended <- source:
			case <-ctx.Done():
			}
		})
	}
	for {
		select {
		case <-ctx.Done():
			return
		case names := <-s.asked:
			for _, name := range names {
				if running[name] {
					again[name] = true
				} else {
					start(name)
				}
			}
		case name := <-ended:
			delete(running, name)
			if again[name] {
				delete(again, name)
				start(name)
			}
		}
	}
}

// trigger makes one source look. What it finds is the source's to tell.
func (s *Server) trigger(ctx context.Context, source string) {
	ctx, cancel := context.WithTimeout(ctx, triggerLimit)
	defer cancel()
	began := time.Now()
	err := s.cfg.Trigger(ctx, source)
	s.cfg.Logger.Debug("look after a push has ended", "source", source, "took", time.Since(began), "err", err)
}
