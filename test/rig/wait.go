package rig

import (
	"context"
	"fmt"
	"time"
)

// Until asks again and again until the answer is nil. When ctx ends before, it
// returns the last answer.
func Until(ctx context.Context, every time.Duration, ask func() error) error {
	return until(ctx, every, nil, ask)
}

func until(ctx context.Context, every time.Duration, never <-chan struct{}, ask func() error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-never:
			return fmt.Errorf("it ended by itself: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}
