package runtimetest

import (
	"context"
	"fmt"
	"net"

	"github.com/podstead/podstead/runtime"
)

// load is what a process consumes.
type load struct {
	nanoCores uint64
	memory    uint64
}

// Consume says what processes use: billionths of a core since their start, and
// bytes of memory. The key is one of Behave's.
func (f *Fake) Consume(key string, nanoCores, memory uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.loads == nil {
		f.loads = map[string]load{}
	}
	f.loads[key] = load{nanoCores: nanoCores, memory: memory}
}

// Usage tells what a running container or sandbox uses. A quarter of its memory
// is page cache that goes first.
func (f *Fake) Usage(ctx context.Context, id string) (runtime.Usage, error) {
	return call(ctx, f, Call{Verb: "Usage", ID: id}, func() (runtime.Usage, error) {
		o := f.objects[id]
		if o == nil || o.state != runtime.StateRunning {
			return runtime.Usage{}, runtime.ErrNotFound
		}
		var uses load
		for _, key := range o.behaviourKeys() {
			if found, ok := f.loads[key]; ok {
				uses = found
				break
			}
		}
		u := runtime.Usage{
			CPU:    uint64(f.clock().Sub(o.startedAt).Seconds() * float64(uses.nanoCores)),
			Memory: uses.memory, WorkingSet: uses.memory - uses.memory/4, MemoryLimit: uint64(f.info.Memory),
		}
		if o.box != nil && !o.box.HostNetwork {
			u.Interfaces = []runtime.Interface{{Name: "eth0", RxBytes: 1000, TxBytes: 2000}}
		}
		return u, nil
	})
}

// port is one port of a pod, by its full name.
type port struct {
	pod    string
	number int
}

// Listen lets a pod's port be served by what listens on this TCP address.
func (f *Fake) Listen(pod string, number int, address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listeners == nil {
		f.listeners = map[port]string{}
	}
	f.listeners[port{pod, number}] = address
}

// Dial connects to a port of a running sandbox.
func (f *Fake) Dial(ctx context.Context, sandboxID string, number int) (net.Conn, error) {
	address, err := call(ctx, f, Call{Verb: "Dial", ID: sandboxID, Detail: fmt.Sprint(number)}, func() (string, error) {
		o := f.objects[sandboxID]
		switch {
		case o == nil || o.box == nil:
			return "", runtime.ErrNotFound
		case o.state != runtime.StateRunning:
			return "", runtime.ErrSandboxGone
		}
		if address, ok := f.listeners[port{o.box.Pod.Name, number}]; ok {
			return address, nil
		}
		return "", runtime.ErrRefused
	})
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}
