package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// forwardedPort is a local port, 0 for any, and the pod's.
type forwardedPort struct {
	local, remote int
}

// parsePorts reads kubectl's forms of ports, and names every one that is none.
func parsePorts(pod *v1.Pod, texts []string) ([]forwardedPort, error) {
	var ports []forwardedPort
	var bad []error
	for _, text := range texts {
		port, err := parsePort(pod, text)
		if err != nil {
			bad = append(bad, fmt.Errorf("port %q: %w", text, err))
		}
		ports = append(ports, port)
	}
	return ports, errors.Join(bad...)
}

func parsePort(pod *v1.Pod, text string) (forwardedPort, error) {
	local, remote, both := strings.Cut(text, ":")
	if !both {
		remote = local
	}
	number, err := remotePort(pod, remote)
	if err != nil {
		return forwardedPort{}, err
	}
	port := forwardedPort{local: number, remote: number}
	switch {
	case both && local == "":
		port.local = 0
	case both:
		port.local, err = portNumber(local, 0)
	}
	return port, err
}

// remotePort is a number, or the name of a port of the pod.
func remotePort(pod *v1.Pod, text string) (int, error) {
	var names []string
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.Name == text && text != "" {
				return int(p.ContainerPort), nil
			}
			if p.Name != "" {
				names = append(names, p.Name)
			}
		}
	}
	number, err := portNumber(text, 1)
	if err != nil && len(names) > 0 {
		err = fmt.Errorf("%w, or a name of pod %s: %s", err, pod.Name, strings.Join(names, ", "))
	}
	return number, err
}

func portNumber(text string, least int) (int, error) {
	number, err := strconv.Atoi(text)
	if err != nil || number < least || number > 65535 {
		return 0, fmt.Errorf("%q is no port; want a number from %d to 65535", text, least)
	}
	return number, nil
}

// listenAddress is one address to listen on. Of the two that localhost means one
// is enough: there may be no IPv6.
type listenAddress struct {
	address  netip.Addr
	optional bool
}

func listenAddresses(texts []string) ([]listenAddress, error) {
	var all []listenAddress
	for _, text := range texts {
		if text == "localhost" {
			all = append(all, listenAddress{netip.AddrFrom4([4]byte{127, 0, 0, 1}), true}, listenAddress{netip.IPv6Loopback(), true})
			continue
		}
		address, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("--address %q: want localhost or an IP address of this machine, such as 127.0.0.1", text)
		}
		all = append(all, listenAddress{address: address})
	}
	return all, nil
}

// localPort is a listener, and the ports that it connects.
type localPort struct {
	net.Listener
	forwardedPort
}

// listen opens a port on all addresses, on the same number everywhere, and tells
// each. Without an error all that must be open are.
func (f *forwarder) listen(ctx context.Context, addresses []listenAddress, port forwardedPort) ([]*localPort, error) {
	var open []*localPort
	var refused, needed error
	for _, a := range addresses {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", netip.AddrPortFrom(a.address, uint16(port.local)).String())
		if err != nil {
			refused = errors.Join(refused, err)
			if !a.optional {
				needed = errors.Join(needed, err)
			}
			continue
		}
		port.local = l.Addr().(*net.TCPAddr).Port
		open = append(open, &localPort{Listener: l, forwardedPort: port})
	}
	if needed == nil && len(open) > 0 {
		for _, l := range open {
			fmt.Fprintf(f.t.Out, "Forwarding from %s -> %d\n", l.Addr(), l.remote)
		}
		return open, nil
	}
	for _, l := range open {
		_ = l.Close() // nobody has used it
	}
	return nil, refused
}
