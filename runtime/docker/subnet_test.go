package docker

import (
	"net/netip"
	"strings"
	"testing"
)

func TestFreeSubnet(t *testing.T) {
	for _, test := range []struct {
		name  string
		taken []string
		want  string
	}{
		{name: "nothing taken", want: "10.112.0.0/20"},
		{name: "other ranges taken", taken: []string{"172.17.0.0/16", "192.168.0.0/16", "fd00::/8"}, want: "10.112.0.0/20"},
		{name: "the first taken", taken: []string{"10.112.0.0/20"}, want: "10.112.16.0/20"},
		{name: "a small part taken", taken: []string{"10.112.3.0/28"}, want: "10.112.16.0/20"},
		{name: "much taken by a wide route", taken: []string{"10.112.0.0/13"}, want: "10.120.0.0/20"},
		{name: "all but the last taken", taken: []string{"10.112.0.0/13", "10.120.0.0/14", "10.124.0.0/15", "10.126.0.0/16", "10.127.0.0/17", "10.127.128.0/18", "10.127.192.0/19", "10.127.224.0/20"}, want: "10.127.240.0/20"},
		{name: "all taken", taken: []string{"10.0.0.0/8"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var taken []netip.Prefix
			for _, text := range test.taken {
				taken = append(taken, netip.MustParsePrefix(text))
			}
			got, err := freeSubnet(taken)
			if test.want == "" {
				if err == nil {
					t.Errorf("got %v", got)
				}
				return
			}
			if err != nil || got.String() != test.want {
				t.Errorf("got %v, %v; want %s", got, err, test.want)
			}
		})
	}
}

const routeTable = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
wlan0	00000000	0102A8C0	0003	0	0	600	00000000	0	0	0
eth0	00000000	010011AC	0003	0	0	100	00000000	0	0	0
docker0	000011AC	00000000	0001	0	0	0	0000FFFF	0	0	0
br-1	0010700A	00000000	0001	0	0	0	00F0FFFF	0	0	0
`

func TestReadRoutes(t *testing.T) {
	routes, err := readRoutes(strings.NewReader(routeTable))
	if err != nil {
		t.Fatal(err)
	}
	if got := defaultDevice(routes); got != "eth0" {
		t.Errorf("default route by %s", got)
	}
	got := covered(routes)
	if len(got) != 2 || got[0].String() != "172.17.0.0/16" || got[1].String() != "10.112.16.0/20" {
		t.Errorf("covered: %v", got)
	}
	if got := defaultDevice(routes[2:]); got != "" {
		t.Errorf("default route by %s", got)
	}
	if _, err := readRoutes(strings.NewReader("heading\neth0 xx 0 0 0 0 0 0\n")); err == nil {
		t.Error("nonsense is read")
	}
}

func TestLocalIPv6IsUniqueLocal(t *testing.T) {
	if got := localIPv6(); got.Bits() != 64 || !netip.MustParsePrefix("fd00::/8").Contains(got.Addr()) {
		t.Errorf("got %v", got)
	}
}
