package docker

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/network"
)

// The pod network is the first free block of this range. A bridge carries
// 1,023 sandboxes and a /20 has addresses for four times as many.
const (
	podRange = "10.112.0.0/12"
	podBits  = 20
)

// freeSubnet returns the first block of podRange that overlaps nothing taken.
func freeSubnet(taken []netip.Prefix) (netip.Prefix, error) {
	whole := netip.MustParsePrefix(podRange)
	block := netip.PrefixFrom(whole.Addr(), podBits)
	for whole.Contains(block.Addr()) {
		if !overlaps(block, taken) {
			return block, nil
		}
		block = following(block)
	}
	return netip.Prefix{}, fmt.Errorf("every /%d of %s is covered by a route or a network; set the pod CIDR", podBits, podRange)
}

func overlaps(block netip.Prefix, taken []netip.Prefix) bool {
	for _, t := range taken {
		if t.Overlaps(block) {
			return true
		}
	}
	return false
}

// following is the IPv4 block after another of the same size.
func following(block netip.Prefix) netip.Prefix {
	bytes := block.Addr().As4()
	next := binary.BigEndian.Uint32(bytes[:]) + 1<<(32-block.Bits())
	binary.BigEndian.PutUint32(bytes[:], next)
	return netip.PrefixFrom(netip.AddrFrom4(bytes), block.Bits())
}

// route is one line of the kernel's table.
type route struct {
	device string
	to     netip.Prefix
	metric int
}

// readRoutes reads /proc/net/route, whose addresses are in the machine's byte
// order: little-endian on all that podstead is built for.
func readRoutes(r io.Reader) ([]route, error) {
	lines := bufio.NewScanner(r)
	lines.Scan() // the heading
	var routes []route
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 8 {
			continue
		}
		to, err1 := hexAddr(fields[1])
		mask, err2 := hexAddr(fields[7])
		metric, err3 := strconv.Atoi(fields[6])
		if err1 != nil || err2 != nil || err3 != nil {
			return nil, fmt.Errorf("route %q cannot be read", lines.Text())
		}
		routes = append(routes, route{device: fields[0], to: netip.PrefixFrom(to, maskBits(mask)), metric: metric})
	}
	return routes, lines.Err()
}

func hexAddr(text string) (netip.Addr, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != 4 {
		return netip.Addr{}, fmt.Errorf("address %q", text)
	}
	return netip.AddrFrom4([4]byte{raw[3], raw[2], raw[1], raw[0]}), nil
}

func maskBits(mask netip.Addr) int {
	bytes := mask.As4()
	bits := 0
	for v := binary.BigEndian.Uint32(bytes[:]); v != 0; v <<= 1 {
		bits++
	}
	return bits
}

// covered are the destinations of all routes but the default ones.
func covered(routes []route) []netip.Prefix {
	var out []netip.Prefix
	for _, r := range routes {
		if r.to.Bits() > 0 {
			out = append(out, r.to.Masked())
		}
	}
	return out
}

// defaultDevice is where the best default route leads, "" with none.
func defaultDevice(routes []route) string {
	best := route{}
	for _, r := range routes {
		if r.to.Bits() == 0 && (best.device == "" || r.metric < best.metric) {
			best = r
		}
	}
	return best.device
}

// subnetsOf lists the blocks that the engine's networks hold.
func subnetsOf(all []network.Summary) []netip.Prefix {
	var out []netip.Prefix
	for _, n := range all {
		for _, config := range n.IPAM.Config {
			if prefix, err := netip.ParsePrefix(config.Subnet); err == nil {
				out = append(out, prefix.Masked())
			}
		}
	}
	return out
}

// localIPv6 returns a unique local block, chosen at random as RFC 4193 asks.
func localIPv6() netip.Prefix {
	bytes := [16]byte{0: 0xfd}
	_, _ = rand.Read(bytes[1:6]) // never fails
	return netip.PrefixFrom(netip.AddrFrom16(bytes), 64)
}
