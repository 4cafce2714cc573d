package docker

import (
	"context"
	"errors"
	"fmt"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/podstead/podstead/runtime"
)

// CreateSandbox makes a pod's sandbox and returns its id; the same attempt
// made before is returned as it is. The sandbox's image and the pod network
// are made when they are missing. Notes are what the engine could not do as
// asked. Errors: runtime.ErrNetworkFull, runtime.ErrNoSpace,
// runtime.ErrUnavailable.
func (m *Manager) CreateSandbox(ctx context.Context, cfg runtime.SandboxConfig) (id string, notes []runtime.Degraded, err error) {
	id, notes, err = m.createSandbox(ctx, cfg)
	switch {
	case errors.Is(err, runtime.ErrNotFound):
		if err = m.loadPause(ctx); err == nil {
			id, notes, err = m.createSandbox(ctx, cfg)
		}
	case errors.Is(err, errNetworkGone):
		m.network.drop(nil)
		id, notes, err = m.createSandbox(ctx, cfg)
	}
	if err != nil {
		return "", nil, fmt.Errorf("create sandbox %s: %w", cfg.Pod, err)
	}
	return id, notes, nil
}

func (m *Manager) createSandbox(ctx context.Context, cfg runtime.SandboxConfig) (string, []runtime.Degraded, error) {
	in, err := m.surroundings(ctx)
	if err != nil {
		return "", nil, err
	}
	if !cfg.HostNetwork {
		if in.networkID, err = m.network.get(ctx, m.findOrMakeNetwork); err != nil {
			return "", nil, err
		}
	}
	want := identity{pod: cfg.Pod, container: sandboxContainer, attempt: cfg.Attempt}
	id, notes, err := m.create(ctx, sandboxSpec(cfg, in), want)
	if err == nil && !in.lowerScore {
		notes = append(notes, noScore())
	}
	return id, notes, err
}

func noScore() runtime.Degraded {
	return runtime.Degraded{
		Reason:  reasonNoScore,
		Message: fmt.Sprintf("the engine can't set the sandbox's oom_score_adj to %d; under memory pressure the kernel may kill it first", sandboxScore),
	}
}

// StartSandbox starts a created sandbox and returns its addresses; one that
// runs is left alone. It is made anew, with another id, when the pod network
// was pruned since or when the engine refuses its oom score. Errors:
// runtime.ErrPortInUse, runtime.ErrSandboxGone for one that has ended,
// runtime.ErrNetworkFull, runtime.ErrUnavailable, and runtime.ErrNotFound as
// StartContainer.
func (m *Manager) StartSandbox(ctx context.Context, id string) (runtime.StartedSandbox, error) {
	started, err := m.startSandbox(ctx, id)
	if err != nil {
		return runtime.StartedSandbox{}, fmt.Errorf("start sandbox %s: %w", short(id), err)
	}
	return started, nil
}

func (m *Manager) startSandbox(ctx context.Context, id string) (runtime.StartedSandbox, error) {
	state, err := m.startable(ctx, id)
	if err != nil {
		return runtime.StartedSandbox{}, err
	}
	started := runtime.StartedSandbox{ID: id}
	switch {
	case !state.Running && !parseTime(state.StartedAt).IsZero():
		return runtime.StartedSandbox{}, fmt.Errorf("it has ended: %w", runtime.ErrSandboxGone)
	case !state.Running:
		if started, err = m.startOrRemake(ctx, id); err != nil {
			return runtime.StartedSandbox{}, m.discardStale(ctx, id, err)
		}
	}
	found, err := m.engine.inspectContainer(ctx, started.ID)
	if err != nil {
		return runtime.StartedSandbox{}, err
	}
	started.IPs = addresses(found.NetworkSettings)
	return started, nil
}

// startOrRemake starts a sandbox. What the engine refuses for a reason that
// another sandbox would not have is made anew without it; each such reason can
// come once.
func (m *Manager) startOrRemake(ctx context.Context, id string) (runtime.StartedSandbox, error) {
	started := runtime.StartedSandbox{ID: id}
	for range 3 {
		err := m.engine.startContainer(ctx, started.ID, rankSandbox)
		if err == nil {
			return started, nil
		}
		remedy, note := m.remedy(err)
		if remedy == nil {
			return runtime.StartedSandbox{}, err
		}
		if started.ID, err = m.remake(ctx, started.ID, remedy); err != nil {
			return runtime.StartedSandbox{}, err
		}
		started.Notes = append(started.Notes, note...)
	}
	return runtime.StartedSandbox{}, fmt.Errorf("the engine refuses it however it is made: %w", runtime.ErrUnavailable)
}

// remedy returns what to change in a sandbox that was refused, nil if nothing
// can help.
func (m *Manager) remedy(refusal error) (func(context.Context, *spec) error, []runtime.Degraded) {
	switch {
	case errors.Is(refusal, errNetworkGone):
		return m.moveNetwork, nil
	case errors.Is(refusal, errOOMScore), errors.Is(refusal, runtime.ErrCannotRun):
		// Not every runtime tells why: runc's stage that sets the score just
		// dies. pause itself always runs.
		return dropScore(refusal), []runtime.Degraded{noScore()}
	}
	return nil, nil
}

// dropScore takes the oom score out, or lets the refusal stand if there is
// none to take out.
func dropScore(refusal error) func(context.Context, *spec) error {
	return func(_ context.Context, s *spec) error {
		if s.host.OomScoreAdj == 0 {
			return refusal
		}
		s.host.OomScoreAdj = 0
		return nil
	}
}

// moveNetwork puts a sandbox whose network was pruned on the one there is now.
func (m *Manager) moveNetwork(ctx context.Context, s *spec) error {
	old := string(s.host.NetworkMode)
	m.network.drop(func(id string) bool { return id == old })
	id, err := m.network.get(ctx, m.findOrMakeNetwork)
	if err != nil {
		return err
	}
	var names []string
	for _, endpoint := range s.network.EndpointsConfig {
		names = append(names, endpoint.Aliases...)
	}
	s.join(id, names)
	return nil
}

// remake replaces a container that never ran by one that differs as asked.
func (m *Manager) remake(ctx context.Context, id string, change func(context.Context, *spec) error) (string, error) {
	found, err := m.engine.inspectContainer(ctx, id)
	if err != nil {
		return "", err
	}
	s := specOf(found)
	if err := change(ctx, &s); err != nil {
		return "", err
	}
	if err := m.Remove(ctx, id); err != nil {
		return "", err
	}
	created, err := m.make(ctx, s)
	return created.ID, err
}

// specOf reads back the create call of a container.
func specOf(c container.InspectResponse) spec {
	s := spec{name: c.Name[1:], config: c.Config, host: c.HostConfig}
	if s.host.NetworkMode.IsHost() {
		s.config.Hostname, s.config.Domainname = "", "" // the engine filled in its own
		return s
	}
	endpoints := map[string]*network.EndpointSettings{}
	for name, endpoint := range c.NetworkSettings.Networks {
		endpoints[name] = &network.EndpointSettings{Aliases: ownAliases(endpoint.Aliases, c.ID)}
	}
	s.network = &network.NetworkingConfig{EndpointsConfig: endpoints}
	return s
}

// ownAliases leaves out the short id, which engines up to 24 list among the
// aliases.
func ownAliases(aliases []string, id string) []string {
	var own []string
	for _, alias := range aliases {
		if alias != short(id) {
			own = append(own, alias)
		}
	}
	return own
}
