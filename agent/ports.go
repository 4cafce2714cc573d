package agent

import (
	"fmt"
	"net/netip"

	"github.com/podstead/podstead/runtime"
)

// portKey is what two pods can collide on; addresses decide whether they do.
type portKey struct {
	protocol string
	port     int32
}

func keyOf(p runtime.PortMapping) portKey { return portKey{p.Protocol, p.HostPort} }

// portsCollide reports whether two host ports cannot be bound at once: the same
// port and protocol, and addresses of which one covers the other.
func portsCollide(a, b runtime.PortMapping) bool {
	if keyOf(a) != keyOf(b) {
		return false
	}
	return a.HostIP == b.HostIP || isWildcard(a.HostIP) || isWildcard(b.HostIP)
}

func isWildcard(ip string) bool {
	if ip == "" {
		return true
	}
	addr, err := netip.ParseAddr(ip)
	return err == nil && addr.IsUnspecified()
}

// collision returns the first port of want that one of held takes.
func collision(want, held []runtime.PortMapping) (runtime.PortMapping, bool) {
	for _, w := range want {
		for _, h := range held {
			if portsCollide(w, h) {
				return w, true
			}
		}
	}
	return runtime.PortMapping{}, false
}

// showPort is a host port for people: 8080/TCP, 127.0.0.1:8080/TCP.
func showPort(p runtime.PortMapping) string {
	if isWildcard(p.HostIP) {
		return fmt.Sprintf("%d/%s", p.HostPort, p.Protocol)
	}
	return fmt.Sprintf("%s:%d/%s", p.HostIP, p.HostPort, p.Protocol)
}
