package docker

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/podstead/podstead/runtime"
)

func TestSlotsGoByRankThenByArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		if err := s.take(t.Context(), rankBeginning); err != nil {
			t.Fatal(err)
		}
		var order []string
		done := make(chan struct{})
		for _, waiter := range []struct {
			name string
			rank rank
		}{{"sandbox 1", rankBeginning}, {"sandbox 2", rankBeginning}, {"start", rankStart}, {"look", rankShort}, {"create", rankCreate}} {
			go func() {
				if err := s.take(t.Context(), waiter.rank); err != nil {
					t.Error(err)
				}
				order = append(order, waiter.name) // one at a time: there is one slot
				s.give()
				done <- struct{}{}
			}()
			synctest.Wait()
		}
		s.give()
		for range 5 {
			<-done
		}
		if want := []string{"look", "start", "create", "sandbox 1", "sandbox 2"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

func TestWhoTidiesGivesUpWhileOthersWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		if err := s.take(t.Context(), rankStart); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := s.take(t.Context(), rankTidy); !errors.Is(err, runtime.ErrBusy) || time.Since(began) != tidyPatience {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		s.give()
		if err := s.take(t.Context(), rankTidy); err != nil {
			t.Errorf("an idle engine: %v", err)
		}
	})
}

func TestSlotIsNotLostWithWhoWaitedForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		if err := s.take(t.Context(), rankShort); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() { gone <- s.take(ctx, rankShort) }()
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		s.give()
		if err := s.take(t.Context(), rankBeginning); err != nil {
			t.Error(err)
		}
		// Handed over and given up at once: either way the slot goes on.
		ctx, cancel = context.WithCancel(t.Context())
		go func() {
			if err := s.take(ctx, rankShort); err == nil {
				s.give()
			}
			gone <- nil
		}()
		synctest.Wait()
		cancel()
		s.give()
		<-gone
		if err := s.take(t.Context(), rankBeginning); err != nil {
			t.Error(err)
		}
	})
}
