package docker

import "context"

// kept holds a value that is costly to learn, from the first success until it
// is dropped. One caller learns it while the others wait, each no longer than
// its own context allows.
type kept[T any] struct {
	lock  chan struct{}
	value *T
}

func newKept[T any]() kept[T] { return kept[T]{lock: make(chan struct{}, 1)} }

// get returns the value, learning it if need be.
func (k *kept[T]) get(ctx context.Context, learn func(context.Context) (T, error)) (T, error) {
	var none T
	select {
	case k.lock <- struct{}{}:
		defer func() { <-k.lock }()
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if k.value == nil {
		value, err := learn(ctx)
		if err != nil {
			return none, err
		}
		k.value = &value
	}
	return *k.value, nil
}

// drop forgets the value if it is the stale one, or, with a nil stale, any.
func (k *kept[T]) drop(stale func(T) bool) {
	k.lock <- struct{}{}
	defer func() { <-k.lock }()
	if k.value != nil && (stale == nil || stale(*k.value)) {
		k.value = nil
	}
}
