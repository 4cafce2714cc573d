package sources

import (
	"context"
	"errors"
)

// syncAsk is one call of Sync on its way to the goroutine that looks.
type syncAsk struct {
	req   SyncRequest
	reply chan error // room for one
}

// askSync hands a request to the loop that reads asks and waits for its answer.
func askSync(ctx context.Context, asks chan<- syncAsk, req SyncRequest) error {
	ask := syncAsk{req: req, reply: make(chan error, 1)}
	select {
	case asks <- ask:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-ask.reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// trouble is why the source's newest state is not in force; nil when it is.
func (s Snapshot) trouble() error {
	var all []error
	for _, f := range s.Faults {
		all = append(all, f)
	}
	for _, u := range s.Units {
		for _, f := range u.Problems() {
			all = append(all, f)
		}
	}
	if s.Held != "" {
		all = append(all, errors.New(s.Held))
	}
	return errors.Join(all...)
}
