package agent

import (
	"testing"

	"github.com/podstead/podstead/runtime"
)

func TestPortsCollide(t *testing.T) {
	port := func(ip string, port int32, protocol string) runtime.PortMapping {
		return runtime.PortMapping{HostIP: ip, HostPort: port, Protocol: protocol}
	}
	cases := []struct {
		name string
		a, b runtime.PortMapping
		want bool
	}{
		{"same port, all addresses", port("", 80, "TCP"), port("", 80, "TCP"), true},
		{"another port", port("", 80, "TCP"), port("", 81, "TCP"), false},
		{"TCP and UDP share a number (B122)", port("", 53, "TCP"), port("", 53, "UDP"), false},
		{"a wildcard covers an address (B122)", port("0.0.0.0", 80, "TCP"), port("127.0.0.1", 80, "TCP"), true},
		{"the IPv6 wildcard too", port("127.0.0.1", 80, "TCP"), port("::", 80, "TCP"), true},
		{"two addresses", port("127.0.0.1", 80, "TCP"), port("127.0.0.2", 80, "TCP"), false},
		{"one address", port("127.0.0.1", 80, "TCP"), port("127.0.0.1", 80, "TCP"), true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := portsCollide(c.a, c.b); got != c.want {
				t.Errorf("portsCollide(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
			}
			if got := portsCollide(c.b, c.a); got != c.want {
				t.Errorf("not symmetric")
			}
		})
	}
}

func TestShowPort(t *testing.T) {
	for want, p := range map[string]runtime.PortMapping{
		"80/TCP":           {HostPort: 80, Protocol: "TCP"},
		"127.0.0.1:53/UDP": {HostIP: "127.0.0.1", HostPort: 53, Protocol: "UDP"},
		"8080/TCP":         {HostIP: "0.0.0.0", HostPort: 8080, Protocol: "TCP"},
	} {
		if got := showPort(p); got != want {
			t.Errorf("showPort(%v) = %q, want %q", p, got, want)
		}
	}
}
