package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// soak wears an agent and returns what it has seen. Whatever happens, nothing is
// left of the agent but in an error.
func soak(ctx context.Context, o options) (r *report, err error) {
	a, err := newAgent(ctx, o)
	if a != nil {
		defer func() { err = errors.Join(err, a.end()) }()
	}
	if err != nil {
		return nil, err
	}
	if r, err = newReport(ctx, o, a.engine); err != nil {
		return nil, err
	}
	began := time.Now()
	if err := a.wear(ctx, o, r); err != nil {
		return nil, err
	}
	r.Took = time.Since(began).Round(time.Second).String()
	return r, nil
}

// wear replaces the pod as often as wanted. Status calls that the waiting did not
// make are spread over the replacements.
func (a *agent) wear(ctx context.Context, o options, r *report) error {
	asked := 0
	for n := 1; n <= o.replacements; n++ {
		if err := a.replace(ctx, n, &asked); err != nil {
			return fmt.Errorf("replacement %d: %w", n, err)
		}
		for ; asked < n*o.status/o.replacements; asked++ {
			if _, err := a.status(ctx); err != nil {
				return fmt.Errorf("status call %d: %w", asked+1, err)
			}
		}
		if every := max(o.replacements/o.looks, 1); n%every == 0 {
			s, err := a.look(ctx)
			if err != nil {
				return err
			}
			s.Replacements, s.Status = n, asked
			r.Samples = append(r.Samples, s)
		}
	}
	return nil
}
