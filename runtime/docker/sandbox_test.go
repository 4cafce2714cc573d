package docker

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/podstead/podstead/runtime"
)

// sandboxEngine is an engine that makes and starts sandboxes, and refuses what
// a test tells it to.
type sandboxEngine struct {
	fakeAPI
	calls  []string
	made   map[string]spec
	loaded bool
	nets   []network.Summary
	refuse func(s spec) error // asked at each start
}

func newSandboxEngine() *sandboxEngine {
	e := &sandboxEngine{made: map[string]spec{}, refuse: func(spec) error { return nil }}
	e.createFn = e.create
	e.startFn = e.start
	e.inspectFn = e.inspect
	e.removeFn = func(id string) error { e.call("remove"); delete(e.made, id); return nil }
	e.loadFn = func(io.Reader) error { e.call("load"); e.loaded = true; return nil }
	e.listNetworksFn = func(labelled bool) ([]network.Summary, error) {
		e.call("networks")
		if labelled {
			return e.nets, nil
		}
		return append([]network.Summary{{Name: "bridge"}}, e.nets...), nil
	}
	e.makeNetworkFn = func(opts network.CreateOptions) (string, error) {
		e.call("network")
		id := fmt.Sprintf("net-%d", len(e.calls))
		e.nets = append(e.nets, network.Summary{ID: id})
		return id, nil
	}
	return e
}

func (e *sandboxEngine) call(name string) { e.calls = append(e.calls, name) }

func (e *sandboxEngine) create(name string, config *container.Config, host *container.HostConfig, net *network.NetworkingConfig) (container.CreateResponse, error) {
	e.call("create")
	if !e.loaded {
		return container.CreateResponse{}, refusal{"No such image: " + config.Image, cerrdefs.ErrNotFound}
	}
	id := fmt.Sprintf("s-%d", len(e.calls))
	e.made[id] = spec{name: name, config: config, host: host, network: net}
	return container.CreateResponse{ID: id}, nil
}

func (e *sandboxEngine) start(id string) error {
	e.call("start")
	return e.refuse(e.made[id])
}

func (e *sandboxEngine) inspect(id string) (container.InspectResponse, error) {
	e.call("inspect")
	s := e.made[id]
	endpoints := map[string]*network.EndpointSettings{}
	if s.network != nil {
		for name, endpoint := range s.network.EndpointsConfig {
			endpoints[name] = &network.EndpointSettings{
				Aliases:           append([]string{short(id)}, endpoint.Aliases...),
				IPAddress:         "10.112.0.2",
				GlobalIPv6Address: "fd00::2",
			}
		}
	}
	return container.InspectResponse{
		ContainerJSONBase: &container.ContainerJSONBase{
			ID: id, Name: "/" + s.name, HostConfig: s.host,
			State: &container.State{Status: container.StateRunning, Running: true, StartedAt: "2026-01-02T03:04:05Z"},
		},
		Config:          s.config,
		NetworkSettings: &container.NetworkSettings{Networks: endpoints},
	}, nil
}

func webSandbox() runtime.SandboxConfig {
	return runtime.SandboxConfig{
		Pod:      runtime.PodRef{UID: "u1", Namespace: "default", Name: "web-n1"},
		Hostname: "web",
		Names:    []string{"web-n1.default.pod.cluster.local"},
	}
}

// The first sandbox makes what is missing; the next ones cost a create, a
// start and an inspect, for the address, and nothing else.
func TestCallsOfASandbox(t *testing.T) {
	e := newSandboxEngine()
	m := newTestManager(t, e)
	run := func(cfg runtime.SandboxConfig) []string {
		t.Helper()
		e.calls = nil
		id, notes, err := m.CreateSandbox(t.Context(), cfg)
		if err != nil || len(notes) != 0 {
			t.Fatalf("notes %v, err %v", notes, err)
		}
		started, err := m.StartSandbox(t.Context(), id)
		if err != nil || started.ID != id {
			t.Fatalf("started %+v, err %v", started, err)
		}
		if want := []string{"10.112.0.2", "fd00::2"}; !cfg.HostNetwork && !slices.Equal(started.IPs, want) {
			t.Errorf("addresses %v", started.IPs)
		}
		return e.calls
	}
	if got, want := run(webSandbox()), []string{"networks", "networks", "networks", "network", "networks", "create", "load", "create", "start", "inspect"}; !slices.Equal(got, want) {
		t.Errorf("first: %v", got)
	}
	if got, want := run(webSandbox()), []string{"create", "start", "inspect"}; !slices.Equal(got, want) {
		t.Errorf("second: %v", got)
	}
	host := webSandbox()
	host.HostNetwork = true
	if got, want := run(host), []string{"create", "start", "inspect"}; !slices.Equal(got, want) {
		t.Errorf("host network: %v", got)
	}
}

func TestSandboxIsMadeAnewWhenItsNetworkWasPruned(t *testing.T) {
	e := newSandboxEngine()
	m := newTestManager(t, e)
	id, _, err := m.CreateSandbox(t.Context(), webSandbox())
	if err != nil {
		t.Fatal(err)
	}
	old := e.made[id].host.NetworkMode
	e.nets = nil
	e.refuse = func(s spec) error {
		if s.host.NetworkMode == old {
			return refusal{"network " + string(old) + " not found", cerrdefs.ErrNotFound}
		}
		return nil
	}
	started, err := m.StartSandbox(t.Context(), id)
	if err != nil || started.ID == id || len(started.Notes) != 0 {
		t.Fatalf("started %+v, err %v", started, err)
	}
	made := e.made[started.ID]
	if got := made.network.EndpointsConfig[string(made.host.NetworkMode)].Aliases; !slices.Equal(got, webSandbox().Names) {
		t.Errorf("names %v", got)
	}
	if _, left := e.made[id]; left {
		t.Error("the old one is left")
	}
}

func TestSandboxIsMadeAnewWithoutAnOOMScore(t *testing.T) {
	for name, text := range map[string]string{
		"said":   "OCI runtime create failed: write /proc/self/oom_score_adj: permission denied",
		"unsaid": "OCI runtime create failed: can't get final child's PID from pipe: EOF",
	} {
		t.Run(name, func(t *testing.T) {
			e := newSandboxEngine()
			m := newTestManager(t, e)
			id, _, err := m.CreateSandbox(t.Context(), webSandbox())
			if err != nil {
				t.Fatal(err)
			}
			e.refuse = func(s spec) error {
				if s.host.OomScoreAdj < 0 {
					return refusal{text, cerrdefs.ErrInternal}
				}
				return nil
			}
			started, err := m.StartSandbox(t.Context(), id)
			if err != nil || started.ID == id || len(started.Notes) != 1 || started.Notes[0].Reason != reasonNoScore {
				t.Errorf("started %+v, err %v", started, err)
			}
		})
	}
}

func TestSandboxThatCannotRunIsNotMadeAgainAndAgain(t *testing.T) {
	e := newSandboxEngine()
	m := newTestManager(t, e)
	id, _, err := m.CreateSandbox(t.Context(), webSandbox())
	if err != nil {
		t.Fatal(err)
	}
	e.calls = nil
	e.refuse = func(spec) error { return refusal{"OCI runtime create failed: broken", cerrdefs.ErrInternal} }
	if _, err := m.StartSandbox(t.Context(), id); !errors.Is(err, runtime.ErrCannotRun) {
		t.Errorf("got %v", err)
	}
	if len(e.made) != 1 {
		t.Errorf("%d sandboxes are left after %v", len(e.made), e.calls)
	}
}

// Two agents that can't share a lock settle on one network.
func TestTheOldestNetworkWins(t *testing.T) {
	e := newSandboxEngine()
	m := newTestManager(t, e)
	dropped := ""
	e.makeNetworkFn = func(network.CreateOptions) (string, error) {
		e.nets = []network.Summary{{ID: "theirs"}, {ID: "ours"}}
		e.nets[1].Created = e.nets[0].Created.AddDate(0, 0, 1)
		return "ours", nil
	}
	e.dropNetworkFn = func(id string) error { dropped = id; return nil }
	if id, err := m.findOrMakeNetwork(t.Context()); err != nil || id != "theirs" || dropped != "ours" {
		t.Errorf("id %s, dropped %s, err %v", id, dropped, err)
	}
}

func TestNetworkOfAnEngineWithIPv6(t *testing.T) {
	for _, six := range []bool{false, true} {
		e := newSandboxEngine()
		m := newTestManager(t, e)
		m.cfg.PodCIDR, m.cfg.MTU = "10.5.0.0/16", 1400
		e.listNetworksFn = func(labelled bool) ([]network.Summary, error) {
			if labelled {
				return nil, nil
			}
			return []network.Summary{{Name: "bridge", EnableIPv6: six}}, nil
		}
		var got network.CreateOptions
		e.makeNetworkFn = func(opts network.CreateOptions) (string, error) { got = opts; return "net-1", nil }
		if _, err := m.findOrMakeNetwork(t.Context()); err != nil {
			t.Fatal(err)
		}
		if *got.EnableIPv6 != six || len(got.IPAM.Config) != map[bool]int{false: 1, true: 2}[six] {
			t.Errorf("engine's IPv6 %v: asked for %+v", six, got)
		}
		if got.IPAM.Config[0].Subnet != "10.5.0.0/16" || got.Options["com.docker.network.driver.mtu"] != "1400" || got.Labels[labelNetwork] != "pods" {
			t.Errorf("asked for %+v", got)
		}
	}
}

// A remote engine has routes of its own.
func TestNetworkWhoseSubnetTheEngineRefuses(t *testing.T) {
	e := newSandboxEngine()
	m := newTestManager(t, e)
	var asked []string
	e.makeNetworkFn = func(opts network.CreateOptions) (string, error) {
		asked = append(asked, opts.IPAM.Config[0].Subnet)
		if len(asked) < 3 {
			return "", refusal{"Pool overlaps with other one on this address space", cerrdefs.ErrPermissionDenied}
		}
		return "net-1", nil
	}
	if id, err := m.findOrMakeNetwork(t.Context()); err != nil || id != "net-1" || len(slices.Compact(asked)) != 3 {
		t.Errorf("id %s, asked for %v, err %v", id, asked, err)
	}
	m.cfg.PodCIDR, asked = "10.5.0.0/16", nil
	if _, err := m.findOrMakeNetwork(t.Context()); err == nil || len(asked) != 1 {
		t.Errorf("asked for %v, err %v", asked, err)
	}
}
