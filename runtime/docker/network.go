package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/network"
	"golang.org/x/sys/unix"
)

// The pod network is found by its label, whatever it is called.
const (
	networkName  = "podstead"
	networkClass = labelNetwork + "=pods"
)

// findOrMakeNetwork returns the id of the bridge that all agents of this
// engine share. A lock keeps agents of this machine from making two, for the
// engine lets several networks have one name; agents that can't share the lock
// settle on the oldest.
func (m *Manager) findOrMakeNetwork(ctx context.Context) (string, error) {
	if id, err := m.findNetwork(ctx); id != "" || err != nil {
		return id, err
	}
	unlock, err := lockFile(ctx, m.cfg.NetworkLock)
	if err != nil {
		return "", fmt.Errorf("lock the making of the pod network: %w", err)
	}
	defer unlock()
	if id, err := m.findNetwork(ctx); id != "" || err != nil {
		return id, err
	}
	made, err := m.makeNetwork(ctx)
	if err != nil {
		return "", fmt.Errorf("make the pod network: %w", err)
	}
	oldest, err := m.findNetwork(ctx)
	if err != nil {
		return "", err
	}
	if oldest != "" && oldest != made {
		return oldest, m.engine.removeNetwork(ctx, made)
	}
	return made, nil
}

func (m *Manager) findNetwork(ctx context.Context) (string, error) {
	found, err := m.engine.listNetworks(ctx, networkClass)
	if err != nil {
		return "", fmt.Errorf("look for the pod network: %w", err)
	}
	if len(found) == 0 {
		return "", nil
	}
	oldest := slices.MinFunc(found, func(a, b network.Summary) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return oldest.ID, nil
}

// makeNetwork takes the first subnet that is free as far as is to be seen from
// here, and the next when the engine, which may be elsewhere, knows better.
func (m *Manager) makeNetwork(ctx context.Context) (string, error) {
	others, err := m.engine.listNetworks(ctx)
	if err != nil {
		return "", err
	}
	routes, err := m.routes()
	if err != nil {
		return "", err
	}
	mtu := m.cfg.MTU
	if mtu == 0 {
		mtu = deviceMTU(defaultDevice(routes))
	}
	taken, name := append(subnetsOf(others), covered(routes)...), networkName
	for {
		subnet, err := m.subnet(taken)
		if err != nil {
			return "", err
		}
		opts := networkOptions(subnet, mtu)
		if hasIPv6(others) {
			withIPv6(&opts, localIPv6())
		}
		id, err := m.engine.createNetwork(ctx, name, opts)
		switch {
		case errors.Is(err, errOverlap) && m.cfg.PodCIDR == "":
			taken = append(taken, subnet)
			continue
		case errors.Is(err, errNameTaken) && name == networkName: // by one that does not bear our label
			name += "_" + randomHex()
			continue
		}
		if err == nil {
			m.log.Info("made the pod network", "network", short(id), "name", name, "subnet", subnet, "mtu", mtu, "ipv6", *opts.EnableIPv6)
		}
		return id, err
	}
}

// subnet is the configured one, or a free one.
func (m *Manager) subnet(taken []netip.Prefix) (netip.Prefix, error) {
	if m.cfg.PodCIDR != "" {
		return netip.ParsePrefix(m.cfg.PodCIDR)
	}
	return freeSubnet(taken)
}

func (m *Manager) routes() ([]route, error) {
	table, err := os.Open(m.proc.path("net", "route"))
	if err != nil {
		return nil, err
	}
	defer table.Close()
	return readRoutes(table)
}

// deviceMTU is 0, which leaves it to the engine, for a device that is not
// there.
func deviceMTU(device string) int {
	link, err := net.InterfaceByName(device)
	if err != nil {
		return 0
	}
	return link.MTU
}

func networkOptions(subnet netip.Prefix, mtu int) network.CreateOptions {
	off := false
	opts := network.CreateOptions{
		Driver:     "bridge",
		EnableIPv6: &off,
		IPAM:       &network.IPAM{Config: []network.IPAMConfig{{Subnet: subnet.String()}}},
		Labels:     map[string]string{labelNetwork: "pods"},
		Options:    map[string]string{},
	}
	if mtu > 0 {
		opts.Options["com.docker.network.driver.mtu"] = strconv.Itoa(mtu)
	}
	return opts
}

// hasIPv6 reports whether the engine gives its own bridge IPv6.
func hasIPv6(all []network.Summary) bool {
	return slices.ContainsFunc(all, func(n network.Summary) bool {
		return n.Name == network.NetworkBridge && n.EnableIPv6
	})
}

func withIPv6(opts *network.CreateOptions, subnet netip.Prefix) {
	on := true
	opts.EnableIPv6 = &on
	opts.IPAM.Config = append(opts.IPAM.Config, network.IPAMConfig{Subnet: subnet.String()})
}

// lockFile takes an exclusive lock on a file, made if need be. It looks again
// and again rather than wait in the kernel, where a context can't reach it.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
			err = wait(ctx, 20*time.Millisecond)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
}
