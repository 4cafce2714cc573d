package runtimetest

import (
	"cmp"
	"fmt"
	"net/netip"

	"github.com/podstead/podstead/runtime"
)

// OccupyPort lets something that is no container hold a host port.
func (f *Fake) OccupyPort(protocol, hostIP string, port int32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.foreignPorts = append(f.foreignPorts, runtime.PortMapping{Protocol: protocol, HostIP: hostIP, HostPort: port})
}

// FreePorts ends what OccupyPort began.
func (f *Fake) FreePorts() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.foreignPorts = nil
}

func (f *Fake) portsFree(o *object) error {
	taken := f.foreignPorts
	for _, other := range f.objects {
		if other != o && other.box != nil && other.state == runtime.StateRunning {
			taken = append(taken[:len(taken):len(taken)], other.box.Ports...)
		}
	}
	for i, want := range o.box.Ports {
		for _, held := range append(taken[:len(taken):len(taken)], o.box.Ports[:i]...) {
			if collide(want, held) {
				return fmt.Errorf("%w: bind %s %s:%d: address already in use",
					runtime.ErrPortInUse, want.Protocol, want.HostIP, want.HostPort)
			}
		}
	}
	return nil
}

// collide reports that two cannot be bound at once: one number, one protocol,
// and addresses of which one is the other or stands for it.
func collide(a, b runtime.PortMapping) bool {
	return a.HostPort != 0 && a.HostPort == b.HostPort &&
		cmp.Or(a.Protocol, "TCP") == cmp.Or(b.Protocol, "TCP") && overlap(a.HostIP, b.HostIP)
}

func overlap(a, b string) bool {
	if a == "" || b == "" || a == b {
		return true
	}
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	if errX != nil || errY != nil {
		return false
	}
	return x == y || x.Is4() == y.Is4() && (x.IsUnspecified() || y.IsUnspecified())
}
